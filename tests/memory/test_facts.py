import pytest

from holdfast.memory import remembered
from holdfast.memory.facts import Ledger, lifted


def stated(text, role="user"):
    return [(fact.relation, fact.value) for fact in lifted(remembered(0, role, text))]


def ledger(*texts):
    held = Ledger()
    for at, text in enumerate(texts):
        held = held.adding(lifted(remembered(at, "user", text, name="Dana", said=float(at))))
    return held


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My name is Dana Reyes and I'm new here.", ("name", "Dana Reyes")),
        ("I moved to Lisbon last week.", ("lives in", "Lisbon")),
        ("I live in Porto now.", ("lives in", "Porto")),
        ("I work for the city library.", ("works for", "the city library")),
        ("My dog is called Rex.", ("dog", "Rex")),
        ("The deadline is 3 May.", ("deadline", "3 May")),
        ("I'm allergic to peanuts.", ("allergic to", "peanuts")),
        ("I don't eat meat.", ("not eat", "meat")),
        ("We decided to use PostgreSQL because of JSON.", ("decided", "use PostgreSQL")),
    ],
)
def test_plain_statements_are_facts(text, fact):
    assert stated(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Is the port 80?",
        "I might move to Rome.",
        "If I lived in Rome, I would walk.",
        "The problem is that it fails.",
        "My job is tough.",
        "The best thing is you.",
        "I love that.",
        "Thanks!",
        "",
    ],
)
def test_questions_wishes_and_chatter_are_none(text):
    assert stated(text) == []


def test_what_a_tool_returned_is_no_fact():
    assert stated("The deadline is 3 May.", "tool") == []


def test_the_newest_holds_and_what_it_contradicts_is_kept_with_its_date():
    held = ledger("I live in Rome.", "I moved to Lisbon.", "I like tea.", "I like coffee.")
    assert [(fact.value, fact.said) for fact in held.current()] == [("Lisbon", 1.0), ("tea", 2.0), ("coffee", 3.0)]
    assert [(fact.value, fact.said, fact.text) for fact in held.contradicted()] == [
        ("Rome", 0.0, "I live in Rome.")
    ]


def test_what_is_said_again_is_kept_once():
    assert len(ledger("I live in Rome.", "I live in Rome.").facts) == 1


def test_a_fact_that_comes_back_holds_again():
    assert ledger("I live in Rome.", "I live in Bonn.", "I live in Rome.").current()[0].value == "Rome"


def test_a_deleted_fact_leaves_with_what_it_contradicted():
    held = ledger("I live in Rome.", "I moved to Lisbon.", "I like tea.")
    assert [fact.value for fact in held.without(held.current()[0]).facts] == ["tea"]
