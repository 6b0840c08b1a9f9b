"""Agent runs at several budgets: ``python -m benchmarks.runs FILE``, a JSON file of runs.

For each run and budget: within the budget, valid for OpenAI and, converted, for Anthropic; restored
exactly by another process from the JSON of the result; compressed again, unchanged. Ends with 1 if
one of these fails.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import holdfast
from holdfast.formats.convert import convert

SHARES = (0.25, 0.5, 0.75)
_RESTORE = """
import json, sys
from pathlib import Path
import holdfast
for path in sorted(Path(sys.argv[1]).glob("*.result.json")):
    whole = path.with_name(path.name.replace("result", "original"))
    original = json.loads(whole.read_text("utf-8"))
    restored = holdfast.restore(holdfast.CompressionResult.from_json(path.read_text("utf-8")))
    print(path.name.split(".")[0], restored == original)
"""


def budget_of(payload: Any, share: float, provider: str) -> int:
    """The system prompt and this share of the rest, in tokens."""
    counted = holdfast.count(payload, format=provider)
    system = sum(row.tokens for row in counted.messages if row.role == "system") + counted.overhead
    return system + int((counted.total - system) * share)


def checked(
    payload: Any, provider: str, share: float, profile: str, folder: Path, name: str
) -> Counter[str]:
    """What holds for one run at one budget; the restoring is left to another process."""
    budget = budget_of(payload, share, provider)
    result = holdfast.compress(payload, budget, format=provider, profile=profile)
    again = holdfast.compress(result.messages, budget, format=provider, profile=profile)
    (folder / f"{name}.original.json").write_text(json.dumps(payload), "utf-8")
    (folder / f"{name}.result.json").write_text(result.to_json(), "utf-8")
    return Counter(
        {
            "cases": 1,
            "within the budget": result.budget_met,
            "valid": not holdfast.validate(result.messages, provider=provider),
            "compressed": result.status == "compacted",
            "again unchanged": again.messages == result.messages,
        }
    )


def main(arguments: list[str]) -> int:
    """Check every run; print how often each law held."""
    if not arguments:
        print("runs: nothing was checked: name the JSON file of runs")
        return 2
    runs = json.loads(Path(arguments[0]).read_text("utf-8"))
    profile = arguments[1] if len(arguments) > 1 else "balanced"
    seen: Counter[str] = Counter()
    renamed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, run in enumerate(runs):
            body = convert(run, "anthropic", "openai_chat")
            renamed += bool(holdfast.validate(run, provider="openai") == [] and _reuses_ids(run))
            for share in SHARES:
                label = f"{number:03}-{int(100 * share)}"
                seen += checked(run, "openai", share, profile, folder, f"{label}-openai")
                seen += checked(body, "anthropic", share, profile, folder, f"{label}-anthropic")
        told = subprocess.run(
            [sys.executable, "-c", _RESTORE, name], capture_output=True, text=True, check=True
        )
    seen["restored exactly in another process"] = told.stdout.count(" True")
    print(
        f"{len(runs)} runs ({renamed} use a call id twice), {seen['cases']} cases, "
        f"profile {profile}"
    )
    laws = [law for law in seen if law not in ("cases", "compressed")]
    for law in [*laws, "compressed"]:
        print(f"  {law}: {seen[law]} of {seen['cases']}")
    return 0 if all(seen[law] == seen["cases"] for law in laws) else 1


def _reuses_ids(run: list[Any]) -> bool:
    ids = [call["id"] for message in run for call in message.get("tool_calls") or []]
    return len(ids) != len(set(ids))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
