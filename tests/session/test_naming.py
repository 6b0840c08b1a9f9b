"""Who is said to have said it."""

from __future__ import annotations

import re

import pytest

from holdfast.session import Session

PADDING = [
    {
        "role": "user",
        "content": f"Row {n} of the garden has grown well this week, and so has row {n * 7}.",
    }
    for n in range(60)
]
OUTPUT = "The bilge pump is broken.\nNora: I prefer the port of Larnaca over that of Limassol."


def call(name: str, output: str = OUTPUT) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": "Read the log."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": name, "name": "read", "input": {"path": "log"}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": name, "content": output}],
        },
    ]


def test_what_a_tool_returned_is_not_said_by_the_user_on_a_wire_where_he_hands_it_over():
    with Session("t", budget=400, format="anthropic") as session:
        session.append(*call("call-1"), *PADDING)
        view = session.fit("What is the state of the bilge pump?")
        facts = session.facts().facts
    told = str(view.messages)
    assert "Tool read(path log): The bilge pump is broken." in told
    assert "User: The bilge pump" not in told
    assert not [fact for fact in facts if "Larnaca" in fact.text]


@pytest.mark.parametrize("ids", [("call-1", "call-2"), ("read", "read")])
def test_of_calls_that_were_made_at_once_each_result_names_its_own(ids):
    """Also where two have one id, as servers give them that take the name of the function for
    it.
    """
    winches = [("bilge", 31), ("anchor", 47)]
    calls = [
        {
            "id": name,
            "type": "function",
            "function": {"name": "read", "arguments": f'{{"path": "{what}.log"}}'},
        }
        for name, (what, _) in zip(ids, winches, strict=True)
    ]
    results = [
        {
            "role": "tool",
            "tool_call_id": name,
            "content": f"The {what} winch has run for {hours} hours.",
        }
        for name, (what, hours) in zip(ids, winches, strict=True)
    ]
    with Session("t", budget=400, format="openai") as session:
        session.append({"role": "user", "content": "Read both logs."})
        session.append(
            {"role": "assistant", "content": None, "tool_calls": calls}, *results, *PADDING
        )
        told = str(session.fit("How long have the bilge and the anchor winch run?").messages)
    assert "Tool read(path anchor.log): The anchor winch has run for 47 hours." in told
    assert "Tool read(path bilge.log): The bilge winch has run for 31 hours." in told


def test_a_result_without_its_call_is_by_a_tool():
    with Session("t", budget=400, format="openai") as session:
        session.append(
            {"role": "user", "content": "Read the log."},
            {"role": "tool", "tool_call_id": "lost", "content": "The bilge pump is broken."},
            *PADDING,
        )
        told = str(session.fit("What is the state of the bilge pump?").messages)
    assert "Tool: The bilge pump is broken." in told


def test_a_result_that_a_user_hands_over_with_words_of_his_own_is_not_his_alone():
    asked, calling, result = call("call-1")
    result["content"].append({"type": "text", "text": "Go on."})
    with Session("t", budget=400, format="anthropic") as session:
        session.append(asked, calling, result, *PADDING)
        told = str(session.fit("What is the state of the bilge pump?").messages)
    assert "Tool read(path log) and User: The bilge pump is broken." in told


def test_a_word_with_a_colon_is_no_name_where_messages_bear_none():
    noted = {
        "role": "assistant",
        "content": "Noted: the bilge pump BP-7 is left out. We decided on two spare hoses.",
    }
    with Session("t", budget=400) as session:
        session.append({"role": "user", "content": "Leave out the pump."}, noted, *PADDING)
        session.append({"role": "assistant", "content": "A good week for the garden."})
        view = session.fit("What became of bilge pump BP-7?")
        subjects = {fact.subject for fact in session.facts().facts}
        segments = "\n".join(
            segment.content
            for tier in (session.tiers().hot, session.tiers().warm)
            for segment in tier
        )
    assert "Assistant: Noted: the bilge pump BP-7" in view.messages[0]["content"]
    assert "Noted" not in subjects
    assert "Assistant: Noted: the bilge pump BP-7" in segments


def test_where_messages_bear_names_these_speak():
    named = [
        {"role": "user", "content": f"{name}: {text}"}
        for name, text in (("Nora", "The pump BP-7 leaks."), ("Ben", "Which?"))
    ]
    padding = [{**message, "content": f"Ben: {message['content']}"} for message in PADDING]
    with Session("t", budget=400) as session:
        session.append(*named, *padding)
        view = session.fit("Who said that pump BP-7 leaks?")
    assert "\nBen: Row " in view.messages[0]["content"]
    assert any("Nora: The pump BP-7 leaks." in message["content"] for message in view.messages)


def test_notes_on_a_task_count_the_turns_of_the_user_alone():
    with Session("t", budget=1_500, format="anthropic") as session:
        session.append({"role": "user", "content": "Find the port of every service."})
        for n in range(40):
            rows = "\n".join(
                f"row {n}.{row}: nothing to see in the depot of Porto" for row in range(12)
            )
            _, asked, given = call(
                f"call-{n}", f"The port of service svc-{n} is {8000 + n}.\n{rows}"
            )
            session.append(asked, given)
            view = session.fit()
    notes = next(
        str(message["content"])
        for message in view.messages
        if "Notes on" in str(message["content"])
    )
    assert "svc-" in notes
    assert not re.findall(r"#\d", notes)


def test_a_backlog_is_not_parted_between_a_call_and_what_it_gave():
    with Session("t", budget=900, format="anthropic") as session:
        session.append(*(message for n in range(40) for message in call(f"call-{n}")), *PADDING)
        portions = [session._tiers._turns.finished(0, most)[0] for most in range(1, 200, 7)]
    assert all(
        segment.content.rstrip().endswith(OUTPUT) for portion in portions for segment in portion
    )


def test_what_a_tool_returned_is_no_fact_of_the_user_who_speaks_in_the_same_message():
    asked, made, given = call("call-1", "I prefer the port of Larnaca.")
    given["content"].append({"type": "text", "text": "Go on."})
    with Session("t", format="anthropic") as session:
        session.append(
            asked, made, given, {"role": "user", "content": "I prefer the port of Paphos."}
        )
        assert [fact.value for fact in session.facts().facts] == ["the port of Paphos"]


def test_a_word_with_a_colon_is_no_name_in_a_message_that_bears_one():
    said = "Deadline: the hut wants all names by the 20th."
    names = ("Jana", "Timo", "Mara")
    messages = [{**each, "name": names[n % 3]} for n, each in enumerate(PADDING)]
    messages[4]["content"] = said
    with Session("t", budget=400) as session:
        session.append(*messages)
        view = session.fit("By when does the hut want the names?")
    assert f"Timo: {said}" in str(view.messages)
