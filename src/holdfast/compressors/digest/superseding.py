"""The newest of contradicting statements wins: the older one is left out, or stands with what it has become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.text.statements import Statement, statements

from .atoms import Atom, Line

_USER = "user:"
_NEAR = 1  # messages of the same speaker, back to which a correction that names no subject may reach
_BESIDE = 6  # words beside the subject up to which a sentence says nothing else


class _Stated(NamedTuple):
    """A statement, the line and the atom that make it, whose they are, and the how many-th message of theirs."""

    what: Statement
    line: int
    atom: int
    speaker: str
    message: int


def current(lines: Sequence[Line]) -> list[Line]:
    """The lines, oldest first, without what a later one takes back."""
    found = list(lines)
    replaced: dict[int, dict[int, list[tuple[Statement, Statement]]]] = defaultdict(lambda: defaultdict(list))
    for old, new in _contradictions(lines):
        replaced[old.line][old.atom].append((old.what, new.what))
    for n, changes in replaced.items():
        atoms = [_as_of_now(atom, changes.get(k, ())) for k, atom in enumerate(lines[n].atoms)]
        found[n] = replace(lines[n], atoms=tuple([atom for atom in atoms if atom is not None]))
    return found


def _contradictions(lines: Sequence[Line]) -> Iterator[tuple[_Stated, _Stated]]:
    """Each older statement with the newer one that takes its place."""
    standing: dict[tuple[str, str, str], _Stated] = {}
    last: dict[str, list[_Stated]] = defaultdict(list)
    messages: dict[str, int] = defaultdict(int)
    for n, line in enumerate(lines):
        speaker = line.label
        if not line.is_speech or not speaker:
            continue
        messages[speaker] += 1
        for new in (
            _Stated(s, n, k, speaker, messages[speaker])
            for k, a in enumerate(line.atoms)
            for s in statements(a.text)
        ):
            meant = new if new.what.subject else _completed(new, last[speaker])
            if meant is None:
                continue
            key = _key(meant)
            old = standing.get(key)
            if old is not None and speaker != _USER == old.speaker:
                continue  # what users say of their affairs is changed by users
            if old is not None and (old.line, old.atom) != (n, meant.atom) and meant.what.contradicts(old.what):
                yield old, meant
            standing[key] = meant
            last[speaker].append(meant)


def _key(stated: _Stated) -> tuple[str, str, str]:
    own = stated.what.subject.startswith(("my ", "our "))
    return stated.what.subject, stated.what.kind, stated.speaker if own else ""


def _completed(new: _Stated, before: Sequence[_Stated]) -> _Stated | None:
    """The correction with the subject of the one statement that it can mean."""
    subjects = {
        old.what.subject
        for old in before[-8:]
        if old.what.kind == new.what.kind and new.message - old.message <= _NEAR
    }
    return new._replace(what=new.what._replace(subject=subjects.pop())) if len(subjects) == 1 else None


def _as_of_now(atom: Atom, changes: Sequence[tuple[Statement, Statement]]) -> Atom | None:
    """The sentence with what has become of its statements; None where it states nothing else."""
    if not changes:
        return atom
    values = {old.value.lower() for old, _ in changes}
    told = sum(len(old.subject.split()) for old, _ in changes) + _BESIDE
    if all(thing.lower() in values for thing in atom.things) and len(atom.text.split()) <= told:
        return None
    notes = ", ".join(f"{new.subject} {new.value}" for _, new in changes)
    text = f"{atom.text} [superseded: {notes}]"
    return atom._replace(text=text, size=len(text) + 1)
