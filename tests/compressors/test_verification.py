import time

import pytest

import holdfast
from holdfast.compressors.summarize import Summarize
from holdfast.compressors.writer import accepted, details_of, listed, missing, stands
from holdfast.kernel.errors import ModelError
from holdfast.providers.scripted import Scripted


def words(text):
    return len(text.split())


def lost(role, source, summary):
    return [detail.line for detail in missing(details_of((role, source)), summary)]


@pytest.mark.parametrize(
    ("thing", "text", "there"),
    [
        ("12", "in 2012", False),
        ("12", "12 of them", True),
        ("app.py", "src/app.py was", True),
        ("app.py", "webapp.py was", False),
        ("ORD-1", "ORD-10 and ORD-1.", True),
        ("ORD-1", "ORD-10", False),
    ],
)
def test_a_thing_stands_in_a_text_only_as_itself(thing, text, there):
    assert stands(thing, text) is there


def test_identifiers_paths_and_numbers_that_are_missing_are_named_with_the_words_around_them():
    source = (
        "The order ORD-4711 goes to Ghent. I changed src/mail/send.py. It costs 1,250 "
        "euros. All is well."
    )
    assert lost("assistant", source, "They changed src/mail/send.py.") == [
        "The order ORD-4711 goes to Ghent.",
        "It costs 1,250 euros.",
    ]


def test_a_constraint_of_the_user_is_missed_even_if_it_names_nothing_exact():
    source = "The parcel must never be left at the door. I like the weather."
    assert lost("user", source, "A parcel is sent.") == [
        "The parcel must never be left at the door."
    ]
    assert lost("user", source, "- The parcel must never be left at the door") == []
    assert lost("assistant", source, "A parcel is sent.") == []


def test_of_a_tools_output_only_what_is_an_identifier_beyond_doubt_counts():
    assert lost(
        "tool", "row 12 of user_name\nid: 7f3a9c2e-1b4d-4e6f-8a9b-0c1d2e3f4a5b", "nothing"
    ) == ["id: 7f3a9c2e-1b4d-4e6f-8a9b-0c1d2e3f4a5b"]


def test_a_long_line_is_shown_around_what_is_exact_in_it():
    line = "x " * 300 + "key AKX-99812 is set " + "y " * 300
    (found,) = lost("tool", line, "")
    assert "key AKX-99812 is set" in found
    assert len(found) < 250


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_a_long_sentence_denies_is_listed_with_its_negation(role):
    rule = (
        "We will not, under any circumstances that anyone here can imagine at this moment and "
        "whatever anybody may have promised in the meantime, deploy billing 2.4.1 to production "
        "before legal has signed clause 7."
    )
    assert lost(role, f"Thanks. {rule} See you.", "They talked.") == [rule]


def test_a_summary_and_its_model_are_told_who_said_what():
    model = Scripted("They talked about ports.")
    talk = [
        {
            "role": "user",
            "name": "Alice",
            "content": f"I moved to port 8001. {'It rained. ' * 200}",
        },
        {"role": "user", "name": "Bob", "content": "I never use port 8002."},
        {"role": "assistant", "content": "I recommend port 9003."},
        {"role": "user", "content": "What now?"},
    ]
    result = holdfast.compress(talk, 300, strategy=Summarize(1, summary_max_tokens=120), llm=model)
    told = result.messages[0]["content"]
    assert "\n> Bob: I never use port 8002." in told
    assert "\n- Alice: I moved to port 8001." in told
    assert "\n- assistant: I recommend port 9003." in told
    assert "| Bob: I never use port 8002." in model.calls[0].prompt


def test_the_list_names_most_in_the_room_that_it_has_in_the_order_of_the_source():
    source = (
        "First came A-100. Then B-200 and C-300 came. At last there was D-400 with a very "
        "long story behind it."
    )
    found = listed(missing(details_of(("user", source)), ""), 12, words)
    assert found == ["First came A-100.", "Then B-200 and C-300 came."]


def test_nothing_is_listed_twice():
    source = "Look at A-100. Look at A-100. Look at A-100."
    assert listed(missing(details_of(("user", source)), ""), 100, words) == ["Look at A-100."]


@pytest.mark.parametrize(
    "reply", ["S1", "OK then, they agreed.", "Error handling was added to app.py " * 20]
)
def test_short_and_odd_replies_are_accepted_if_they_say_something(reply):
    assert accepted(reply, 500, words) == reply.strip()


@pytest.mark.parametrize(
    "reply", ["", "…", "[…]", "None", "- ", "I cannot do that.", "a b " * 2_000]
)
def test_replies_that_say_nothing_or_far_too_much_are_refused(reply):
    with pytest.raises(ModelError, match="refused"):
        accepted(reply, 100, words)


def test_a_reply_may_be_longer_than_was_asked_for_while_it_is_shorter_than_its_source():
    reply = "They agreed to ship it. " * 10
    assert accepted(reply, 20, words, "Much more was said. " * 20) == reply.strip()
    with pytest.raises(ModelError, match="longer than 20 tokens, and not shorter than the text"):
        accepted(reply, 20, words, "Ship it! " * 10)


@pytest.mark.parametrize(
    "piece", ["a", " ", "[", '"', "1", ".", "-", "#\n", "must ", "A-1 ", "ignore ", "字"]
)
def test_reading_takes_time_in_proportion_to_the_length(piece):
    def seconds(characters):
        began = time.process_time()
        details_of(("user", piece * (characters // len(piece))))
        return time.process_time() - began

    seconds(1_000)
    assert seconds(200_000) < 60 * seconds(10_000) + 0.5
