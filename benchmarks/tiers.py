"""Size and content of warm and cold forms: ``python -m benchmarks.tiers DIR`` with ``DIR/bench``.

Each scene of each dialogue is a segment, and each turn of each recorded run. What is named, counted
and decided there is found by patterns of this file, not by the library.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any

from holdfast.memory import remembered
from holdfast.memory.forms import HEAVY, LIGHT, RuleCondenser
from holdfast.memory.tiers import TierSizes, by_time, split
from holdfast.memory.times import day_name
from holdfast.session import Session
from holdfast.session.turns import TurnCondenser, events_in, opening
from holdfast.tokens import meter_for

from .quality.bench import kinds, recorded

COUNT = meter_for(counter="o200k_base").text
BANDS = {LIGHT: ("warm", 3, 5), HEAVY: ("cold", 8, 15)}
NAMED = re.compile(
    r"https?://\S+"
    r"|(?<=[a-z,;] )(?!I\b)[A-Z][\w-]"
    r"*(?: [A-Z][\w-]*)*"  # not where a sentence begins: that says nothing
    r"|\b[A-Za-z]+[-_]?\d[\w-]*"
    r"|\d[\d.,:/-]*\d|\d"
)


SAID = {
    "names": re.compile(
        r"(?<=[a-z,;] )(?!I\b)[A-Z][\w-]*(?: [A-Z][\w-]*)*|\b[A-Z]+-\d+\b|\b[a-z]+_\w+"
    ),
    "amounts": re.compile(
        r"(?<![\w:+-])\d\d:\d\d(?![\w:])"  # no part of a timestamp
        r"|\d[\d.,]*(?:%| (?:[KMG]iB|s|minutes|hours|days|chunks|files|hosts|issues|tests)\b)"
    ),
    "decisions": re.compile(r"[^.\n]*\b(?:decided|agreed|resolved)\b[^.\n]*"),
}
_PIECE = 2_800  # tokens of a turn that is split, as in a session with a hot tier of 4,000
_FENCED = re.compile(
    r"^[ \t]*```[^\n]*\n.*?(?:^[ \t]*```[ \t]*$|\Z)|<(tool-use|think)\b.*?(?:</\1>|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PROSE = re.compile(r"^(?![ \t]*\d+(?:→|\t)).*(?:[a-z']+ ){3}.*$", re.MULTILINE)


def pieces(messages: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """The turns as the hot tier holds them, long ones split, and what is said in each."""
    sizes = TierSizes(hot=1_000_000)
    with Session("t", tiers=sizes, vectors=False, counter="o200k_base") as session:
        session.append(*messages)
        turns = session.tiers().hot
    for turn in turns:
        for piece in split(turn, _PIECE, COUNT):
            start, end = piece.span or (0, len(turn.content))
            text = opening(turn.content, start, end) + piece.content
            events = events_in(text)
            fenced = len(re.findall(r"^[ \t]*```", turn.content[:start], re.MULTILINE)) % 2
            words = [each.text for each in events or () if each.function == "words"]
            said = "\n".join(words) if events is not None else "```\n" * fenced + text
            yield text, "\n".join(_PROSE.findall(_FENCED.sub("", said)))


def shares(texts: Iterable[tuple[str, str]], level: int) -> tuple[dict[str, list[bool]], float]:
    """Of each kind of what is said, whether the forms at the level keep it; and their factor."""
    kept: defaultdict[str, list[bool]] = defaultdict(list)
    whole = short = 0
    for text, said in texts:
        form = TurnCondenser().condense(text, level, COUNT)
        whole, short = whole + COUNT(text), short + COUNT(form)
        for kind, pattern in SAID.items():
            kept[kind] += [_is_kept(kind, one, form) for one in set(pattern.findall(said))]
    return kept, whole / max(1, short)


def _is_kept(kind: str, said: str, form: str) -> bool:
    words = set(re.findall(r"\w+", said.lower())) if kind == "decisions" else set[str]()
    return said in form or sum(word in form.lower() for word in words) >= 0.8 * len(words) > 0


def runs(folder: Path) -> None:
    """Print what the forms of each kind of recorded run keep of what was said."""
    for kind in kinds(folder):
        ends = {"role": "user", "content": "Go on."}  # so that the last turn is finished
        found = [
            each for run in recorded(folder, kind) for each in pieces([*run["messages"], ends])
        ]
        for level, (name, _, _) in BANDS.items():
            kept, factor = shares(found, level)
            told = [f"{mean(all_):.3f} of {len(all_)} {one}" for one, all_ in kept.items() if all_]
            print(f"{name}: {kind}: {factor:.1f}:1, kept " + (", ".join(told) or "nothing said"))


def scenes(cases: Path) -> list[str]:
    """The text of each scene of each dialogue, under its day."""
    dialogues = {
        case["id"].rpartition("-")[0]: case["messages"]
        for case in map(json.loads, cases.read_text("utf-8").splitlines())
    }
    found: list[str] = []
    for messages in dialogues.values():
        said = [
            remembered(at, each["role"], each["content"])
            for at, each in enumerate(messages)
            if each["role"] != "system"
        ]
        for scene in by_time(said):
            day = f"[{day_name(scene[0].said)}]\n" if scene[0].said is not None else ""
            found.append(day + "\n".join(message.told for message in scene))
    return found


def main(arguments: list[str]) -> int:
    """Print both tiers; 2 if the benchmark is not where it was said to be."""
    cases = Path(arguments[0] if arguments else ".") / "bench" / "cases.locomo.jsonl"
    if not cases.is_file():
        print(f"tiers: {cases}: there is no such file; name the folder that holds bench/")
        return 2
    texts = scenes(cases)
    for level, (name, least, most) in BANDS.items():
        started = process_time()
        forms = [RuleCondenser().condense(text, level, COUNT) for text in texts]
        seconds = process_time() - started
        factors = [COUNT(text) / COUNT(form) for text, form in zip(texts, forms, strict=True)]
        named = [set(NAMED.findall(text)) for text in texts]
        kept = [
            sum(one in form for one in found) / len(found)
            for found, form in zip(named, forms, strict=True)
            if found
        ]
        inside = mean(least <= factor <= most for factor in factors)
        print(
            f"{name}: {len(texts)} segments, {mean(factors):.1f}:1 (median {median(factors):.1f}, "
            f"{min(factors):.1f} to {max(factors):.1f}), {inside:.0%} within {least}:1 "
            f"to {most}:1, "
            f"{mean(kept):.3f} of what is named is kept, {1_000 * seconds / len(texts):.1f} ms each"
        )
    runs(cases.parents[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
