"""Record the example conversations again: python examples/record.py [STORY ...].

A story (stories/*.toml) says what the user and the assistant say and which tools are called. The
commands are run in a fresh checkout of its sample project (projects/*.mbox, a git history as
patches), and what they print is recorded. Needs Python 3.11 and git. The same story gives the same
bytes each time.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from forms import FORMS, Call, Turn
from workbench import ToolError, Workbench, workbench

if TYPE_CHECKING:
    from typing import Any

HERE = Path(__file__).parent


class StoryError(Exception):
    """The commands no longer do what the story says."""


def record(path: Path) -> Path:
    """Play one story and write its conversation."""
    story = tomllib.loads(path.read_text(encoding="utf-8"))
    with workbench(story["project"], story["clock"]) as bench:
        for command in story.get("before", []):
            bench.run(command)
        turns = [_play(turn, bench) for turn in story["turn"]]
    _expect(story["facts"], turns)
    conversation = FORMS[story["form"]](story["system"].strip(), turns)
    target = HERE / f"{story['form']}_{path.stem}.json"
    text = json.dumps(conversation, indent=1, ensure_ascii=False)
    target.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return target


def _play(turn: dict[str, Any], bench: Workbench) -> Turn:
    if "user" in turn:
        return Turn("user", _paste(turn["user"].strip(), bench))
    calls = tuple(_call(dict(call), bench) for call in turn.get("call", []))
    return Turn("assistant", turn.get("text", "").strip(), turn.get("thinking", "").strip(), calls)


def _paste(text: str, bench: Workbench) -> str:
    """Run each line that starts with a dollar, and put its output below it."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(line)
        if line.startswith("$ "):
            output, _ = bench.execute(line.removeprefix("$ "))
            lines += [output.rstrip("\n")] if output else []
    return "\n".join(lines)


def _call(arguments: dict[str, Any], bench: Workbench) -> Call:
    tool = arguments.pop("tool")
    fails = arguments.pop("fails", False)
    try:
        call = Call(tool, arguments, getattr(bench, tool)(**arguments), failed=False)
    except ToolError as error:
        call = Call(tool, arguments, str(error), failed=True)
    if call.failed is not fails:
        raise StoryError(
            f"{tool} {arguments}: {'failed' if call.failed else 'worked'}\n{call.output}"
        )
    return call


def _expect(facts: list[str], turns: list[Turn]) -> None:
    """Refuse a story whose facts neither the user nor a command says."""
    given = [turn.text for turn in turns if turn.role == "user"]
    given += [call.output for turn in turns for call in turn.calls]
    lost = [fact for fact in facts if not any(fact in text for text in given)]
    if lost:
        raise StoryError(f"neither the user nor a command says: {', '.join(lost)}")


def main(names: list[str]) -> None:
    for story in sorted((HERE / "stories").glob("*.toml")):
        if not names or story.stem in names:
            print(record(story).relative_to(HERE.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
