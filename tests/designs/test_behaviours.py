"""What the published designs promise in so many words, each run once from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

import holdfast
from holdfast.compressors.summary_memory import Envelope
from holdfast.compressors.window import SlidingWindow
from holdfast.compressors.writer import request
from holdfast.designs.llm4s import llm4s_history
from holdfast.kernel.typed import kept_as
from holdfast.memory.forms import HEAVY, RuleCondenser
from holdfast.memory.relevance import Context, Relevance, importances
from holdfast.memory.tiers import Segment, demote
from holdfast.providers.scripted import Scripted
from holdfast.session import Session
from tests.session.talks import chatter, turns
from tests.talks import agent_run, chat, system, user, words

PACKAGES = ("compressors", "formats", "stores", "providers", "calls", "memory", "session")


def test_the_protocols_load_no_strategy_no_store_and_no_model():
    code = "import sys, holdfast.kernel.compressor, holdfast.kernel.ports; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split() if name.startswith("holdfast.")}
    assert loaded.isdisjoint(PACKAGES)


def test_each_compressor_counts_by_its_own_counter():
    results = [
        holdfast.ContextCompressor(strategy="trim", counter=counter).compress_with_metrics(
            agent_run(9), 2_000
        )
        for counter in ("words", len)
    ]
    assert results[0].metrics.tokens_before < 2_000 < results[1].metrics.tokens_before
    assert [bool(result.edits) for result in results] == [False, True]
    assert results[1].metrics.tokens_after <= 2_000


def test_a_window_asks_neither_a_model_nor_an_embedder():
    model = Scripted("never")
    result = holdfast.compress(chat(9), 50, strategy="sliding_window", counter="words", llm=model)
    assert result.edits
    assert not model.calls
    assert result.model_usage.requests == 0


def test_a_single_message_in_the_window_stays_however_large():
    messages = [system("Be kind."), *chat(3), user(words(900))]
    result = holdfast.compress(messages, 100, strategy=SlidingWindow(window_size=1))
    assert result.messages == [messages[0], messages[-1]]


def test_a_summary_is_asked_for_by_what_must_not_be_lost():
    given = {"instructions": "", "messages": "| Hello."}
    prompt = request("summarize", 200, given).prompt.lower()
    for word in ("goal", "constraints", "preferences", "decisions", "outcome", "next", "files"):
        assert word in prompt


def test_the_record_of_a_summary_survives_json_and_nothing_else_is_taken_for_one():
    record = Envelope(2, 9, 8, "hash", "writer", ("A.", "B."), body="A. B.", made=5.5)
    assert kept_as(record.to_json(), Envelope) == record
    told = json.loads(record.to_json())
    for wrong in ({**told, "count": "8"}, {**told, "texts": "A."}, {"start": 2}, []):
        assert kept_as(json.dumps(wrong), Envelope) is None
    assert kept_as(None, Envelope) is None


def test_a_session_has_the_sizes_of_the_design():
    sizes = {name: tier.capacity for name, tier in Session("t").stats().tiers.items()}
    assert sizes == {"hot": 4_000, "warm": 16_000, "cold": 64_000}


def test_the_cold_form_is_told_with_its_entities_and_relations():
    said = "\n".join(message["content"] for message in turns(3))
    segment = Segment("s", said, 1.0, len(said.split()))
    cold = demote(segment, said, HEAVY, RuleCondenser(), lambda text: len(text.split()), 9.0)
    assert cold.metadata["compression_level"] == HEAVY
    assert {"Dana Reyes", "Lisbon"} <= set(cold.metadata["original_entities"])
    assert any("Dana Reyes" in relation for relation in cold.metadata["original_relationships"])
    assert cold.tokens < segment.tokens / 4


def test_importance_is_the_weighted_sum_of_the_factors():
    weights = Relevance.selective_compression()
    held = [Segment("a", "The cats of Dana Reyes", 0.0, 5), Segment("b", "Rain", 50.0, 1)]
    for each in importances(held, Context.of("My cats", "cats"), 100.0, weights):
        assert each.score == pytest.approx(sum(each.factors.values()))
    names = ("recency", "access", "semantic", "entity", "uniqueness", "query", "open_ends")
    plain = replace(weights, **dict.fromkeys(names, 1.0))
    told = [importances(held, Context.of("My cats", "cats"), 100.0, w) for w in (plain, weights)]
    for bare, weighed in zip(*told, strict=True):
        assert weighed.factors == pytest.approx(
            {name: getattr(weights, name) * bare.factors[name] for name in names}
        )


@pytest.mark.parametrize(("one", "share"), [("Cats and RAIN", 2 / 3), ("dogs", 0.0), ("", 0.0)])
def test_without_an_embedder_words_in_common_are_compared(one, share):
    (found,) = importances([Segment("a", one, 0.0, 1)], Context.of("cats rain snow"), 0.0)
    assert found.factors["semantic"] == pytest.approx(share * Relevance().semantic)


def test_a_digest_leaves_as_many_blocks_as_it_is_told_to():
    messages = [system("Be kind."), *chat(6)]
    whole = holdfast.compress(messages, 20, strategy=llm4s_history(99), counter="words")
    assert whole.messages == messages
    for blocks in (1, 3):
        result = holdfast.compress(messages, 20, strategy=llm4s_history(blocks), counter="words")
        assert result.messages[-2 * blocks :] == messages[-2 * blocks :]
        assert len(result.messages) == 2 + 2 * blocks


@pytest.mark.parametrize("redact", [False, True])
def test_a_digest_tells_what_somebody_said_of_himself_and_no_secret_that_is_masked(redact):
    secret = "sk-abcdefghijklmnop1234567890"
    said = f"My name is Alice and I am allergic to peanuts. Our key is api-key={secret}."
    messages = [system("Be kind."), user(said), *chatter(60)]
    result = holdfast.compress(messages, 600, profile="four_step", redact=redact)
    digest = result.messages[1]["content"]
    assert "My name is Alice and I am allergic to peanuts." in digest
    assert (secret in digest) is not redact


def test_the_four_steps_run_in_their_order_and_stop_when_the_budget_is_met():
    names = ["ToolDeterministicCompaction", "HistoryCompression"]
    names += ["LLMHistorySqueeze", "FinalTokenTrim"]
    messages = [system("Be kind."), *chat(40)]
    for budget in (900, 150):
        result = holdfast.compress(messages, budget, profile="four_step", counter="words")
        assert [step.name for step in result.steps] == names
        met = [step.after <= result.limit for step in result.steps]
        applied = [step.applied for step in result.steps]
        assert result.budget_met
        assert not any(applied[met.index(True) + 1 :])
