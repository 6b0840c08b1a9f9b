"""Declarations by their first words and by indentation: no parser, any language with braces, ``end`` or colons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .outline import Declaration

_LONGEST_LINE = 300  # characters of a line that can be a declaration
_LONGEST_SIGNATURE = 15  # lines
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|abstract|final|static|sealed|partial|virtual"
    r"|override|async|unsafe|extern|const|inline|open|data|pub(?:\([\w:]+\))?)\s+){0,8}"
)
_HOLDER = re.compile(
    rf"\s*{_MODIFIERS}(?:class|interface|struct|enum|trait|impl|module|namespace|record|object|protocol|extension"
    r"|mod|union|type\s+\w+\s+(?:struct|interface))\b(?!\s*[=(.,;)])"
)
_FUNCTION = re.compile(
    rf"\s*{_MODIFIERS}(?:def|func|fn|fun|function\b\*?|sub)\s+[\w$(.:~]"
    rf"|\s*{_MODIFIERS}(?:const|let|var)\s+[\w$]+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)[^=]{{0,60}}=>|\w+\s*=>)"
)
_TYPE = re.compile(r"[\w:<>,\[\]?.*&~@]+")
_NAME = re.compile(r"[*&]*[\w:~$]+")
_MOST_TYPES = 9  # words before the name of a function
_CONTROL = frozenset(
    """
    if for while switch return else do catch new throw case await yield using lock foreach elif elsif with unless
    until match loop goto delete in is not and or try except finally raise assert print echo super this when sizeof
    """.split()
)
_DECORATOR = re.compile(r"\s*(?:@\w|#\[|\[\w.*\]\s*$|template\s*<)")
_LABEL = re.compile(r"\s*(?:public|private|protected)\s*:")  # in a class of C++, often not indented
_CLOSER = re.compile(r"\s*(?:[})\]]|end\b)")


def declarations(lines: Sequence[str], _language: str = "") -> list[Declaration]:
    """Every class and function whose first line says what it is and whose body is indented."""
    widths = [_width(line) for line in lines]
    found: list[Declaration] = []
    line = 0
    while line < len(lines):
        holds = _declares(lines[line])
        if holds is None:
            line += 1
            continue
        body = _body(lines, line)
        end = _end(lines, widths, line, body)
        if end >= body:
            found.append(Declaration(_first(lines, line), body, end, holds))
        line = body if holds or end < body else end + 1
    return found


def _declares(line: str) -> bool | None:
    """Whether a declaration that begins here holds others; None if none begins."""
    if not line.strip() or len(line) > _LONGEST_LINE:
        return None
    if _HOLDER.match(line):
        return True
    if _FUNCTION.match(line):
        return False
    return False if _names_function(line) else None


def _names_function(line: str) -> bool:
    """Whether it reads ``type name(…``, as in C, Java and in classes of JavaScript, and is no call."""
    head, bracket, rest = line.partition("(")
    words = head.split()
    if not bracket or not 0 < len(words) <= _MOST_TYPES or _CONTROL.intersection(words):
        return False
    typed = len(words) > 1 or line.rstrip().endswith("{")
    ended = rest.rstrip().endswith(("{", ",", "(", ")", "const", "override")) or not rest.strip()
    return typed and ended and _NAME.fullmatch(words[-1]) is not None and all(map(_TYPE.fullmatch, words[:-1]))


def _first(lines: Sequence[str], line: int) -> int:
    """The first of the decorators, attributes or template lines above the line."""
    while line > 0 and _DECORATOR.match(lines[line - 1]):
        line -= 1
    return line


def _body(lines: Sequence[str], start: int) -> int:
    """The line behind the signature: behind its closing bracket, and behind a brace on a line of its own."""
    depth = 0
    line = start
    for line in range(start, min(start + _LONGEST_SIGNATURE, len(lines))):
        code = lines[line]
        depth += code.count("(") + code.count("[") - code.count(")") - code.count("]")
        if depth <= 0:
            break
    following = line + 1
    if following < len(lines) and lines[following].strip() == "{":
        following += 1
    return following


def _end(lines: Sequence[str], widths: Sequence[int | None], start: int, body: int) -> int:
    """The last line that is indented deeper than the first, with what closes it."""
    own = widths[start] or 0
    end = body - 1
    for line in range(body, len(lines)):
        width = widths[line]
        if width is None:
            continue
        if width <= own and not _LABEL.match(lines[line]):
            return line if width == own and _CLOSER.match(lines[line]) else end
        end = line
    return end


def _width(line: str) -> int | None:
    """The indentation in columns; None for a blank line."""
    code = line.lstrip()
    return len(line[: len(line) - len(code)].expandtabs(4)) if code else None
