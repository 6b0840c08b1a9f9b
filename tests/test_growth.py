"""Work on one large message grows with its length, and no faster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from time import process_time
from typing import Any

import pytest

import holdfast
from holdfast.content.logs import Log
from holdfast.memory.forms import RuleCondenser
from holdfast.selection import ordered
from holdfast.text import json_values, secrets
from holdfast.text.identifiers import find
from holdfast.text.json_values import values_in
from holdfast.text.secrets import redact
from holdfast.text.words import passages_of
from holdfast.tokens import counter_for
from tests.work import calls_of

pytestmark = pytest.mark.usefixtures("room_for_memos")

LINES = {
    "code": "self.totals[{0}] = read(self.rows[{0}], key='k{0}')",
    "a log": "2026-05-01T10:00:{0} api[{0}]: request_{0} -> 500",
    "code among words": "def read_{0}(self):\n"
    + "    return {{{0}: 'a'}}[{0}]\n" * 7
    + "\nSo it is for {0}, as I said.\n",
}  # fmt: skip


@pytest.mark.parametrize("door", ["compress", "fit"])
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_four_times_the_lines_of_a_person_take_four_times_the_work(line, door):
    made: list[int] = []
    for lines in (100, 1_500, 6_000):  # the first loads what is loaded lazily
        pasted = f"By {door}:\n" + "\n".join(line.format(number) for number in range(lines))
        talk = [
            {"role": "user", "content": pasted},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "And?"},
        ]
        if door == "compress":
            made.append(calls_of(lambda talk=talk: holdfast.compress(talk, 2_000)))
        else:
            session = holdfast.Session("t", budget=2_000)
            session.append(*talk)
            made.append(calls_of(session.fit))
    assert made[2] < 4.6 * made[1]


def test_headings_in_outputs_of_an_agent_that_writes_its_acts_take_no_more_work_for_their_number():
    made: list[int] = []
    for functions in (10, 200, 800):  # the first loads what is loaded lazily
        talk: list[Any] = [{"role": "user", "content": "Find the fault."}]
        for file in range(6):
            code = "\n".join(
                f"def read_{n}(row):\n    if row[{n}]:\n        return row[{file}]\n    else:\n"
                f"        return '{n}-{file}'\n"
                for n in range(functions)
            )
            talk += [
                {"role": "assistant", "content": f"Action: show\nAction Input: part_{file}.py"},
                {"role": "user", "content": f"Observation: {code}"},
            ]
        made.append(calls_of(lambda talk=talk: holdfast.compress(talk, 4_000)))
    assert made[2] < 4.6 * made[1]


def test_a_line_is_not_dearer_for_the_lines_before_it():
    """Eight times the lines: with a look back at all of them they would take forty times as
    long.
    """
    took: list[float] = []
    for lines in (4_000, 32_000):
        times: list[float] = []
        for again in range(3):
            text = "\n".join(f"{{{n}}}[{again}] = 0x{n:08x};" for n in range(lines))
            began = process_time()
            passages_of(text)
            times.append(process_time() - began)
        took.append(min(times))
    assert took[1] < 20 * took[0]


def test_lines_that_are_all_alike_take_few_steps_each():
    """With a reading of each, and a look between any two neighbours, they took twenty."""
    text = '"\n' * 20_000
    passages_of(text[:10])  # loads what is loaded lazily
    assert calls_of(lambda: passages_of(text)) < 12 * 20_000


def test_pasted_code_is_not_read_as_words():
    text = "```\n" + "".join(f"row({n}) = {n};\n" for n in range(20_000)) + "```"
    passages_of(text[:30])  # loads what is loaded lazily
    assert calls_of(lambda: passages_of(text)) < 8 * 20_000


def test_a_bracket_before_white_space_is_read_once():
    """Where two runs of white space could share it, each character was read as often as the last.

    No count of calls sees what a pattern does, so that the pattern itself is looked at.
    """
    bare = json_values._SAYS.pattern.replace(r"\s*+", "")
    assert r"\s*" not in bare


def test_a_heading_is_not_dearer_for_the_lines_below_it():
    """Four times the code in the outputs of an agent without tool calls."""
    made: list[int] = []
    for functions in (20, 100, 400):  # the first loads what is loaded lazily
        code = "\n".join(f"def read_{n}(self):\n    return self.{n}\n" for n in range(functions))
        talk = [
            {"role": role, "content": f"{text}{functions}.{n}\n{code if n % 2 else '```'}"}
            for n in range(12)
            for role, text in [("user", "Output:\n") if n % 2 else ("assistant", "```bash\ncat ")]
        ]
        session = holdfast.Session("t", budget=1_000)
        session.append({"role": "user", "content": "Which of them reads row 7?"}, *talk)
        made.append(calls_of(session.fit))
    assert made[2] < 4.6 * made[1]


def test_a_bracket_is_not_dearer_for_the_lines_before_it():
    """Eight times the lines, none of them JSON: an error that counts the lines before it would take
    sixty times as long.
    """
    took: list[float] = []
    for lines in (8_000, 64_000):
        times: list[float] = []
        for again in range(3):
            text = "\n".join(f"[{n} of {again}: done]" for n in range(lines))
            began = process_time()
            list(values_in(text))
            times.append(process_time() - began)
        took.append(min(times))
    assert took[1] < 20 * took[0]


FIELDS = {"signs": "-{}a", "a name of signs": "a{}!", "brackets": "[{}a", "places": "a{}a"}
SIGNS = ("-", "$", "]", ":]")


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("sign", SIGNS)
def test_a_field_of_a_log_is_not_dearer_for_its_length(field, sign):
    """Eight times the signs: a pattern that tries each part of them would take sixty times as
    long, or never end.
    """
    took: list[float] = []
    for signs in (2_000, 16_000):
        times: list[float] = []
        for again in range(3):
            long = field.format(sign * signs)
            rows = [f"ERROR {n} {again} {n * 7}" for n in range(8)]
            text = "\n".join([*rows, f"{long} failed", *rows])
            began = process_time()
            Log().fit(text)
            times.append(process_time() - began)
        took.append(min(times))
    assert took[1] < 20 * took[0]


CHAINS: dict[str, tuple[str, Callable[[str], object], float]] = {
    "lists in lists": ("[", lambda text: holdfast.shrink(text, 400), 60),
    "nothing in lists": ("[{\n", lambda text: holdfast.shrink(text, 400), 10),
    "names of names": ("a:", find, 1),
}
"""The links, what reads them, and how many calls of functions it may take a character."""


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_chain_is_not_read_again_for_each_of_its_links(chain):
    link, read, most = chain
    text = "\n".join(f"{link * 400}{number}" for number in range(20))
    read(link)  # loads what is loaded lazily
    assert calls_of(lambda: read(text)) < most * len(text)


def test_pieces_of_few_words_are_ordered_in_steps_that_grow_with_their_number():
    """Each choice makes the words of many other pieces worth less."""
    rng, made = Random(5), list[int]()
    names = [f"word{number}" for number in range(30)]
    worth = {name: 0.1 + number / 100 for number, name in enumerate(names)}
    for count in (600, 2_400):
        tells = [rng.sample(names, 4) for _ in range(count)]
        costs = [rng.uniform(8, 12) for _ in range(count)]
        alike = {"templates": [()] * count, "bonus": [0.0] * count}
        order = partial(ordered, [-1] * count, tells, costs, worth, again=0.02, **alike)
        made.append(calls_of(lambda: list(order())))  # noqa: B023
    assert made[1] < 4.6 * made[0]


def test_equal_pieces_are_not_all_weighed_again_after_each_choice():
    count = 2_000
    pieces = [("same",)] * count, [2.0] * count, {"same": 0.9}
    alike = {"templates": [()] * count, "bonus": [0.0] * count}
    order = ordered([-1] * count, *pieces, again=0.02, **alike)
    found = list[int]()
    assert calls_of(lambda: found.extend(order)) < 50 * count
    assert found == list(range(count))


def test_a_short_form_of_many_names_takes_steps_that_grow_with_its_text():
    count, made = counter_for("o200k_base").count, list[int]()
    for statements in (600, 2_400):
        said = [
            f"We decided that Server{n}-{n * 7} has the key Key{n}_{n}." for n in range(statements)
        ]
        text = " ".join(said)
        made.append(calls_of(lambda: RuleCondenser().condense(text, 2, count)))  # noqa: B023
    assert made[1] < 4.6 * made[0]


def test_a_message_is_appended_in_few_steps():
    """Two thousand short messages; the format of each is recognised."""
    talk = [
        {"role": ("user", "assistant")[n % 2], "content": f"Message {n}."} for n in range(2_000)
    ]
    _session(talk[:2])
    assert calls_of(lambda: _session(talk)) < 1_000 * len(talk)


def _rows(seed: str, length: int) -> str:
    rng, rows = Random(seed), ["id,name,amount,state"]
    size = 0
    while size < length:
        state = rng.choice(("ok", "failed", "open"))
        rows.append(f"{len(rows)},name{rng.randrange(10**5)},{rng.random():.4f},{state}")
        size += len(rows[-1]) + 1
    return "\n".join(rows)


def _session(talk: list[Any]) -> holdfast.Session:
    session = holdfast.Session("t", budget=4_000)
    session.append(*talk)
    return session


def _fitted(talk: list[Any]) -> holdfast.CompressionResult:
    return holdfast.compress(talk, 4_000)


Calls = tuple[Callable[[list[Any]], Any], Callable[[Any], object], float]
CALLS: dict[str, Calls] = {
    "count": (list, holdfast.count, 0.1),
    "validate": (list, lambda talk: holdfast.validate(talk, provider="openai"), 0.1),
    "append": (list, _session, 1),
    "compress": (list, _fitted, 8),
    "report": (_fitted, holdfast.report, 1),
    "restore": (_fitted, holdfast.restore, 0.1),
    "evaluate": (_fitted, holdfast.evaluate, 6),
    "shrink": (lambda talk: talk[0]["content"], lambda text: holdfast.shrink(text, 1_000), 5),
    "fit": (_session, lambda session: session.fit(), 11),
    "report of a session": (_session, lambda session: session.report(), 0.1),
}
"""What is done before, what is called, and how many calls of functions it may take a character."""


@pytest.mark.parametrize("name", CALLS)
def test_each_public_call_takes_a_bounded_number_of_steps_for_each_character(name):
    """Of many short rows, whose text is small beside what is done for each of them."""
    before, call, most = CALLS[name]
    made: list[int] = []
    for length in (10_000, 100_000, 400_000):  # the first loads what is loaded lazily
        rows = _rows(f"{name} {length}", length)
        talk = [
            {"role": "user", "content": rows},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "Which of them failed, and why?"},
        ]
        given = before(talk)
        made.append(calls_of(lambda given=given: call(given)))
    assert made[2] < 4.6 * max(made[1], 1_000)
    assert made[2] < most * 400_000


def _turns(seed: str, length: int) -> list[Any]:
    """Short questions with answers of a few sentences, and every third with a call before it."""
    rng, talk = Random(seed), list[Any]()
    words = ["".join(rng.choices("aeilmnorst", k=rng.randrange(3, 9))) for _ in range(800)]
    size = number = 0
    while size < length:
        number += 1
        said = [" ".join(rng.sample(words, 12)).capitalize() + "." for _ in range(5)]
        talk.append({"role": "user", "content": f"Is {rng.choice(words)} of Maria {number} ready?"})
        if number % 3 == 0:
            call = {"name": "look", "arguments": f'{{"order": "W-{number}"}}'}
            result = f'{{"order": "W-{number}", "paid": {rng.random():.2f}, "by": "{said[0]}"}}'
            talk += [
                {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": call}]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": result},
            ]
        talk.append({"role": "assistant", "content": " ".join(said)})
        size += sum(map(len, said))
    return talk


def test_tiers_take_a_bounded_number_of_steps_for_each_character():
    """Of many turns at once, each of which leaves hot and needs a short form."""
    made: list[int] = []
    for length in (10_000, 60_000, 240_000):  # the first loads what is loaded lazily
        session = _session(_turns(f"tiers {length}", length))
        made.append(calls_of(session.tiers))
    assert made[2] < 4.6 * made[1]
    assert made[2] < 5 * 240_000


def test_a_name_of_a_secret_takes_little_work_however_long_the_rest_of_its_line_is():
    assert calls_of(lambda: redact("token=" * 4_000)) < 100 * 4_000


@pytest.mark.parametrize("name", ["token=1", "token%3a", "key=1A", "secret=key=1"])
def test_names_in_a_row_are_not_each_read_with_all_of_the_rest(name, monkeypatch):
    read: list[int] = []
    monkeypatch.setattr(secrets, "_is_secret", lambda _, value: read.append(len(value)))
    redact(name * 2_000)
    assert 0 < sum(read) < 6 * len(name) * 2_000
