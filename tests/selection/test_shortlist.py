"""Of a text far longer than its room the pieces that stand out are looked at closely."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.selection import shortlist
from holdfast.text.pieces import Piece, passages, places_in

ROWS = [Piece(f"request {n} took {n % 7} ms on host web-{n % 5}", n) for n in range(2_000)]
VALUED_PER_TOKEN = 4_000
"""Characters: about a twentieth of the rows."""


def with_row(text: str, at: int = 1_234) -> list[Piece]:
    return [*ROWS[:at], Piece(text, at), *ROWS[at + 1 :]]


def test_all_of_a_text_within_reach_is_looked_at():
    assert list(shortlist(ROWS, 1_000_000)) == list(range(len(ROWS)))


def test_of_a_longer_text_no_more_is_looked_at_than_wanted():
    chosen = shortlist(ROWS, VALUED_PER_TOKEN)
    assert 0.9 * VALUED_PER_TOKEN < sum(len(ROWS[n].text) for n in chosen) < VALUED_PER_TOKEN + 100
    assert list(chosen) == sorted(set(chosen))


def test_what_nothing_sets_apart_is_looked_at_evenly():
    chosen = shortlist(ROWS, VALUED_PER_TOKEN)
    tenths = [sum(n // 200 == tenth for n in chosen) for tenth in range(10)]
    assert max(tenths) <= min(tenths) + 3


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ("request 1234 took 3 ms on host web-4", {"question": "What became of request 1234?"}),
        ("connection to the store refused", {}),
        ("cache warmed, nothing else of note", {}),
        ("request 17 took 4 ms on host db-9", {"used": frozenset({"db-9", "host"})}),
    ],
    ids=["answers the question", "reports trouble", "is of a rare form", "names what is used"],
)
def test_what_stands_out_is_looked_at(row, options):
    pieces = with_row(row)
    chosen = shortlist(pieces, VALUED_PER_TOKEN, **options)
    assert 1_234 in chosen
    assert {1_233, 1_235}.issubset(chosen)


def test_what_a_piece_is_under_comes_with_it():
    heads = [Piece("columns: id, state", 0, 0)]
    rows = [Piece(f"{n} open", n, parent=0) for n in range(1_000)]
    chosen = shortlist([*heads, *rows], 500)
    parents = places_in(chosen, [[*heads, *rows][number].parent for number in chosen])
    assert chosen[0] == 0
    assert set(parents[1:]) == {0}


@pytest.mark.parametrize("call", ["shrink", "compress"])
def test_one_odd_line_among_twenty_thousand_is_told(call):
    lines = [f"2026-05-01 10:00:00 INFO request {n} took {n % 90} ms" for n in range(20_000)]
    lines[12_345] = "2026-05-01 10:00:00 INFO the licence of tenant amber-falcon was moved to eu-7"
    log = "\n".join(lines)
    assert len(passages(log).pieces) > 1_000
    if call == "shrink":
        told = holdfast.shrink(log, 300).text
    else:
        talk = [
            {"role": "user", "content": log},
            {"role": "assistant", "content": "Read."},
            {"role": "user", "content": "Go on."},
        ]
        told = str(holdfast.compress(talk, 600).messages)
    assert "amber-falcon" in told
