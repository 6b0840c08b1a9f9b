"""What a source text declares, as parts of lines that are kept or left out together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from .comments import comments

MODULE = -1
"""The owner of what stands in no declaration."""

_DEEPEST = 8  # declarations within declarations; what lies deeper belongs to the body around it
_IMPORT = re.compile(
    r"\s{0,8}(?:import\b|from\s+\S+\s+import\b|#\s*include\b|using\s+[\w.]+|use\s+[\w:\\{]|require(?:_relative)?\b"
    r"|package\s|namespace\s+[\w.\\]+;|extern crate|(?:const|var|let)\s[^=]{1,200}=\s*require\()"
)
_CLOSER = re.compile(r"\s*(?:[})\];,]+|end)\s*$")


class Role(IntEnum):
    """What the lines of a part are, the most telling first."""

    SIGNATURE = 0
    DOC = 1
    """The first line of a docstring, or of the comment above a declaration."""
    IMPORT = 2
    MEMBER = 3
    """Statements outside of functions: constants, fields."""
    BODY = 4
    COMMENT = 5


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function or, if it ``holds`` others, a class or the like; lines count from 0, ``end`` belongs to it."""

    start: int
    body: int
    """The first line that may be left out while the declaration is still named."""
    end: int
    holds: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Lines ``start`` to ``end`` (inclusive) of the declaration with the index ``owner``."""

    role: Role
    start: int
    end: int
    owner: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The declarations, the index of the one that holds each, and the parts of all lines in order."""

    declarations: Sequence[Declaration]
    holders: Sequence[int]
    parts: Sequence[Part]

    @classmethod
    def of(cls, lines: Sequence[str], found: Sequence[Declaration], longest: int) -> Outline:
        """The outline; ``found`` are the declarations in the order of their first lines, outer before inner.

        ``longest`` is how many lines of a body are kept or left out together.
        """
        declarations: list[Declaration] = []
        holders: list[int] = []
        owners = [MODULE] * len(lines)
        around: list[int] = []
        for one in found:
            while around and declarations[around[-1]].end < one.start:
                around.pop()
            if len(around) >= _DEEPEST or not one.start <= one.end < len(lines):
                continue
            index = len(declarations)
            holders.append(around[-1] if around else MODULE)
            declarations.append(one)
            around.append(index)
            owners[one.start : one.end + 1] = [index] * (one.end + 1 - one.start)
        roles = list(_roles(lines, owners, declarations))
        _name_docs(lines, roles, owners, declarations)
        return cls(declarations, holders, list(_parts(lines, roles, owners, longest)))

    def path(self, owner: int) -> list[int]:
        """The declaration and all that hold it, innermost first."""
        path: list[int] = []
        while owner != MODULE:
            path.append(owner)
            owner = self.holders[owner]
        return path

    def length(self, owner: int) -> int:
        """Its lines; 0 of the module."""
        return 0 if owner == MODULE else self.declarations[owner].end - self.declarations[owner].start + 1


def _roles(lines: Sequence[str], owners: Sequence[int], declarations: Sequence[Declaration]) -> Iterator[Role]:
    """The role of each line; docs are not yet told from other comments."""
    for number, (line, comment) in enumerate(zip(lines, comments(lines), strict=True)):
        owner = owners[number]
        one = declarations[owner] if owner != MODULE else None
        if one is not None and number < one.body:
            yield Role.SIGNATURE
        elif comment:
            yield Role.COMMENT
        elif (one is not None and not one.holds) or _CLOSER.match(line):
            yield Role.BODY
        else:
            yield Role.IMPORT if _IMPORT.match(line) else Role.MEMBER


def _name_docs(
    lines: Sequence[str], roles: list[Role], owners: list[int], declarations: Sequence[Declaration]
) -> None:
    """Mark the first telling line of the comment at the top, above and right behind each signature."""
    for index, one in [(MODULE, Declaration(0, 0, 0)), *enumerate(declarations)]:
        first = one.start
        while first > 0 and roles[first - 1] == Role.COMMENT and lines[first - 1].strip():
            first -= 1
            owners[first] = index
        for number in (*range(first, one.start), *range(one.body, min(one.body + 3, len(lines)))):
            if roles[number] == Role.COMMENT and any(map(str.isalnum, lines[number])):
                roles[number] = Role.DOC
                break


def _parts(lines: Sequence[str], roles: Sequence[Role], owners: Sequence[int], longest: int) -> Iterator[Part]:
    part = Part(roles[0], 0, 0, owners[0])
    for number in range(1, len(lines)):
        blank = not lines[number].strip()
        same = roles[number] == part.role and owners[number] == part.owner
        full = part.role > Role.DOC and (
            number - part.start >= longest or (not lines[number - 1].strip() and not blank)
        )
        if blank or (same and not full):
            part = replace(part, end=number)
        else:
            yield part
            part = Part(roles[number], number, number, owners[number])
    yield part
