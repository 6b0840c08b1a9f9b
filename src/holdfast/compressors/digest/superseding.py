"""The newest of contradicting statements wins: the older one is left out, or stands with what it has become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.text.statements import Statement, statements

from .atoms import Atom, Line
from .choices import KIND, choices, given_up

_USER = "user:"
_NEAR = 1  # messages of the same speaker, back to which a correction that names no subject may reach
_BESIDE = 6  # words beside the subject up to which a sentence says nothing else
_DISTINCT = 4  # characters from which on a value is hardly that of another thing

_Key = tuple[str, str, str]
"""A subject, the kind of its value, and whose it is, where it is somebody's own."""


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
    standing = _Standing()
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
            for s in (*statements(a.text), *(choices(a.text) if speaker == _USER else ()))
        ):
            meant = new if new.what.subject else _completed(new, last[speaker])
            if meant is None:
                continue
            olds = standing.of(meant)
            if any(speaker != _USER == old.speaker for old in olds):
                continue  # what users say of their affairs is changed by users
            for old in olds:
                if (old.line, old.atom) != (n, meant.atom) and _contradicts(meant, old):
                    yield old, meant
            standing.add(meant)
            last[speaker].append(meant)


class _Standing:
    """What is stated so far: of each subject the newest value, by all who have said so since it was another."""

    def __init__(self) -> None:
        self._stated: dict[_Key, list[_Stated]] = defaultdict(list)
        self._having: dict[str, set[_Key]] = defaultdict(set)
        """The subjects that have had a value."""

    def add(self, new: _Stated) -> None:
        """From now on this stands."""
        same = self._stated[_key(new)]
        if same and same[-1].what.value.lower() != new.what.value.lower():
            same.clear()
        same.append(new)
        self._having[new.what.value.lower()].add(_key(new))

    def of(self, new: _Stated) -> Sequence[_Stated]:
        """What stands of the subject; for a choice, else the one thing that has the value which it gives up."""
        found, value = self._stated.get(_key(new), ()), given_up(new.what)
        if found or len(value) < _DISTINCT:
            return tuple(found)
        having = [self._stated[key] for key in self._having[value]]
        now = [stated for stated in having if stated[-1].what.value.lower() == value]
        return tuple(now[0]) if len(now) == 1 else ()


def _contradicts(new: _Stated, old: _Stated) -> bool:
    return new.what.contradicts(old.what) or given_up(new.what) == old.what.value.lower()


def _key(stated: _Stated) -> _Key:
    own = stated.what.subject.startswith(("my ", "our "))
    return stated.what.subject, stated.what.kind, stated.speaker if own else ""


def _completed(new: _Stated, before: Sequence[_Stated]) -> _Stated | None:
    """The correction with the subject of the one statement that it can mean; of a choice, of the line before."""
    near = [old for old in before[-8:] if old.what.kind == new.what.kind and new.message - old.message <= _NEAR]
    subjects = {old.what.subject for old in near if new.what.kind != KIND or new.line - old.line <= 1}
    return new._replace(what=new.what._replace(subject=subjects.pop())) if len(subjects) == 1 else None


def _as_of_now(atom: Atom, changes: Sequence[tuple[Statement, Statement]]) -> Atom | None:
    """The sentence with what has become of its statements; None where it states nothing else."""
    if not changes:
        return atom
    named = {name for old, _ in changes for name in (old.value.lower(), *old.subject.split())}
    told = sum(len(old.subject.split()) for old, _ in changes) + _BESIDE
    if all(thing.lower() in named for thing in atom.things) and len(atom.text.split()) <= told:
        return None
    notes = ", ".join(new.value if new.kind == KIND else f"{new.subject} {new.value}" for _, new in changes)
    text = f"{atom.text} [superseded: {notes}]"
    return atom._replace(text=text, size=len(text) + 1)
