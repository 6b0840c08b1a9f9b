"""Work on one large message grows with its length, and no faster."""

from __future__ import annotations

from time import process_time

import pytest

import holdfast
from holdfast.stream.material import passages_of
from tests.work import calls_of

pytestmark = pytest.mark.usefixtures("room_for_memos")

LINES = {
    "code": "self.totals[{0}] = read(self.rows[{0}], key='k{0}')",
    "a log": "2026-05-01T10:00:{0} api[{0}]: request_{0} -> 500",
    "code among words": "def read_{0}(self):\n" + "    return {{{0}: 'a'}}[{0}]\n" * 7 + "\nSo it is for {0}, as I said.\n",
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


def test_a_line_is_not_dearer_for_the_lines_before_it():
    """Eight times the lines: with a look back at all of them they would take forty times as long."""
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
