"""Declarations of Python by its own parser."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .outline import Declaration

_LONGEST = 1_000_000  # characters; the standard parser takes about a second for so many


def declarations(lines: Sequence[str], language: str) -> list[Declaration] | None:
    """Every class and function outside of functions, or None if this is not Python that can be parsed."""
    source = "\n".join(lines)
    if language != "python" or len(source) > _LONGEST:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not Python, a NUL, nested too deeply
        return None
    found: list[Declaration] = []
    waiting: list[ast.stmt] = tree.body[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            found.append(_declared(node, lines, holds=True))
            waiting += node.body[::-1]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(_declared(node, lines, holds=False))
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting += node.body[::-1]
    return [one for one in found if one.body <= one.end]


def _declared(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str], *, holds: bool
) -> Declaration:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    body = node.body[0]
    row = min([body.lineno, *(decorator.lineno for decorator in getattr(body, "decorator_list", []))])
    line = lines[row - 1]
    own_line = len(line) - len(line.lstrip()) == body.col_offset
    last = node.end_lineno or node.lineno
    return Declaration(first - 1, row - 1 if own_line else row, last - 1, holds)
