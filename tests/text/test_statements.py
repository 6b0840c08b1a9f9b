"""What a sentence states of a subject, and when a later sentence takes it back."""

import pytest

from holdfast.text.statements import statements


def _one(sentence):
    (found,) = statements(sentence)
    return found


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The port is 8080.", "Please use port 9090 instead."),
        ("The deadline is Friday.", "The deadline moved to Monday."),
        ("The deadline is 14 June.", "Sorry, the deadline is 21 June."),
        ("my email is ana@example.org", "My new email is ana@example.com."),
        ("The timeout is 30s.", "Change the timeout from 30s to 60s."),
        ("My phone number is 555-0100.", "My phone number is 555-0199."),
        ("The budget is $500.", "Raise the budget to $700, please."),
        ("Order ORD-17 is 20 minutes late.", "Order ORD-17 is 45 minutes late."),
        ("server.port = 8080", "server.port = 9090"),
    ],
)
def test_a_later_statement_of_the_same_subject_takes_its_place(older, newer):
    assert _one(newer).contradicts(_one(older))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The port is 8080 for staging.", "The port is now 9090 for production."),
        ("For the cache, the port is 6379.", "For the database, the port is now 5432."),
        ("The port is 8080.", "The port is 9090."),  # of what? nothing says that it is the same one
        ("The limit is 3 retries.", "The limit is now 5 seconds."),
        ("The deadline is Friday.", "The deadline is now 17:00."),
        ("My email is ana@example.org.", "Her email is now eva@example.org."),
        ("The total price is $500.", "The total price is $350."),
        ("deadline: Friday", "deadline: Monday"),  # of the next task, maybe
        ("port = 8080", "port = 9090"),
        ("order_id: 17", "order_id: 18"),  # the next record
        ("server.port = 8080", "client.port = 9090"),
        ("Our port is 8080.", "Our port is 8080, as I said."),
        ("My outward flight is UA-123.", "My return flight is UA-456."),
    ],
)
def test_another_subject_another_unit_or_the_same_value_takes_nothing_back(older, newer):
    assert not _one(newer).contradicts(_one(older))


@pytest.mark.parametrize(
    "sentence",
    [
        "Is the port 8080?",
        "If the port is 8080, stop.",
        "The ports are 8080 and 9090.",
        "The port is not 8080.",
        "It is 8080.",
        "Would 8080 be a good port",
        "The weather is nice.",
        "The one that we talked about in the long meeting is 8080.",
        "",
    ],
)
def test_questions_conditions_lists_and_vague_subjects_state_nothing(sentence):
    assert statements(sentence) == ()


def test_each_clause_states_its_own():
    found = [(s.subject, s.value) for s in statements("The port is 8080 and the host is db-7.")]
    assert found == [("port", "8080"), ("host", "db-7")]


@pytest.mark.parametrize("piece", ["a", " ", "is ", "1 ", "=", ": ", ", ", "to ", "and 1 "])
def test_any_text_is_read(piece):
    assert statements(piece * 100_000) == ()
    statements(piece * (400 // len(piece)))
