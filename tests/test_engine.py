"""What is settled before a strategy is asked."""

import asyncio

import pytest

import holdfast
from holdfast.stores.in_process import InProcessStore
from tests.talks import agent_run, chat, settled


def profile(folder, text):
    file = folder / "mine.toml"
    file.write_text(f'name = "mine"\n{text}\n[[steps]]\nstrategy = "trim"\n')
    return str(file)


def test_the_headroom_of_a_profile_stays_free_unless_the_budget_states_its_own(tmp_path):
    mine = profile(tmp_path, "headroom = 0.25")
    assert settled(chat(), 100, profile=mine)[1].limit == 75
    assert settled(chat(), holdfast.Budget(limit=100, headroom=0.1), profile=mine)[1].limit == 90
    assert settled(chat(), 100)[1].limit == 100


def test_nobody_writes_and_nothing_is_opened_where_a_conversation_fits():
    _, allowance = settled(chat(), 100_000, llm="scripted:fine")
    assert (allowance.writer, allowance.writer_window) == ("", 0)
    _, allowance = settled(chat(), 100, llm="scripted:fine")
    assert allowance.writer == "scripted"


@pytest.mark.parametrize(
    "wrong", [{"cache": {}}, {"limits": 3}, {"thread": 7}, {"llm": 7}, {"embedder": "nobody:x"}]
)
def test_an_option_of_the_wrong_kind_is_told_with_its_name(wrong):
    with pytest.raises(holdfast.ConfigError, match=next(iter(wrong))):
        holdfast.compress(chat(), 100_000, **wrong)


ASKING = {"strategy": ["shrink", "summarizing", "trim"], "llm": "extractive"}


@pytest.mark.parametrize(
    "options", [{}, {"profile": "economy"}, ASKING], ids=["rules", "economy", "asking"]
)
def test_one_at_a_time_awaited_and_many_at_once_give_equal_results(options):
    talks = [chat(40), agent_run(12)]

    def fresh():
        return {"counter": "words", "store": InProcessStore(), "secret": "of the test", **options}

    async def awaited():
        return [await holdfast.acompress(talk, 250, **fresh()) for talk in talks]

    alone = [holdfast.compress(talk, 250, **fresh()) for talk in talks]
    assert all(result.budget_met for result in alone)
    assert asyncio.run(awaited()) == alone
    assert holdfast.compress_many(talks, 250, **fresh()) == alone
    assert asyncio.run(holdfast.acompress_many(talks, 250, **fresh())) == alone
