"""What is settled before a strategy is asked."""

import pytest

import holdfast
from tests.talks import chat, settled


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
