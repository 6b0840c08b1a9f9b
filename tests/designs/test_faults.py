"""What a result says of what could not be done, and how a budget is met all the same."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import holdfast
from holdfast.cli import app
from holdfast.compressors.prune import PLACEHOLDER, Prune
from holdfast.compressors.rank import Hierarchical
from holdfast.http import Budgets, Fitter
from holdfast.kernel.errors import ModelError, StoreError
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore

TALK = [
    {"role": ("user", "assistant")[n % 2], "content": f"Point {n} of the plan is this. " * 20}
    for n in range(21)
]


class _Broken(InProcessStore):
    def get(self, key):
        raise StoreError("the disk is gone")

    def set(self, key, value):
        raise StoreError("the disk is gone")


def _failing():
    return Scripted(lambda _: ModelError("out of luck"))


def test_a_strategy_alone_that_does_nothing_says_itself_why():
    result = holdfast.compress(TALK, 1_000, strategy="summarizing")
    assert (result.status, result.reason) == ("skipped", "no_model")
    assert result.detail.startswith("no model was given; pass llm=; ")
    assert "no step removes more" not in result.detail


@pytest.mark.parametrize(
    "chosen",
    [
        {"strategy": "summarizing"},
        {"strategy": ["summarizing", "squeeze"]},
        {"strategy": "mofa_summarizing"},
        {"profile": "mofa_summarizing", "counter": "o200k_base"},
    ],
)
def test_where_a_summary_fails_a_trim_meets_the_budget_if_asked(chosen):
    options = {**chosen, "llm": _failing()}
    left = holdfast.compress(TALK, 1_000, **options)
    assert (left.budget_met, left.degraded) == (False, True)
    fitted = holdfast.compress(TALK, 1_000, **options, on_failure="fit")
    assert (fitted.budget_met, fitted.degraded) == (True, True)
    assert fitted.steps[-1].name == "trim"
    assert fitted.messages[-1] == TALK[-1]
    assert holdfast.restore(fitted) == TALK


def test_a_window_that_was_given_stays_exact_where_nothing_failed():
    result = holdfast.compress(TALK, 300, strategy="sliding_window", on_failure="fit")
    assert [step.name for step in result.steps] == ["sliding_window"]


def test_the_command_line_fits_where_a_summary_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.calls.lineup.open_model", lambda _: _failing())
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps(TALK))
    asked = ["compress", str(talk), "--budget", "1000", "--strategy", "summarizing"]
    done = CliRunner().invoke(app, [*asked, "--llm", "openai:any"])
    assert done.exit_code == 0, done.output
    assert holdfast.count(json.loads(done.stdout)).total <= 1_000
    monkeypatch.setenv("HOLDFAST_ON_FAILURE", "degrade")
    assert CliRunner().invoke(app, [*asked, "--llm", "openai:any"]).exit_code == 1


def test_every_request_is_fitted_where_a_summary_fails():
    raw = json.dumps({"model": "gpt-4o", "messages": TALK}).encode()
    fitter = Fitter(Budgets("1k"), {"strategy": "summarizing", "llm": _failing()})
    fitted = fitter.fit("/v1/chat/completions", raw)
    assert holdfast.count(json.loads(fitted.body), model="gpt-4o").total <= 1_000
    assert fitted.result.degraded


def test_condensing_calls_that_all_fail_make_the_result_degraded():
    strategy = Hierarchical(keep_recent=1, condense_above=0.0)
    result = holdfast.compress(TALK, 700, strategy=strategy, llm=_failing())
    assert result.status == "compacted"
    assert "could not be condensed" in result.steps[0].detail
    assert result.degraded
    assert result.detail.count("out of luck") == 1


@pytest.mark.parametrize("profile", ["balanced", "four_step"])
def test_a_store_that_fails_makes_the_result_degraded(profile):
    result = holdfast.compress(TALK, 1_000, profile=profile, store=_Broken())
    assert result.budget_met
    assert result.degraded
    assert result.detail == "the disk is gone"


def _agent_run():
    for n in range(4):
        yield {"role": "user", "content": "Read on."}
        function = {"name": "read_file", "arguments": "{}"}
        call = {"id": f"c{n}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} of many\n" * 2_000}
    yield {"role": "user", "content": "Go on."}


def test_outputs_are_told_by_a_model_in_the_list_itself_and_their_originals_kept():
    messages, store = list(_agent_run()), InProcessStore()
    first = messages[2]["content"]
    done = holdfast.prune_old_tool_outputs(
        messages,
        prune=Prune(protect_tokens=5_000, minimum_tokens=500, summary_tokens=200),
        llm=Scripted("The file has many lines."),
        store=store,
    )
    assert done.messages is messages
    told = messages[2]["content"]
    assert "The file has many lines." in told
    (key,) = re.findall(r"original: (\S+) ", told)
    assert holdfast.recall(key, store=store) == first
    assert done.reclaimed > 5_000
    done.undo()
    assert messages == list(_agent_run())


def test_in_the_list_itself_a_placeholder_names_the_original_that_a_store_keeps():
    messages, store = list(_agent_run()), InProcessStore()
    first = messages[2]["content"]
    done = holdfast.prune_old_tool_outputs(
        messages, prune=Prune(protect_tokens=5_000, minimum_tokens=500), store=store
    )
    told, reference = messages[2]["content"].split("\n")
    assert told == PLACEHOLDER
    key = reference.removeprefix("[original: ").split()[0]
    assert holdfast.recall(key, store=store) == first
    assert done.reclaimed > 5_000
