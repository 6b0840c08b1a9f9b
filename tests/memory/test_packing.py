import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory import pack, remembered, written
from holdfast.memory.excerpts import OPENING
from holdfast.tokens import meter_for
from tests.memory.talks import index_of, talk

count = meter_for(counter="o200k_base").text
TALK = talk()
MESSAGES = {message.position: message for message in TALK}


def packed(positions, budget=1_000, messages=MESSAGES, question=""):
    return pack(positions, messages, budget, count, question=question)


def test_what_is_restored_stands_in_order_of_time_under_its_day():
    text = written(packed([13, 1, 6]))
    assert text.splitlines() == [
        OPENING,
        "[3 March 2024]",
        "Ben: I adopted a beagle from the shelter on Friday.",
        "[21 April 2024]",
        "Nora: I finished the Berlin marathon in four hours and two minutes.",
        "[2 June 2024]",
        "Nora: Bowls, and a blue cup for my sister Alma.",
    ]


def test_a_day_is_written_once():
    assert written(packed([1, 3, 4])).count("3 March 2024") == 1


def test_greetings_and_repeats_cost_nothing():
    repeated = {
        0: remembered(0, "user", "Hi there! Good morning!"),
        1: remembered(1, "user", "The gate code is 4711."),
        2: remembered(2, "user", "The gate code is 4711."),
    }
    assert [excerpt.text for excerpt in packed([0, 1, 2], messages=repeated)] == [
        "The gate code is 4711."
    ]


@pytest.mark.parametrize(
    "answer", ["No.", "Definitely not, sorry. Ask Nora.", "No. It is for us alone.", "Nein."]
)
def test_an_answer_that_negates_is_no_courtesy(answer):
    asked = {
        0: remembered(0, "assistant", "Shall I send the gate code to the courier?"),
        1: remembered(1, "user", answer),
    }
    assert [excerpt.text for excerpt in packed([1, 0], messages=asked)] == [
        "Shall I send the gate code to the courier?",
        answer,
    ]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_shortened_message_has_the_room_that_no_other_takes(role):
    rows = "\n".join(f"2026-03-02 12:{n % 60:02} INFO pump {n} took {n} ms" for n in range(800))
    log = f"{rows}\nThe gate code is 4711.\n{rows}"
    messages = {0: remembered(0, role, log), 1: remembered(1, "user", "Is the gate open?")}
    text = written(packed([1, 0], 400, messages, "What is the gate code?"))
    assert 350 < count(text) <= 400
    assert "The gate code is 4711." in text


def test_without_names_the_role_speaks():
    assert written(
        packed([0], messages={0: remembered(0, "user", "The gate code is 4711.")})
    ).endswith("User: The gate code is 4711.")


def test_nothing_found_is_written_as_nothing():
    assert written(packed([])) == ""
    assert packed([99]) == []


def test_a_message_too_long_is_cut_to_the_sentences_that_answer():
    filler = " ".join(f"The weather was rather dull on day {number}." for number in range(300))
    long = {0: remembered(0, "assistant", f"{filler} The gate code is 4711. {filler}")}
    excerpts = packed([0], 60, long, "What is the gate code?")
    assert "The gate code is 4711." in excerpts[0].text
    assert "…" in excerpts[0].text
    assert count(written(excerpts)) <= 60


def test_one_long_message_leaves_room_for_the_others():
    long = {0: remembered(0, "tool", " ".join(f"Row {number} is fine." for number in range(2_000)))}
    both = {**long, 1: remembered(1, "user", "The gate code is 4711.")}
    assert {excerpt.position for excerpt in packed([0, 1], 400, both)} >= {1}


@settings(max_examples=40, deadline=None)
@given(budget=st.integers(0, 400), positions=st.lists(st.integers(0, 20), unique=True))
def test_the_text_is_within_the_budget(budget, positions):
    excerpts = packed(positions, budget)
    assert count(written(excerpts)) <= budget


def test_more_budget_never_gives_fewer_messages():
    hits = index_of(TALK).search("What did Ben and Nora do?", 50)
    positions = [hit.position for hit in hits]
    sizes = [len(packed(positions, budget)) for budget in (60, 120, 240, 480)]
    assert sizes[0] > 0
    assert sizes == sorted(sizes)


def test_what_a_tool_returned_is_cut_by_its_kind_with_the_question_in_view():
    rows = ", ".join(
        f'{{"id": {number}, "name": "item {number}", "price": {number * 3}}}'
        for number in range(500)
    )
    table = {0: remembered(0, "tool", f"[{rows}]")}
    excerpts = packed([0], 200, table, "What is the price of item 417?")
    assert "1251" in excerpts[0].text
    assert count(written(excerpts)) <= 200
