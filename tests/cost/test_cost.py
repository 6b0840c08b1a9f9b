"""Prices have a source and a day; a compaction is worth what it saves, less what it costs."""

import json
import re
from collections import Counter

import pytest

import holdfast
from holdfast import CallLimits, ConfigError
from holdfast.cli import main
from holdfast.cost import Costs, net_of, result_net
from holdfast.providers.openai import OpenAIModel
from holdfast.providers.prices import Price, price_list, price_of
from holdfast.providers.scripted import Scripted
from tests.properties.laws import draw
from tests.talks import agent_run

PRICE = Price(3.0, 15.0, cache_read=0.3)


def test_the_list_says_who_keeps_it_and_of_which_day_it_is():
    assert price_list().source.startswith("genai-prices ")
    assert price_list().date >= "2026-11-01"
    assert {each.vendor for each in price_list().models} == {"anthropic", "google", "openai"}


def test_a_price_knows_what_the_prompt_cache_takes():
    assert price_of(None, "anthropic:claude-sonnet-4-5").cache_read == pytest.approx(0.3)


def test_net_is_what_is_not_sent_less_the_lost_discount_and_what_summaries_cost():
    net = net_of(100_000, 20_000, PRICE, cached=90_000, shared=10_000, spent=0.02)
    assert net.saved == pytest.approx(80_000 * 3.0 / 1e6)
    assert net.lost == pytest.approx(80_000 * 2.7 / 1e6)
    assert net.net == pytest.approx(0.24 - 0.216 - 0.02)
    assert net.over(3) == pytest.approx(net.net + 2 * 80_000 * 0.3 / 1e6)


def test_net_is_the_difference_of_the_two_bills():
    before, after, cached, shared = 50_000, 30_000, 45_000, 5_000

    def bill(tokens, held):
        return (held * 0.3 + (tokens - held) * 3.0) / 1e6

    net = net_of(before, after, PRICE, cached=cached, shared=shared)
    assert net.net == pytest.approx(bill(before, cached) - bill(after, shared))
    assert net.net < 0
    assert net.calls > 1
    assert net.over(int(net.calls)) >= 0 > net.over(int(net.calls) - 1)


def test_what_saves_nothing_never_pays_for_itself():
    assert net_of(100, 100, PRICE, spent=0.01).calls == float("inf")
    assert net_of(100, 50, PRICE).calls == 1


def test_the_net_of_a_result_counts_the_beginning_that_stayed():
    talk = agent_run(9)
    result = holdfast.compress(talk, 300, model="gpt-4o")
    plain = result_net(result, "gpt-4o")
    assert plain.net == pytest.approx(result.metrics.tokens_saved * 2.5 / 1e6)
    warm = result_net(result, "gpt-4o", cached=result.metrics.tokens_before)
    assert 0 < warm.lost < result.metrics.tokens_before * 1.25 / 1e6
    assert result_net(result, "somebodys-own") is None


def summarised(model, most):
    return holdfast.compress(
        agent_run(9),
        300,
        strategy=["summarizing", "trim"],
        llm=model,
        limits=CallLimits(max_cost=most),
    )


class Priced(Scripted):
    price = Price(1_000.0, 1_000.0)


def test_a_call_that_may_cost_more_than_is_left_is_not_made():
    model = Priced("They looked into the matter.")
    result = summarised(model, 0.0001)
    assert result.degraded
    assert result.model_usage.requests == 0
    assert "max_cost" in result.model_usage.calls[0].fault
    assert summarised(Priced("They looked into the matter."), 50.0).model_usage.requests > 0


def test_what_a_model_may_think_counts_for_the_limit():
    price = Price(0.0, 1_000.0)
    model = OpenAIModel("gpt-5-mini", base_url="http://127.0.0.1:9", price=price)
    (call,) = summarised(model, 1.0).model_usage.calls
    assert "the call may cost 4." in call.fault, "of 4,096 tokens that it may think"


def test_where_the_price_is_not_known_a_limit_of_cost_lets_no_call_out():
    told = summarised(lambda prompt: "A summary.", 1.0).model_usage
    assert (told.requests, "its price is not known" in told.calls[0].fault) == (0, True)


@pytest.mark.parametrize("most", [-1, True, "1", float("inf")])
def test_a_limit_of_cost_is_a_number_of_dollars(most):
    with pytest.raises(
        ConfigError, match=r"CallLimits\.max_cost: .* does not belong here; give a number"
    ):
        CallLimits(max_cost=most)


def test_prices_are_listed_with_source_and_day(capsys):
    assert main(["prices", "gpt-4o"]) == 0
    said = capsys.readouterr()
    assert said.out.split() == ["gpt-4o", "2.5", "10", "1.25"]
    assert price_list().date in said.err
    assert main(["prices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]["gpt-4o"]["input"] == 2.5
    assert main(["prices", "nobodys"]) == 2
    assert "there is no 'nobodys' in the price list; check the name" in capsys.readouterr().err


OWN = """\
["my-model"]
input = 1.5
output = 2
cache_read = 0.5
"""
WIDE = holdfast.Budget(2_500, trigger=0.7)
"""The talk below is between its trigger and its limit."""


def test_between_trigger_and_limit_a_warm_cache_is_worth_more_than_a_compaction():
    talk = agent_run(9)
    assert 1_750 < holdfast.count(talk).total < 2_500
    waits = holdfast.compress(talk, WIDE, costs=Costs(PRICE, calls=2))
    assert waits.messages == talk
    assert (waits.status, waits.reason) == ("skipped", "cheaper_to_wait")
    assert "2 that are expected" in waits.detail
    assert [step.reason for step in waits.steps] == ["cheaper_to_wait"] * 2


@pytest.mark.parametrize(
    "costs",
    [Costs(PRICE, calls=2, idle=301), Costs(PRICE, calls=500), Costs(Price(3.0), calls=1)],
    ids=["the cache has let go", "many calls are expected", "the vendor has no cache"],
)
def test_it_is_compacted_where_that_pays(costs):
    result = holdfast.compress(agent_run(9), WIDE, costs=costs)
    assert result.status == "compacted"
    assert result.tokens <= 1_750


def test_generated_conversations_wait_until_so_many_calls_are_expected_that_compacting_pays():
    seen = Counter()
    for number in range(60):
        drawn = draw(number)
        size = holdfast.count(drawn.payload, format=drawn.form).total

        def fitted(calls, limit=size, idle=0.0, drawn=drawn):
            budget = holdfast.Budget(limit, trigger=0.6)
            costs = Costs(PRICE, calls=calls, idle=idle)
            return holdfast.compress(drawn.payload, budget, costs=costs, format=drawn.form)

        now = fitted(1)
        seen[now.reason == "cheaper_to_wait"] += 1
        if now.reason != "cheaper_to_wait":
            assert now.status == "compacted"
            continue
        pays = int(re.search(r"only with call (\d+)", now.detail)[1])
        for waits in (now, fitted(pays - 1)):
            assert (waits.reason, waits.messages) == ("cheaper_to_wait", drawn.payload)
        for other in (fitted(pays), fitted(1, idle=301), fitted(1, limit=size - 1)):
            assert (other.status, other.tokens < size) == ("compacted", True)
    assert min(seen[True], seen[False]) >= 5


def test_over_the_limit_nothing_waits_and_without_being_asked_nothing_does():
    talk = agent_run(9)
    assert holdfast.compress(talk, 300, costs=Costs(PRICE, calls=1)).budget_met
    assert holdfast.compress(talk, WIDE, model="claude-sonnet-4-5").status == "compacted"


@pytest.mark.parametrize("profile", ["auto", "cost_optimized"])
def test_a_profile_goes_by_cost_where_the_price_is_known(profile):
    talk = agent_run(9)
    told = holdfast.compress(talk, WIDE, profile=profile, model="claude-sonnet-4-5")
    assert told.reason == "cheaper_to_wait"
    assert holdfast.compress(talk, WIDE, profile=profile).status == "compacted"


def test_a_price_that_nobody_knows_is_asked_for():
    with pytest.raises(ConfigError, match="Costs\\(price="):
        holdfast.compress(agent_run(3), 300, model="gpt-4o-but-mine", costs=Costs())
    with pytest.raises(ConfigError, match="Costs.calls"):
        Costs(calls=-1)


def test_a_result_tells_its_net_in_json_report_and_log_record(caplog):
    talk = agent_run(9)
    with caplog.at_level("INFO", "holdfast"):
        result = holdfast.compress(talk, 300, costs=Costs(PRICE, cached=0))
    assert result.net.net == pytest.approx(result.metrics.tokens_saved * 3.0 / 1e6)
    assert caplog.records[-1].holdfast["net"] == result.net.net
    assert "net: saved 0.00" in result.report()
    assert "net: saved 0.00" in result.report(form="html")
    assert holdfast.CompressionResult.from_json(result.to_json()).net == result.net
    assert holdfast.compress(talk, 300).net is None


def test_a_session_waits_while_its_view_is_cached_and_compacts_when_it_is_not():
    now = [1_000.0]
    budget = holdfast.Budget(2_000, trigger=0.3, target=0.3)
    run = agent_run(60)
    reasons = {}
    for pause in (1.0, 400.0):
        with holdfast.Session(
            "t", budget=budget, costs=Costs(PRICE, calls=2), vectors=False, clock=lambda: now[0]
        ) as session:
            reasons[pause] = []
            for message in run[:16]:
                now[0] += pause
                session.append(message)
                if message["role"] != "assistant":
                    view = session.fit()
                    assert view.budget_met
                    reasons[pause].append(view.reason)
            stats = session.stats()
            assert stats.net == pytest.approx(
                sum(event.facts.get("net", 0) for event in session.history())
            )
            assert (stats.waited > 0) == (pause < 300)
            assert ("new views saved $" in session.report()) == (stats.net != 0)
    assert "compacted" not in reasons[1.0]
    assert "compacted" in reasons[400.0]


def test_a_persons_own_prices_hold_before_the_list(tmp_path, monkeypatch, capsys):
    file = tmp_path / "prices.toml"
    file.write_text(OWN)
    assert main(["prices", "my-model", "--file", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["models"]["my-model"]["cache_read"] == 0.5
    assert str(file) in told["source"]
    assert main(["prices", "my-model"]) == 2
    monkeypatch.setenv("HOLDFAST_PRICES", str(file))
    result = holdfast.compress(
        agent_run(9), 300, counter="o200k_base", costs=Costs(cached=0), model="my-model"
    )
    assert result.net.net == pytest.approx(result.metrics.tokens_saved * 1.5 / 1e6)


@pytest.mark.parametrize("name", ["llama3:8b", "meta-llama/Llama-3-70b", "mine"])
@pytest.mark.parametrize("before", ["", "openrouter/", "ollama:"])
def test_a_model_of_ones_own_prices_may_have_any_name(name, before, tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text(f'["{name}"]\ninput = 7\n')
    assert price_of(None, f"{before}{name}", price_list(file)) == Price(7.0)
    assert price_of(None, f"{before}not-{name}", price_list(file)) is None


@pytest.mark.parametrize("said", ["inputs = 1", "output = 1", "input = -1", 'input = "1"'])
def test_what_is_no_price_is_told_with_its_line(said, tmp_path, capsys):
    file = tmp_path / "prices.toml"
    file.write_text(f"[mine]\n{said}\n")
    assert main(["prices", "--file", str(file)]) == 2
    assert f"{file}:1" in capsys.readouterr().err


def test_costs_stand_in_a_configuration_file(tmp_path):
    file = tmp_path / "holdfast.toml"
    file.write_text('profile = "auto"\n[costs]\ncalls = 3\nidle = 400.0\n')
    assert holdfast.load_config(file).options["costs"] == Costs(calls=3, idle=400.0)
