"""Size and content of warm and cold forms: ``python -m benchmarks.tiers DIR`` with ``DIR/bench``.

Each scene of each dialogue is a segment. What is named is counted by a pattern of this file, not by
the library.
"""

import json
import re
import sys
from pathlib import Path
from statistics import mean, median
from time import process_time

from holdfast.memory import remembered
from holdfast.memory.forms import HEAVY, LIGHT, RuleCondenser
from holdfast.memory.tiers import by_time
from holdfast.memory.times import day_name
from holdfast.meter import meter_for

COUNT = meter_for(counter="o200k_base").text
BANDS = {LIGHT: ("warm", 3, 5), HEAVY: ("cold", 8, 15)}
NAMED = re.compile(
    r"https?://\S+"
    r"|(?<=[a-z,;] )(?!I\b)[A-Z][\w-]"
    r"*(?: [A-Z][\w-]*)*"  # not where a sentence begins: that says nothing
    r"|\b[A-Za-z]+[-_]?\d[\w-]*"
    r"|\d[\d.,:/-]*\d|\d"
)


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
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
