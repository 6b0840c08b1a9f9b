"""Each design's main scenario, as its example runs it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "designs"
TOLD = {
    "mofa": ["mofa_hybrid ['sliding_window']", " -> ", "10 messages, "],
    "slimcontext": [" calls for 30 turns; the thread is 'release'", "Summary of "],
    "tunacode": [" outputs cleared, ", "the same list: True"],
    "selective_compression": ["in the view: True", "tokens: True everything kept: 121"],
    "llm4s": ["HistoryCompression: ", "[HISTORY_SUMMARY] True True"],
}


def test_each_design_has_its_example():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_the_example_of_a_design_runs(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    lines = capsys.readouterr().out.splitlines()
    assert [said for said in TOLD[name] if not any(said in line for line in lines)] == []
