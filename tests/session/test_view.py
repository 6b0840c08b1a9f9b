"""A view without a question is what ``compress`` makes of the thread, and then it grows."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.session import Session
from tests.session.talks import TOPICS, call, chatter

BUDGET = 2_000


def port(number: int) -> str:
    """A port that no key of a reference holds by chance: these are of digits and of letters up
    to f.
    """
    return f"tcp:{8000 + number}"


def work(count: int, rows: int = 20):
    """A task and exchanges with a tool, each with something to know."""
    yield {"role": "user", "content": "Find the port of every service."}
    for number in range(count):
        lines = "\n".join(f"row {number}.{row}: nothing to see" for row in range(rows))
        yield from call(number, f"The port of service svc-{number} is {port(number)}.\n{lines}")


def shell(count: int):
    """An agent that writes its commands as text and is handed the outputs by a user's messages."""
    yield {"role": "user", "content": "Find the port of every service."}
    for number in range(count):
        yield {
            "role": "assistant",
            "content": f"I look at it.\n\n```bash\ncat service-{number}.conf\n```",
        }
        yield {
            "role": "user",
            "content": f"OUTPUT\nport = {port(number)}\n" + "nothing else here\n" * 6,
        }


def told(messages) -> str:
    return "\n".join(str(message["content"]) for message in messages)


@pytest.mark.parametrize("run", [work, shell])
def test_a_thread_that_is_fitted_once_keeps_what_compress_keeps_and_uses_its_room(run):
    messages = list(run(60))
    with Session("t", budget=BUDGET, format="openai") as session:
        session.append(*messages)
        view = session.fit()
    beside = holdfast.compress(messages, BUDGET, format="openai", store="memory://")
    kept = told(beside.messages)
    ports = [port(number) for number in range(60)]
    assert sum(each in told(view.messages) for each in ports) >= 0.9 * sum(
        each in kept for each in ports
    )
    assert 0.9 * beside.tokens <= view.tokens <= BUDGET
    assert not view.recalled


def test_a_talk_whose_messages_open_with_their_dates_is_asked_for_what_was_said():
    said = [
        f"(1:{n % 60:02} pm on {1 + n % 28} May, 2023) Ann: {text['content']}"
        for n, text in enumerate(chatter(300))
    ]
    said[4] = f"(1:04 pm on 5 May, 2023) Ann: {TOPICS[5]}"
    with Session("t", budget=BUDGET) as session:
        session.append(
            *(
                {"role": ("user", "assistant")[n % 2], "content": text}
                for n, text in enumerate(said)
            )
        )
        session.append({"role": "user", "content": "How many parrots does Priya keep?"})
        view = session.fit()
    assert 4 in [each.position for each in view.recalled]
    assert TOPICS[5] in told(view.messages)


def test_words_that_only_touch_on_the_past_leave_the_room_to_the_notes():
    """What they bring back answers nothing, so a colleague would rather know what was said."""
    people = [f"{first}{rest}" for first in "BDFGHJKLMN" for rest in ("arno", "elia", "ozen")]
    replies = (
        "That sounds wonderful. I remember how it was when my own family moved house, and how much "
        "work there was in the garden and in the kitchen before winter came, number {}.",
        "How lovely! You must have felt so much joy when everybody came together, day {}. Moments "
        "of that kind stay with us for a very long time.",
    )
    said: list[dict[str, str]] = []
    for number, name in enumerate(people):
        paid = f"My cousin {name} now pays {310 + 7 * number} euros for a flat near the station."
        reply = replies[number % 2].format(number)
        said += [{"role": "user", "content": paid}, {"role": "assistant", "content": reply}]
    vague = "It is wonderful how much joy a family and a garden can give, and what stays with us."
    messages = [*said, {"role": "user", "content": vague}]
    budget = int(0.3 * holdfast.count(messages).total)
    with Session("t", budget=budget) as session:
        session.append(*messages)
        view = told(session.fit().messages)
    kept = told(holdfast.compress(messages, budget).messages)
    assert sum(each in view for each in people) >= 0.7 * sum(each in kept for each in people)


def test_the_past_is_asked_only_when_the_user_says_what_the_view_knows_nothing_of():
    with Session("t", budget=600) as session:
        session.append(*chatter(4), {"role": "user", "content": TOPICS[1]}, *chatter(400, 5))
        session.fit()
        session.append({"role": "user", "content": "And the garden?"}, *chatter(1, 405))
        session.fit()
        looks = session.stats().events["recall"]
        session.append({"role": "user", "content": "The garden, the weather."})
        assert session.fit().reason == "grown"
        assert session.stats().events["recall"] == looks
        session.append(
            {"role": "user", "content": "Which disk was full after the deploy to eu-west?"}
        )
        view = session.fit()
        assert session.stats().events["recall"] == looks + 1
    assert view.reason == "recalled"
    assert "node-17" in told(view.messages)


def test_what_the_user_said_last_stands_whole_however_much_was_done_since():
    words = (
        "Please also write down why the depot of Porto closes at 17:45, and keep ORD-7731 "
        "out of it."
    )
    with Session("t", budget=BUDGET, format="openai") as session:
        session.append(*work(20), {"role": "user", "content": words}, *list(work(60))[1:])
        assert words in told(session.fit().messages)


def test_no_room_is_left_to_grow_where_the_next_exchange_is_larger_than_it():
    with Session("t", budget=BUDGET, format="openai") as session:
        sizes: list[int] = []
        for message in work(12, rows=80):
            session.append(message)
            if message["role"] == "tool":
                sizes.append(session.fit().tokens)
    assert min(sizes[3:]) >= 0.9 * BUDGET
