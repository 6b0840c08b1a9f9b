"""The content kind ``search``: the hits by file, those that the question names first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.content.excerpt import asked, counted
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.question import Question

from .once import compacted, expanded
from .parse import Hit, form_of, hits

_LONGEST_LINE = 240
_LEAST_SAVING = 0.05
_PATHS_ONCE = frozenset({"numbered", "plain"})
_DEFINES = re.compile(
    r"\s*(?:(?:export|public|private|protected|static|async|abstract|final|pub(?:\(\w+\))?|default|inline) )*"
    r"(?:def|class|func|function|fn|struct|enum|interface|trait|impl|type|module|package|#define|const|let|var|val)\b"
)
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|vendor|node_modules|dist|build|docs?|examples?)/|\.min\.|\.lock$|\.(?:md|txt)$"
)
_NUMBER = re.compile(r"[:-]?\d+[:-](?:\d+:)?")


class Search:
    """Hits of a search; each path is written once, and each file says how many of its hits are left out."""

    name = "search"

    def recognises(self, text: str) -> bool:
        """Whether nearly all lines are a path or a line number and the line found there."""
        return bool(form_of(_lines(text[:60_000])))

    def compact(self, text: str) -> str | None:
        """Each path once, its hits below it; None where that saves nothing."""
        lines = text.split("\n")
        form = form_of(lines)
        if form not in _PATHS_ONCE:
            return None
        short = compacted(hits(lines, form))
        return short if len(short) <= (1 - _LEAST_SAVING) * len(text) and expanded(short) == text else None

    def expand(self, compacted: str) -> str:
        """The lines as they were."""
        return expanded(compacted)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The hits that the question names, then one of each file, definitions first, then the others."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        lines = _lines(text)
        found = [hit for hit in hits(lines, form_of(lines)) if hit.path]
        texts = [_told(hit) for hit in found]
        order = _order(found, texts, Question.of(room.question))
        sizes = [len(text) + 2 for text in texts]
        written = _Written(found, texts)
        choice = fit.choose(order, sizes, written, room.tokens, room.count)
        if choice is None:
            return Shrunk(fit.clip(text, room.tokens, room.count, mark="…"), self.name, "all but the beginning")
        left_out = len(found) - len(choice.pieces)
        return Shrunk(choice.text, self.name, f"{left_out:,} of {counted(len(found), 'line')}")


class _Written:
    """The chosen hits below their paths."""

    def __init__(self, found: Sequence[Hit], texts: Sequence[str]) -> None:
        self._found, self._texts = found, texts
        self._all: dict[str, int] = {}
        for hit in found:
            self._all[hit.path] = self._all.get(hit.path, 0) + hit.is_hit

    def __call__(self, chosen: Sequence[int]) -> str:
        """The text of the chosen lines, whose numbers come in ascending order."""
        by_path: dict[str, list[int]] = {}
        for at in chosen:
            by_path.setdefault(self._found[at].path, []).append(at)
        lines: list[str] = []
        for path, members in by_path.items():
            told = sum(self._found[at].is_hit for at in members)
            share = "" if told == self._all[path] else f"({told} of {counted(self._all[path], 'hit')})"
            lines.append(f"{path} {share}".strip())
            lines += [self._texts[at] for at in members]
        files = [path for path in self._all if path not in by_path]
        if files:
            rest = sum(self._all[path] for path in files)
            lines.append(f"… {counted(rest, 'hit')} in {counted(len(files), 'other file')} …")
        return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _told(hit: Hit) -> str:
    """The line as it stands below its path, without the indentation that it has in its file."""
    rest = hit.rest.removeprefix(":")
    number = _NUMBER.match(rest)
    start = number.end() if number else 0
    told = f"  {rest[:start]}{rest[start:].strip()}"
    return told if len(told) <= _LONGEST_LINE else told[:_LONGEST_LINE] + "…"


def _order(found: Sequence[Hit], texts: Sequence[str], question: Question) -> list[int]:
    """The hits' numbers: the question's first; then, file by file in turns, definitions before uses."""
    worth = asked(question, [f"{hit.path} {text}" for hit, text in zip(found, texts, strict=True)])
    places = sorted(
        range(len(found)), key=lambda at: (not found[at].is_hit, not _DEFINES.match(_body(texts[at])), at)
    )
    turns: dict[int, int] = {}
    seen: dict[str, int] = {}
    said: set[str] = set()
    for at in places:
        hit = found[at]
        body = _body(texts[at])
        turns[at] = seen.get(hit.path, 0) + len(found) * (body in said or not hit.is_hit)
        seen[hit.path] = seen.get(hit.path, 0) + 1
        said.add(body)
    beside = {hit.path: _BESIDE.search(hit.path) is not None for hit in found}
    telling = [at for at in places if _body(texts[at])]
    return sorted(telling, key=lambda at: (-worth[at], turns[at], beside[found[at].path], at))


def _body(told: str) -> str:
    return _NUMBER.sub("", told.strip(), count=1)
