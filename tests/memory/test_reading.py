import pytest

from holdfast.memory import remembered
from holdfast.memory.times import moment


def test_the_head_says_when_and_by_whom():
    message = remembered(3, "user", "(1:56 pm on 8 May, 2023) Nora: I paint.")
    assert (message.speaker, message.body, message.said) == (
        "Nora",
        "I paint.",
        moment("8 May 2023 1:56 pm"),
    )
    assert message.told == "Nora: I paint."


@pytest.mark.parametrize(
    "head", ["[2024-03-01 10:00] ", "2024-03-01T10:00:00Z ", "(March 1, 2024 10:00): "]
)
def test_heads_come_in_several_forms(head):
    message = remembered(0, "user", f"{head}I paint.")
    assert (message.body, message.said) == ("I paint.", moment("2024-03-01 10:00"))


@pytest.mark.parametrize(
    "text", ["(see below) I paint.", "I paint: a lot.", "http://a.example is down", "", "12:30 ok"]
)
def test_other_beginnings_belong_to_what_is_said(text):
    message = remembered(0, "user", text, name="Nora", said=5.0)
    assert (message.body, message.speaker, message.said) == (text, "Nora", 5.0)


def test_what_a_tool_returns_has_no_speaker():
    assert remembered(0, "tool", "Error: no such file").speaker == ""


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("tool", "2024-06-11T11:29:00Z INFO gateway: up"),
        ("tool", "[2024-06-11] one entry"),
        ("user", "2024-06-11T11:29:00Z INFO gateway: up\n2024-06-11T11:29:01Z WARN gateway: slow"),
        ("user", "[2024-06-11] one entry\n[2024-06-12] another one"),
    ],
)
def test_the_date_of_a_line_of_output_is_not_when_the_message_was_said(role, text):
    message = remembered(0, role, text, said=5.0)
    assert (message.said, message.body) == (5.0, text)


@pytest.mark.parametrize("name", ["", "Timo Brandt", "Timo_Brandt", "timo-brandt"])
def test_a_name_at_the_head_of_a_message_that_bears_it_in_another_spelling_is_told_once(name):
    text = "Timo Brandt: the hut wants all names by the 20th."
    assert remembered(0, "user", text, name=name).told == text
