"""A session makes its views with the strategy, the model and the budget that it was given."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.calls.cache import CompressionCache
from holdfast.cost import Costs
from holdfast.providers.prices import Price
from holdfast.providers.scripted import Scripted
from holdfast.session import Session


def _filled(session, turns=40):
    session.append({"role": "system", "content": "Be brief."})
    for n in range(turns):
        session.append(
            {"role": "user", "content": f"Point {n}: what does ticket TKT-{n:03} ask of us? " * 3},
            {"role": "assistant", "content": f"Ticket TKT-{n:03} asks for a new label. " * 3},
        )
    session.append({"role": "user", "content": "And what is next?"})
    return session


@pytest.mark.parametrize("profile", ["quality", "tunacode"])
def test_the_model_of_a_session_reaches_its_profile(profile):
    model = Scripted("Notes by the model on labels.")
    session = _filled(Session("t", budget=1_500, profile=profile, llm=model))
    asked = len(model.calls)
    view = session.fit()
    assert "Notes by the model on labels." in str(view.messages)
    assert view.budget_met
    assert view.model_usage.requests == len(model.calls) - asked > 0
    assert view.metrics.tokens_after < view.metrics.tokens_before
    stats = session.stats()
    assert stats.model_requests == view.model_usage.requests
    assert stats.cache_hits == 0


def test_a_session_counts_as_its_profile_does():
    session = _filled(Session("t", budget=1_500, profile="tunacode"))
    assert session.stats().counter == "floor4"
    view = session.fit()
    assert view.tokens == holdfast.count(view.messages, counter="floor4").total
    with Session("u", budget=1_500, profile="tunacode", model="gpt-4o") as named:
        assert named.stats().counter == "o200k_base"


def test_the_cache_of_a_session_answers_for_its_model():
    cache, model = CompressionCache(), Scripted("Notes by the model on labels.")
    options = {"budget": 1_500, "strategy": ["summarizing", "trim"], "llm": model, "cache": cache}
    first = _filled(Session("t", **options))
    first.fit()
    second = _filled(Session("t", **options))
    second.fit()
    assert second.stats().cache_hits > 0


def test_a_session_takes_a_strategy():
    session = _filled(Session("t", budget=1_500, strategy=["sliding_window", "trim"]))
    view = session.fit()
    assert [step.name for step in view.result.steps] == ["sliding_window", "trim"]
    with pytest.raises(holdfast.ConfigError, match="no strategy named 'slding_window'"):
        Session("t", strategy="slding_window")


def test_a_model_that_fails_leaves_a_view_that_fits():
    model = Scripted(lambda _: holdfast.ModelError("out of luck"))
    session = _filled(Session("t", budget=1_500, strategy="summarizing", llm=model))
    view = session.fit()
    assert view.budget_met
    assert view.result.degraded


def test_a_view_is_made_anew_at_the_trigger_and_aims_at_the_target():
    budget = holdfast.Budget(limit=3_000, trigger=2_000, target=0.4)
    session = _filled(Session("t", budget=budget), 20)
    whole = session.fit()
    assert whole.reason == "everything_fits"
    sizes = []
    for n in range(60):
        session.append(
            {"role": "user", "content": f"Question {n} about labels and their colours? " * 3},
            {"role": "assistant", "content": f"Answer {n} about labels and their colours. " * 3},
        )
        view = session.fit()
        sizes.append((view.reason, view.tokens))
    assert all(tokens <= 2_000 for _, tokens in sizes)
    made = [tokens for reason, tokens in sizes if reason == "compacted"]
    assert made
    assert max(made) <= 1_200, made


def test_a_fit_writes_the_record_that_compress_writes(caplog):
    session = _filled(Session("t", budget=1_500))
    with caplog.at_level("DEBUG", logger="holdfast"):
        session.fit()
    assert [record.message for record in caplog.records].count("context compressed") == 1


def test_what_a_new_view_gains_is_in_a_log_record(caplog):
    costs = Costs(Price(3.0, cache_read=0.3))
    session = _filled(Session("t", budget=1_500, costs=costs))
    with caplog.at_level("INFO", logger="holdfast"):
        view = session.fit()
    told = [each.holdfast["net"] for each in caplog.records if each.message == "view made again"]
    assert told == [view.net.net]
    assert view.net.net == session.stats().net != 0
