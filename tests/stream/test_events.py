"""Events by function: what is said, done and returned, in whatever syntax an agent writes."""

import json

import pytest

from holdfast.formats import read
from holdfast.stream.events import StreamEvent, events_of
from holdfast.stream.tellings import telling_of

LOG = "\n".join(f"2026-03-0{n} 12:00:0{n} ERROR worker-{n} lost lease 88{n}" for n in range(1, 9))


def functions(messages):
    _, _, transcript = read(messages, "openai", None)
    return [
        (event.function, event.by)
        for event in events_of(transcript.messages, range(len(transcript)), {})
    ]


def as_text(act, returned):
    """A run of an agent that writes its acts as text and gets what they return in a user's
    message.
    """
    messages = [{"role": "user", "content": "Why do the totals differ? Please look."}]
    for number in range(1, 6):
        messages.append(
            {"role": "assistant", "content": f"I look at part {number}.\n\n{act.format(number)}"}
        )
        messages.append({"role": "user", "content": returned.format(number)})
    return messages


@pytest.mark.parametrize(
    ("act", "returned"),
    [
        ("```bash\ncat part{}.txt\n```", "Exit code: 0\nrow {}"),
        ("<run>\n<path>part{}.txt</path>\n</run>", "[run] Result:\nrow {}"),
        ("Action: open\nAction Input: part{}.txt", "Observation: row {}"),
        ('{{"tool": "open", "path": "part{}.txt"}}', "OUTPUT> row {}"),
    ],
    ids=["fenced", "element", "labelled", "object"],
)
def test_acts_that_are_written_as_text_are_told_from_words_and_so_is_what_they_return(
    act, returned
):
    found = functions(as_text(act, returned))

    assert found[0] == ("words", "user")
    assert [function for function, _ in found[1:]] == ["words", "act", "outcome"] * 5


def test_acts_that_are_written_as_text_are_known_where_a_message_has_several_texts():
    messages = as_text("```bash\ncat part{}.txt\n```", "Exit code: 0\nrow {}")
    for message in messages:
        texts = message["content"].split("\n\n")
        message["content"] = [{"type": "text", "text": text} for text in texts]

    assert [each for each, _ in functions(messages)[1:]] == ["words", "act", "outcome"] * 5


def test_a_person_who_answers_an_agent_is_heard_as_a_person():
    messages = []
    for answer in ("Berlin, please.", "Two adults.", "The cheaper one.", "Yes, book it."):
        messages += [
            {"role": "assistant", "content": "What would you like?"},
            {"role": "user", "content": answer},
        ]

    assert {function for function, _ in functions(messages)} == {"words"}


def test_a_pasted_log_within_words_is_material():
    found = functions(
        [
            {
                "role": "user",
                "content": f"The worker dies at night.\n\n{LOG}\n\nWhat do you make of it?",
            }
        ]
    )

    assert found == [("words", "user"), ("material", "user"), ("words", "user")]


def test_a_list_with_labels_is_no_act_where_the_agent_calls_its_tools():
    messages = [{"role": "user", "content": "Which flights are there?"}]
    for number in range(5):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "find", "arguments": "{}"},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"HF{number}"})
        messages.append(
            {
                "role": "assistant",
                "content": f"Flight: HF{number}\n\nDeparture: {number}:15\nPrice: 9{number}",
            }
        )
        messages.append({"role": "user", "content": "And another one?"})

    assert [by for function, by in functions(messages) if function == "act"] == ["find"] * 5


def test_a_call_with_one_long_argument_is_told_with_its_beginning():
    statement = " and ".join(f"paid_{n} > {n}" for n in range(30))
    arguments = json.dumps({"statement": f"select * from orders where {statement}"})
    first, *rest = telling_of(StreamEvent("act", "execute_sql", arguments, 0, 0)).reading.pieces
    assert first.text.startswith("execute_sql statement: select * from orders where paid_0 > 0")
    assert rest
    assert all(piece.under == 0 and "statement:" not in piece.text for piece in rest)
