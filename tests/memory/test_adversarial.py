import pytest

from holdfast.memory import pack, remembered
from holdfast.memory.entities import entities, relations
from holdfast.memory.facts import facts_in
from holdfast.memory.forms import LIGHT, RuleCondenser
from holdfast.memory.tiers import at_topic_shifts
from holdfast.memory.times import moment, period
from holdfast.text.importance import has_importance_marker
from tests.memory.talks import index_of
from tests.text.adversarial import LARGE

MORE = {
    "names": "Aa Bb " * 20_000,
    "may": "in may " * 40_000,
    "not": "not a " * 50_000,
    "numbers": "1 May " * 40_000,
    "markers": "key" * 40_000,
    "roles": "User: " * 40_000,
}


def count(text):
    return len(text) // 4


@pytest.mark.parametrize("text", [*LARGE.values(), *MORE.values()], ids=[*LARGE, *MORE])
def test_no_text_takes_for_ever(text):
    text = text[:100_000]
    message = remembered(0, "user", text)
    assert index_of([message]).search(text, 1)
    assert pack([0], {0: message}, 100, count) is not None
    assert moment(text) is None or period(text, 0.0) is not None
    assert isinstance(has_importance_marker(text), bool)
    assert len(entities(text)) <= 15
    assert len(relations(text)) <= 10
    assert isinstance(facts_in(message), list)
    assert "".join(at_topic_shifts(text, 1_000, count)) == text
    assert count(RuleCondenser().condense(text, LIGHT, count)) <= count(text)
