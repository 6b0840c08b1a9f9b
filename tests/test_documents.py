"""What the pages show, runs."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from benchmarks import content_table
from holdfast.cli import COMMANDS, main
from holdfast.cli.session import command as session
from holdfast.options import Options

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))
_BLOCK = re.compile(
    r"^```(python|console|text title=\"prints\")\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def commands(block: str) -> list[str]:
    """The lines that are typed; what stands between them is what they print."""
    return [line for line in block.splitlines() if line.startswith("$ ")]


def blocks(page: str, kind: str) -> list[str]:
    return [
        text for found, text in _BLOCK.findall((ROOT / page).read_text("utf-8")) if found == kind
    ]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said_by(page: str) -> str:
    """What the Python of the page prints, run from top to bottom."""
    said = io.StringIO()
    namespace: dict[str, object] = {}
    with contextlib.redirect_stdout(said):
        for block in blocks(page, "python"):
            exec(compile(block, page, "exec"), namespace)
    return said.getvalue()


def test_the_readme_is_one_screen_and_says_what_was_never_run():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= 700
    assert "never run" in text


def shape(line: str) -> str:
    """The line without its figures, which a better selection changes."""
    return re.sub(r"\d[\d,]*", "#", line.rstrip())


@pytest.mark.parametrize("page", [page for page in ["README.md", *PAGES] if blocks(page, "python")])
def test_the_python_of_each_page_runs_from_top_to_bottom_and_prints_what_the_page_says(clone, page):
    said = [shape(line) for line in said_by(page).splitlines()]
    for promised in blocks(page, 'text title="prints"'):
        lines = [shape(line) for line in promised.splitlines()]
        places = range(len(said) - len(lines) + 1)
        assert any(said[at : at + len(lines)] == lines for at in places), (promised, said)


def test_the_strategy_of_the_architecture_page_runs(clone):
    namespace: dict[str, object] = {}
    exec(blocks("ARCHITECTURE.md", "python")[0], namespace)
    plain = [
        {"role": "user", "content": word}
        for word in ("hello", "what is due? " * 50, "hi", "the rent " * 50, "when?")
    ]
    result = holdfast.compress(plain, 250, strategy=[namespace["DropGreetings"]()])
    assert [message["content"][:4] for message in result.messages] == ["what", "the ", "when"]


@pytest.mark.parametrize(
    "block",
    [block for page in ["README.md", *PAGES] for block in blocks(page, "console")],
)
def test_the_commands_of_the_pages_run_in_their_order(clone, block, capsys):
    for line in commands(block):
        command = shlex.split(line.removeprefix("$ "))
        if command[0] == "python":
            subprocess.run([sys.executable, *command[1:]], check=True)
            continue
        assert command[0] == "holdfast"
        assert main(command[1:]) == 0, line
        assert "Traceback" not in capsys.readouterr().err


def test_the_page_of_the_command_line_names_every_command():
    page = (ROOT / "docs/reference/command-line.md").read_text("utf-8")
    assert [each for each in [*COMMANDS.table, *session.commands] if f"`{each}`" not in page] == []


def test_the_site_is_built_with_every_page_in_its_navigation_and_no_broken_link(tmp_path):
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--quiet", "--site-dir"]
    built = subprocess.run(
        [*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    reference = (tmp_path / "reference" / "python.html").read_text("utf-8")
    for option in Options.__annotations__:
        assert f'id="holdfast.options.Options.{option}"' in reference


def test_the_recorded_conversations_are_valid_where_they_belong():
    for name, provider in (
        ("openai_failing_tests", "openai"),
        ("anthropic_slow_nightly", "anthropic"),
    ):
        payload = json.loads((ROOT / "examples" / f"{name}.json").read_text("utf-8"))
        assert holdfast.validate(payload, provider=provider) == []


def test_the_table_of_content_kinds_is_what_the_command_writes():
    assert (ROOT / "docs" / "content.md").read_text("utf-8") == content_table.page()
