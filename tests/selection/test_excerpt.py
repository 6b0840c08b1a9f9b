"""The order of pieces: the same whatever order sets have, and with the question's record in
front.
"""

from __future__ import annotations

import random
from itertools import permutations

import pytest

import holdfast
from holdfast.excerpts import excerpt
from holdfast.kernel.ports import Room
from holdfast.selection import ordered, valued
from holdfast.text.pieces import Piece, Reading, writer


@pytest.mark.parametrize("names", list(permutations("abc")))
def test_the_order_is_the_same_in_whatever_order_things_stand(names):
    worth = {
        f"{name}{number}": share
        for number in range(9)
        for name, share in zip("abc", (0.1, 0.2, 0.3), strict=True)
    }
    things = [
        [f"{name}{number}" for name in (names if number % 2 else "abc")] for number in range(9)
    ]
    order = ordered(
        [-1] * 9, things, [9.0] * 9, worth, again=0.15, templates=[()] * 9, bonus=[0.0] * 9
    )
    assert list(order) == list(range(9))


def test_what_a_piece_is_under_answers_with_it():
    pieces = [
        Piece("order, to, paid", 0),
        Piece("A-17 Oslo", 0, parent=0),
        Piece("desk 120.50", 0, parent=1),
        Piece("A-18 Bergen", 1, parent=0),
        Piece("lamp 9.90", 1, parent=3),
    ]
    room = Room(13, lambda text: len(text.split()), "What is in order A-17?")
    assert {1, 2} <= set(excerpt(Reading(pieces, 2), room))


def test_a_gap_within_a_unit_is_marked():
    reading = Reading(
        [Piece("one", 0), Piece("of two", 0), Piece("its end", 0), Piece("three", 2)], 3
    )
    assert writer(reading)([0, 2, 3]).split("\n") == ["one", "…", "its end", "… 1 line …", "three"]


def test_a_question_about_a_record_brings_the_whole_record():
    rng = random.Random(3)
    names = ("Voltage", "Load", "Uplink", "Peer", "Mode", "Queue drops", "Last flap", "Firmware")
    names += ("Policy", "Neighbour", "Errors in", "Errors out")
    fields = [f"{place} {name}" for place in ("Link", "Port") for name in names]
    records = [
        [f"Unit {unit} - Serial: SN{7000 + unit * 13}"]
        + [f"    {field}: {rng.choice('ABCD')}{rng.randint(100, 99999)}" for field in fields]
        for unit in range(40)
    ]
    text = "\n".join(line for record in records for line in record)
    told = holdfast.shrink(text, 857, query="Tell me everything about SN7221.")
    assert [line for line in records[17] if line not in told.text] == []


def test_the_less_of_a_question_an_answer_has_the_less_its_neighbours_are_worth():
    lines = [f"row {number} of the ledger" for number in range(40)]
    lines[20] = "the crane on pier nine is idle"
    pieces = [Piece(line, number) for number, line in enumerate(lines)]

    def beside(question: str) -> float:
        return valued(pieces, [-1] * 40, question, 1.0).bonus[21]

    whole = beside("Which crane is idle?")
    assert whole > 3 * beside("Which ferry, tug or crane has a permit for dredging?") > 0
