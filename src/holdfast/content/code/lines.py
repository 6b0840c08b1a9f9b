"""The lines of a source text, with or without line numbers in front as tools print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.content.shares import enough
from holdfast.kernel.forks import cached_property

_NUMBERED = (  # the forms of ``cat -n``, of editors' read tools, of ``grep -n`` over one file, of ``nl``
    re.compile(r"\s{0,8}(\d{1,7})\t"),
    re.compile(r"\s{0,8}(\d{1,7})→"),
    re.compile(r"\s{0,8}(\d{1,7}) ?[:|│](?: |$)"),
    re.compile(r"\s{0,8}(\d{1,7}) ?[:|│]"),
    re.compile(r"\s{0,8}(\d{1,7})-"),
    re.compile(r"\s{0,8}(\d{1,7})(?:  |$)"),
)
_NUMBER = re.compile(r"\s{0,8}\d")
_SAMPLE = 60  # lines by which the form is found
_SHARE = 0.9  # of the lines have a number, and the numbers ascend


@dataclass(frozen=True)
class SourceLines:
    """``shown`` are the lines as they came, ``code`` the same without line numbers."""

    shown: Sequence[str]
    code: Sequence[str]
    numbers: Sequence[int]

    @classmethod
    def of(cls, text: str) -> SourceLines:
        """Split at line feeds only, as parsers do."""
        shown = text.split("\n")
        form = _form(shown)
        if form is None:
            return cls(shown, shown, range(1, len(shown) + 1))
        code: list[str] = []
        numbers: list[int] = []
        for line in shown:
            prefix = form.match(line)
            code.append(line[prefix.end() :] if prefix else line)
            numbers.append(int(prefix[1]) if prefix else (numbers[-1] + 1 if numbers else 1))
        return cls(shown, code, numbers)

    @cached_property
    def source(self) -> str:
        """The code as one text."""
        return "\n".join(self.code)

    def indentation(self, line: int) -> str:
        """The white space with which the code of the line starts."""
        code = self.code[line]
        return code[: len(code) - len(code.lstrip())]


def _form(lines: Sequence[str]) -> re.Pattern[str] | None:
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    if len(sample) < 2:
        return None
    least = _SHARE * len(sample)
    for form in _NUMBERED if enough(sample, _NUMBER.match, least) else ():
        numbered = enough(sample, form.match, least)
        numbers = [int(prefix[1]) for line in numbered if (prefix := form.match(line))]
        if numbers and all(one < other for one, other in pairwise(numbers)):
            return form
    return None
