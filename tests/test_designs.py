"""The page that says what became of each name of the five designs: every name is there, and
does what it says.
"""

import ast
import inspect
import json
import re
from collections import Counter
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import get_args

import click
import pytest

from holdfast.cli import app
from holdfast.compressors import COMPRESSORS
from holdfast.formats import FORMATS
from holdfast.kernel.compressor import described
from holdfast.kernel.errors import HoldfastError
from holdfast.profiles import load_profile, read_step
from holdfast.providers import EMBEDDERS, MODELS
from holdfast.stores import STORES
from holdfast.tokens import COUNTERS

PAGE = Path(__file__).parents[1] / "docs" / "designs.md"
BEHAVIOURS = {"M": 44, "S": 24, "T": 24, "V": 24, "L": 32, "R": 24}
"""How many numbered behaviours each design has; R are the resolutions of what they contradict
each other in.
"""

SHOWN = "\n## Shown by these tests\n"
"""From here on the page names tests."""

_BEHAVIOUR = re.compile(r"([MSTVLR])\.(\d+)")
_COLUMN = re.compile(r"(?<!\\)\|")
_PLACE = re.compile(
    r"(?P<module>holdfast(?:\.\w+)*)?:(?P<what>.*?)(?: = (?P<value>.+))?", re.DOTALL
)
_CHOICE = re.compile(r'(?P<option>\w+)="(?P<name>[^"]+)"')
_CHOICES = {
    "strategy": COMPRESSORS.load,
    "counter": COUNTERS.load,
    "format": FORMATS.load,
    "store": STORES.load,
    "llm": MODELS.load,
    "embedder": EMBEDDERS.load,
    "profile": load_profile,
}


def rows():
    """Label, what the design names, and what it is here, of each row of each table."""
    named_here = PAGE.read_text("utf-8").partition(SHOWN)[0]
    for line, below in pairwise([*named_here.splitlines(), ""]):
        if line.startswith("| ") and not {line[:5], below[:5]} & {"| ---"}:
            label, named, here = (
                cell.strip().replace("\\|", "|") for cell in _COLUMN.split(line[1:-1])
            )
            yield label, named, here


def names(here):
    return re.findall(r"`([^`]+)`", here)


def check(here):
    """Look every name of a cell up; what the last one stands for. Raises where one is not what
    the cell says.
    """
    module, found = "", None
    for name in names(here):
        if choice := _CHOICE.fullmatch(name):
            _CHOICES[choice["option"]](choice["name"])
        elif name.startswith("holdfast "):
            check_command(name.split()[1:])
        elif place := _PLACE.fullmatch(name):
            module = place["module"] or module
            found = seen(import_module(module), ast.parse(place["what"], mode="eval").body)
            if place["value"] is not None:
                found = get_args(found) or found
                assert found == ast.literal_eval(place["value"]), f"{name}: it is {found!r}"
        else:
            raise LookupError(f"{name} is not a name that can be looked up")
    return found


def seen(module, node):
    """What an expression of names, attributes, items and calls with literals stands for."""
    match node:
        case ast.Name(name):
            return getattr(module, name)
        case ast.Attribute(whole, name):
            return part(seen(module, whole), name)
        case ast.Subscript(whole, index):
            return seen(module, whole)[ast.literal_eval(index)]
        case ast.Call(called, arguments, keywords):
            knobs = {each.arg: ast.literal_eval(each.value) for each in keywords}
            return seen(module, called)(*map(ast.literal_eval, arguments), **knobs)
    raise LookupError(f"{ast.unparse(node)} is not a name")


def part(owner, name):
    """An attribute; of a dataclass the default of its field, of a function or a class that of
    its parameter.
    """
    if inspect.isclass(owner) and is_dataclass(owner):
        for field in fields(owner):
            if field.name == name:
                return (
                    field.default_factory()
                    if field.default_factory is not MISSING
                    else field.default
                )
    if hasattr(owner, name):
        return getattr(owner, name)
    parameters = inspect.signature(owner).parameters
    if name not in parameters:
        raise LookupError(f"{owner!r} has no {name!r}")
    return parameters[name].default


def check_command(words):
    command = app
    for word in words:
        if word.startswith("-"):
            assert any(word in option.opts for option in command.params), (
                f"there is no option {word}"
            )
        else:
            command = command.get_command(click.Context(command), word)
            assert command is not None, f"there is no command {word}"


@pytest.mark.parametrize(
    "here", [pytest.param(here, id=f"{label}: {named}") for label, named, here in rows()]
)
def test_what_the_page_names_is_there(here):
    check(here)


def test_every_behaviour_of_every_design_has_its_row():
    told = Counter(label for label, _, _ in rows())
    asked = {
        f"{design}.{number}" for design, most in BEHAVIOURS.items() for number in range(1, most + 1)
    }
    assert asked - told.keys() == set()
    assert {label for label in told if _BEHAVIOUR.fullmatch(label)} - asked == set()


def test_a_row_names_something_here_or_says_why_there_is_nothing():
    for label, named, here in rows():
        assert named, label
        assert names(here) or here.startswith(("not here: ", "not here yet: ")), f"{label}: {here}"


@pytest.mark.parametrize(
    "wrong",
    [
        "`holdfast.compressors.squash:Squash`",
        "`holdfast.compressors.trim:Trimm`",
        "`holdfast.compressors.trim:Trim.keep_turns`",
        "`holdfast.compressors.trim:Trim.keep_recent = 2`",
        "`holdfast.compressors.trim:Trim(keep_turns=2)`",
        "`holdfast:compress.budgets`",
        '`strategy="squash"`',
        '`profile="squash"`',
        "`holdfast squash`",
        "`holdfast compress --squash`",
        "`squash`",
    ],
)
def test_a_wrong_name_or_a_wrong_constant_is_found(wrong):
    with pytest.raises(
        (ImportError, AttributeError, LookupError, AssertionError, TypeError, HoldfastError)
    ):
        check(wrong)


@pytest.mark.parametrize("name", sorted(COMPRESSORS.table.keys() - {"hybrid"}))
def test_the_description_of_a_strategy_goes_through_json_and_makes_it_again(name):
    strategy = COMPRESSORS.load(name)()
    assert read_step(json.loads(json.dumps(described(strategy))), name) == strategy


FAULTS = {"M": 12, "S": 11, "T": 9, "V": 10, "L": 14}
"""How many shortcomings were found in the code of each design."""


def shown():
    """For each number of the page the tests that are named for it."""
    told = PAGE.read_text("utf-8").partition(SHOWN)[2].partition("\n## ")[0]
    rows = [_COLUMN.split(line)[1:-1] for line in told.splitlines() if line.startswith("| ")]
    return {row[0].strip(): row[-1].strip().split("; ") for row in rows}


def test_each_behaviour_and_each_shortcoming_is_shown_by_tests_that_are_there():
    found = shown()
    behaviours = {
        f"{design}.{n}"
        for design, most in BEHAVIOURS.items()
        if design != "R"
        for n in range(1, most + 1)
    }
    faults = {f"{design} {n}" for design, most in FAULTS.items() for n in range(1, most + 1)}
    assert behaviours | faults <= found.keys()
    there = {
        f"{path.stem.removeprefix('test_')}: {node.name.removeprefix('test_').replace('_', ' ')}"
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    named = {test for number in behaviours | faults for test in found[number]}
    assert named <= there, sorted(named - there)
