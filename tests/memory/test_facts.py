import pytest

from holdfast.memory import remembered
from holdfast.memory.facts import Ledger, facts_in


def stated(text, role="user"):
    return [(fact.relation, fact.value) for fact in facts_in(remembered(0, role, text))]


def ledger(*texts):
    held = Ledger()
    for at, text in enumerate(texts):
        held = held.adding(facts_in(remembered(at, "user", text, name="Dana", said=float(at))))
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
        ("Hi! I'm Priya, from Orbital.", ("name", "Priya")),
        ("I'm Priya Raman and I look after payments.", ("name", "Priya Raman")),
        ("We stay with gw-pool-b at 35.", ("decided", "gw-pool-b at 35")),
        ("Tomas Lindqvist is my deputy until May.", ("deputy", "Tomas Lindqvist")),
        ("By the way, I'm on holiday from 14 to 28 August.", ("away", "from 14 to 28 August")),
        ("We upgraded to Postgres 16.", ("use", "Postgres 16")),
        ("The deadline moved to 19 March.", ("deadline", "19 March")),
        ("Our deadline was moved to 19 March.", ("deadline", "19 March")),
        ("The deadline is now 19 March.", ("deadline", "19 March")),
        ("The deadline changed from 12 March to 19 March.", ("deadline", "19 March")),
        ("We moved the deadline to 19 March.", ("deadline", "19 March")),
        ("I told you that my name is Priya.", ("name", "Priya")),
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


@pytest.mark.parametrize(
    "text",
    [
        'He said "I live in Mars".',
        "My brother says: “I live in Oslo. I like it there.”",
        "She told me that my name is Bob.",
        "The article says the deadline is 4 May.",
        "I live in Rome, he said.",
        "According to the report, our port is 8443.",
        "> I live in Rome.",
        "```\nThe deadline is 12 May.\n```",
    ],
)
def test_what_somebody_else_is_said_to_have_said_is_no_fact_of_who_speaks(text):
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do not call me by phone, only e-mail.",
        "Please don't call me Bobby.",
        "Call me when you are done.",
        "I'm German, so be it.",
        "I'm Back!",
        "This is my problem.",
        "Should we stay with gw-pool-b at 35?",
        "If we moved the deadline to 3 May we could ship.",
        "We went with the flow.",
        "Friday is my day off.",
    ],
)
def test_what_only_looks_like_a_name_a_decision_or_a_change_is_no_fact(text):
    assert stated(text) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The deadline is 12 March.", "The deadline moved to 19 March."),
        ("Our deadline is 12 March.", "The deadline was moved from 12 March to 19 March."),
        ("We use Postgres 15.", "We upgraded to Postgres 16."),
        ("We stay with gw-pool-b at 35.", "We go with gw-pool-b at 40."),
    ],
)
def test_what_was_changed_takes_the_place_of_what_held_before(before, after):
    held = ledger("I like tea.", before, after)
    assert [fact.said for fact in held.current()] == [0.0, 2.0]
    assert [(fact.said, fact.text) for fact in held.contradicted()] == [(1.0, before)]


def test_what_a_tool_returned_is_no_fact():
    assert stated("The deadline is 3 May.", "tool") == []


def test_the_newest_holds_and_what_it_contradicts_is_kept_with_its_date():
    held = ledger("I live in Rome.", "I moved to Lisbon.", "I like tea.", "I like coffee.")
    assert [(fact.value, fact.said) for fact in held.current()] == [
        ("Lisbon", 1.0),
        ("tea", 2.0),
        ("coffee", 3.0),
    ]
    assert [(fact.value, fact.said, fact.text) for fact in held.contradicted()] == [
        ("Rome", 0.0, "I live in Rome.")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I like coffee.", "I don't like coffee."),
        ("I use Postgres 14.", "I never use Postgres 14."),
        ("I eat meat.", "I no longer eat meat."),
    ],
)
def test_what_is_denied_holds_no_longer(before, after):
    ledger = Ledger().adding(facts_in(remembered(0, "user", before)))
    ledger = ledger.adding(facts_in(remembered(1, "user", after)))
    assert [fact.position for fact in ledger.current()] == [1]
    assert [fact.position for fact in ledger.contradicted()] == [0]
    again = ledger.adding(facts_in(remembered(2, "user", before)))
    assert [fact.position for fact in again.current()] == [2]


def test_to_deny_one_version_denies_no_other():
    held = ledger("I use Postgres 16.", "I never use Postgres 14.")
    assert len(held.current()) == 2


def test_what_is_said_again_is_kept_once():
    assert len(ledger("I live in Rome.", "I live in Rome.").facts) == 1


def test_a_fact_that_comes_back_holds_again():
    assert (
        ledger("I live in Rome.", "I live in Bonn.", "I live in Rome.").current()[0].value == "Rome"
    )
