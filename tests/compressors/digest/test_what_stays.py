"""Facts of every kind outlast the talk around them, word for word."""

import pytest

import holdfast
from holdfast.compressors.digest import Digest
from tests.compressors.digest.conversations import assistant, exchange, user

TALK = (
    "That is nice to hear, and it was a lovely day in the garden with the whole family.",
    "We sat in the sun for a while, and then we had some tea and a bit of cake.",
    "It was as good as it always is, and everybody was happy in the end.",
)


def _notes(said, speaker=user):
    """The notes on a conversation that begins with what is said and goes on with talk."""
    messages = [user("Hello."), speaker(f"{TALK[0]} {said} {TALK[1]}")]
    for _ in range(6):
        messages += [assistant(" ".join(TALK)), user(" ".join(reversed(TALK)))]
    messages += [assistant("Of course."), user("Go on.")]
    result = holdfast.compress(messages, 150, strategy=Digest(), format="openai")
    assert result.budget_met
    return next(m["content"] for m in result.messages if m["content"].startswith("[HISTORY_SUMMARY"))


@pytest.mark.parametrize(
    "fact",
    [
        "The parcel is TRK-88-4102.",
        "The form stands at https://forms.example.org/a/7?b=2.",
        "The settings are in /opt/mill/etc/grind.toml.",
        "The sack weighs 12.5 kg.",
        "They deliver on 14 June 2031.",
        "The neighbour who has the key is Henrike.",
        "The oven must never be left alone.",
        "We decided to bake on Sundays.",
        "The mixer failed with an error.",
        "The shop answered with status 503.",
        "I am allergic to peanuts.",
        "My name is Alice.",
        "I would rather have rye than wheat.",
        "The order for the yeast is still open.",
        "The shelves are finished.",
    ],
)
def test_a_fact_of_a_user_stays(fact):
    assert fact in _notes(fact)


@pytest.mark.parametrize(
    "fact", ["The invoice is INV-20-77.", "The delivery failed again.", "We agreed on rye flour."]
)
def test_a_fact_of_the_assistant_stays(fact):
    assert fact in _notes(fact, assistant)


def test_what_a_tool_was_asked_and_what_came_of_it_stay():
    call = exchange("c1", "bake", {"batch": "B-4410", "state": "burnt", "minutes": 55}, oven="left")
    messages = [user("Bake it."), *call, assistant("It is burnt.")]
    messages += [user(" ".join(TALK)), assistant(" ".join(TALK))] * 6
    result = holdfast.compress([*messages, user("Go on.")], 150, strategy=Digest(), format="openai")
    assert "bake(oven left) batch B-4410, state burnt, minutes 55" in str(result.messages)


def test_what_was_said_of_the_last_large_output_stands_behind_it():
    rows = "\n".join(f"batch {n} came out at {n * 7 % 97} degrees, which is fine" for n in range(400))
    messages = [user("Bake them."), *[user(" ".join(TALK)), assistant(" ".join(TALK))] * 40]
    messages += [*exchange("c1", "list_batches", rows), assistant("All batches are fine."), user("Go on.")]
    result = holdfast.compress(messages, 2_500, format="openai")
    said = [message["content"] or "" for message in result.messages]
    notes = next(at for at, text in enumerate(said) if text.startswith("[HISTORY_SUMMARY"))
    assert result.budget_met
    assert [message["role"] for message in result.messages[notes:]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert said[-2] == "All batches are fine."
