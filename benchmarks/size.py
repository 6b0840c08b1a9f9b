"""How large the library is: ``python -m benchmarks.size [DIR]``, by default ``src/holdfast``.

No formatting changes these figures: names, operators, numbers and strings are counted as
``tokenize`` sees them; docstrings of modules, classes and functions are left out, and so are
comments, line ends and indents. Figures to be compared are made with one Python: from 3.12 on an
f-string is several tokens.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
HERE = Path(__file__).resolve().parents[1] / "src" / "holdfast"
WIDTH = 100
SHELVES = 12
"""How many packages are told, the largest first."""


@dataclass
class Size:
    """What was counted, of one module or of all."""

    tokens: int = 0
    patterns: int = 0
    numbers: int = 0
    characters: int = 0
    classes: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts that document a module, a class or a function."""
    for node in ast.walk(tree):
        first = node.body[0] if isinstance(node, DOCUMENTED) and node.body else None
        text = first.value if isinstance(first, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield text


def size_of(path: Path) -> Size:
    """What a module holds."""
    tree = ast.parse(path.read_text("utf-8"))
    aside = list(docstrings(tree))
    places = {(text.lineno, text.col_offset) for text in aside}
    with path.open("rb") as lines:
        tokens = list(tokenize.tokenize(lines.readline))
    told = [token for token in tokens if token.type in COUNTED]
    nodes = list(ast.walk(tree))
    documented = {id(text) for text in aside}
    constants = [node for node in nodes if isinstance(node, ast.Constant)]
    texts = [node.value for node in constants if id(node) not in documented]
    return Size(
        tokens=sum(token.start not in places for token in told),
        patterns=sum(isinstance(node, ast.Call) and compiles(node.func) for node in nodes),
        numbers=sum(holds_a_number(node) for node in tree.body),
        characters=sum(len(text) for text in texts if isinstance(text, str | bytes)),
        classes=[node.name for node in nodes if isinstance(node, ast.ClassDef)],
        bare=list(bare_numbers(tree, {token.start[0] for token in tokens if is_comment(token)})),
    )


def is_comment(token: tokenize.TokenInfo) -> bool:
    """Whether the token is a comment for people, and not for a tool."""
    of_a_tool = token.string.startswith(("# noqa:", "# type:", "# pyright:"))
    return token.type == tokenize.COMMENT and not of_a_tool


def bare_numbers(tree: ast.Module, comments: set[int]) -> Iterator[str]:
    """The constants of a module with a number but without a comment or a docstring.

    ``comments`` are the lines that have one. It may stand above, behind, or between the lines.
    """
    ended = 0  # the last line of the statement before
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        first, last = max(node.lineno - 1, ended + 1), node.end_lineno or node.lineno
        commented = any(line in comments for line in range(first, last + 1))
        if holds_a_number(node) and not commented and not is_text(after):
            yield ast.unparse(node).partition("=")[0].partition(":")[0].strip()
        ended = last


def is_text(node: ast.stmt | None) -> bool:
    """Whether a statement is a text alone, as the docstring of a constant is."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def compiles(called: ast.expr) -> bool:
    """Whether this is ``re.compile`` or ``re2.compile``, wherever it is called."""
    return (
        isinstance(called, ast.Attribute)
        and called.attr == "compile"
        and isinstance(called.value, ast.Name)
        and called.value.id in {"re", "re2"}
    )


def holds_a_number(node: ast.stmt) -> bool:
    """Whether a statement of a module binds a name to something with a number in it."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    constants = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
    return any(type(value) in (int, float) for value in constants)


def main(arguments: list[str]) -> int:
    """Print the figures; 2 where there is no package."""
    package = Path(arguments[0]) if arguments else HERE
    modules = sorted(package.rglob("*.py"))
    if not modules:
        print(f"size: {package}: there is no Python here; name the folder of a package")
        return 2
    sizes = {path.relative_to(package): size_of(path) for path in modules}
    held = sizes.values()
    others = [path for path in package.rglob("*") if path.is_file()]
    data = [path for path in others if path.suffix not in {".py", ".pyc"}]
    names = Counter(name for size in held for name in size.classes)
    twice = sorted(name for name, count in names.items() if count > 1)
    gerunds = sorted(str(path.with_suffix("")) for path in sizes if path.stem.endswith("ing"))
    shelves: Counter[str] = Counter()
    for path, size in sizes.items():
        shelves[path.parts[0] if len(path.parts) > 1 else "(beside)"] += size.tokens
    bare = [f"{path}: {name}" for path, size in sizes.items() for name in size.bare]
    rows = [
        ("Python tokens", sum(size.tokens for size in held)),
        ("files", len(sizes)),
        ("compiled patterns", sum(size.patterns for size in held)),
        ("numeric constants of modules", sum(size.numbers for size in held)),
        ("characters of string literals", sum(size.characters for size in held)),
        ("data files", len(data)),
        ("characters of data files", sum(len(path.read_text("utf-8")) for path in data)),
        ("class names defined twice", len(twice)),
        ("modules in -ing", len(gerunds)),
    ]
    for label, count in rows:
        print(f"{label:32} {count:>9,}")
    largest = [f"{name} {count:,}" for name, count in shelves.most_common(SHELVES)]
    listed("tokens by package", largest)
    listed("class names defined twice", twice)
    listed("modules in -ing", gerunds)
    listed("numeric constants without a comment", bare)
    return 0


def listed(label: str, names: Sequence[str]) -> None:
    """Print names in lines of 100 columns."""
    print(f"\n{label}:")
    told = ", ".join(names) or "none"
    print(textwrap.fill(told, WIDTH, initial_indent="  ", subsequent_indent="  "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
