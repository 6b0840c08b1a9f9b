"""Prices have a source and a day; a compaction is worth what it saves, less what it costs."""

import json

import pytest

import holdfast
from holdfast import CallLimits, ConfigError
from holdfast.cli import main
from holdfast.cost import net_of, result_net
from holdfast.providers.prices import Price, price_list, price_of
from holdfast.providers.scripted import Scripted
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


def test_where_the_price_is_not_known_a_limit_of_cost_lets_no_call_out():
    told = summarised(lambda prompt: "A summary.", 1.0).model_usage
    assert (told.requests, "its price is not known" in told.calls[0].fault) == (0, True)


@pytest.mark.parametrize("most", [-1, True, "1", float("inf")])
def test_a_limit_of_cost_is_a_number_of_dollars(most):
    with pytest.raises(
        ConfigError, match=r"CallLimits\.max_cost: .* is not a number of US dollars"
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
    assert "nothing is kept under 'nobodys' in the price list" in capsys.readouterr().err
