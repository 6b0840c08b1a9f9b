"""What every content kind keeps to: a kind's test names the kind, and has a folder of real texts.

A real text is ``tests/content/texts/KIND/NAME.txt``; ``NAME.must.json`` beside it says what a
reader must still find in a part of its tokens: ``{"query": the question, if one is asked, "part":
one in so many, 10 if it is not said, "must": [strings]}``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.content import recognise
from holdfast.kernel.ports import ContentKind, Room, Shrunk
from holdfast.tokens import counter_for
from tests.content.lossless import expanded

count = counter_for("o200k_base").count

TEXTS = Path(__file__).parents[1] / "content" / "texts"
QUESTION = 'why did order #K7731904 fail with "connection refused" in RetryPolicy?'
ODD = [
    "",
    " ",
    "\n",
    "\r\n\r",
    "a",
    "…",
    "\ufeffa: 1\r\n",
    "a\x00b\x01\x02\x1b[31mred\x1b[0m",
    "\ud800 alone, \ud83d\ude00 as two halves",
    "\U0001f469\u200d\U0001f4bb e\u0301 \u0130\u0130 \u4f60\u597d\u3002 \u0e01\u0e33 \u202eabc",
    "\u2028\u2029\x0b\x0c\x85",
    "<|endoftext|>",
    "%s %n {0} ${x} \\1 \\g<0>",
    "{" * 50 + "]" * 50,
]
LARGE = {
    "one letter": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "line feeds": "\n" * 300_000,
    "open brackets": "[" * 1_000_000,
    "open braces in pairs": '{"a":' * 200_000,
    "open tags": "<a>" * 120_000,
    "quotes": '"' * 1_000_000,
    "backslashes": "\\" * 1_000_000,
    "full stops": "." * 1_000_000,
    "digits": "1" * 1_000_000,
    "dashes": "-" * 1_000_000,
    "colons in lines": "a:\n" * 100_000,
    "words": "error at 0x1f: " * 30_000,
    "words in lines": "2024-01-01 ERROR x\n" * 20_000,
}


@dataclass(frozen=True)
class RealText:
    """One real text, and what a reader must find in a part of it."""

    text: str
    query: str
    must: list[str]
    part: int = 10

    @classmethod
    def read(cls, path: Path) -> RealText:
        wanted = json.loads(path.with_suffix("").with_suffix(".must.json").read_text("utf-8"))
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        return cls(text, wanted.get("query", ""), wanted["must"], wanted.get("part", 10))


@cache
def real_texts(kind: str) -> dict[str, RealText]:
    return {path.stem: RealText.read(path) for path in sorted((TEXTS / kind).glob("*.txt"))}


class ContentContract:
    """Set ``kind``; override ``same`` where an equal value may be written differently."""

    kind: ContentKind

    def same(self, one: str, other: str) -> bool:
        return one == other

    def test_is_a_content_kind(self):
        assert isinstance(self.kind, ContentKind)
        assert self.kind.name.isalpha()

    @pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
    @pytest.mark.parametrize("tokens", [1, 2, 7, 40])
    @pytest.mark.parametrize("question", ["", QUESTION], ids=["nothing asked", "asked"])
    def test_takes_any_text(self, text, tokens, question):
        assert self.kind.recognises(text) in {True, False}
        self._round_trip(text)
        self._fits(text, Room(tokens, count, question))

    @pytest.mark.parametrize("tokens", [1, 300])
    @pytest.mark.parametrize("name", LARGE)
    def test_ends_on_texts_made_to_hang_it(self, name, tokens):
        text = LARGE[name]
        assert self.kind.recognises(text) in {True, False}
        self._round_trip(text)
        shrunk = self.kind.shrink(text, Room(tokens, lambda piece: len(piece) // 4 + 1, QUESTION))
        assert len(shrunk.text) // 4 + 1 <= tokens

    # The test is inherited by one class a kind: that is the executor which differs, and nothing
    # drawn depends on it.
    @settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
    )
    @given(data=st.data())
    def test_takes_pieces_of_real_texts_in_any_order(self, data):
        lines = [
            line
            for one in real_texts(self.kind.name).values()
            for line in one.text.splitlines(keepends=True)
        ] or ["a\n"]
        drawn = data.draw(
            st.lists(st.one_of(st.sampled_from(lines), st.text(max_size=20)), max_size=40)
        )
        tokens = data.draw(st.integers(1, 400))
        text = "".join(drawn)
        self._round_trip(text)
        self._fits(text, Room(tokens, count, data.draw(st.sampled_from(["", QUESTION]))))

    @pytest.mark.parametrize(
        "counted",
        [
            len,
            lambda text: len(text.split()),
            lambda text: len(text.encode("utf-16", "surrogatepass")),
        ],
    )
    def test_fits_whatever_counts(self, counted):
        for one in real_texts(self.kind.name).values():
            for tokens in (1, 13, 190):
                self._fits(one.text, Room(tokens, counted, one.query))

    def test_real_texts_are_recognised(self):
        wrong = {name: recognise(one.text).name for name, one in real_texts(self.kind.name).items()}
        assert {name: kind for name, kind in wrong.items() if kind != self.kind.name} == {}

    @pytest.mark.parametrize(("part", "least"), [(10, 0.5), (4, 0.65)])
    def test_a_reader_finds_most_of_what_matters_in_a_part(self, part, least):
        found: list[bool] = []
        for one in real_texts(self.kind.name).values():
            room = Room(max(1, count(one.text) // part), count, one.query)
            shrunk = self._fits(one.text, room)
            found += [wanted in shrunk.text for wanted in one.must]
        assert sum(found) >= least * len(found)

    def test_there_are_five_real_texts_with_something_to_find(self):
        assert len(real_texts(self.kind.name)) >= 5
        assert all(len(one.must) >= 3 for one in real_texts(self.kind.name).values())

    def _round_trip(self, text: str) -> None:
        compacted = self.kind.compact(text)
        if compacted is not None:
            assert self.same(expanded(self.kind.name, compacted), text)

    def _fits(self, text: str, room: Room) -> Shrunk:
        shrunk = self.kind.shrink(text, room)
        assert self.kind.shrink(text, room) == shrunk
        assert room.count(shrunk.text) <= max(room.tokens, room.count(""))
        assert room.count(shrunk.text) <= room.count(text)
        if shrunk.lossless:
            assert shrunk.omitted == ""
            assert self.same(expanded(self.kind.name, shrunk.text), text)
        else:
            assert shrunk.omitted
        return shrunk
