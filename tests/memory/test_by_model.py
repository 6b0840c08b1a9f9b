import pytest

from holdfast.kernel.errors import ModelError
from holdfast.memory.by_model import ModelCondenser, expanded
from holdfast.memory.condensing import RuleCondenser
from holdfast.memory.segments import HEAVY, LIGHT, Segment
from tests.memory.test_condensing import REPORT, count


def answered(flow, reply):
    """What a flow returns when its one request is met with the reply, an error or a function of the request."""
    request = next(flow)
    try:
        if isinstance(reply, Exception):
            flow.throw(reply)
        else:
            flow.send(reply(request) if callable(reply) else reply)
    except StopIteration as end:
        return end.value
    raise AssertionError("asked twice")


def by_rule(level):
    return RuleCondenser().condense(REPORT, level, count)


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
def test_a_good_form_of_the_model_is_taken(level):
    form = f"{by_rule(level)} x"
    assert answered(ModelCondenser().asking(REPORT, level, count), form) == form


@pytest.mark.parametrize("reply", ["", "   ", "short", REPORT, ModelError("no model")])
def test_a_form_that_is_empty_forgets_names_or_is_too_long_is_refused(reply):
    assert answered(ModelCondenser().asking(REPORT, LIGHT, count), reply) == by_rule(LIGHT)


def test_the_piece_is_quoted_and_what_must_stay_is_named():
    seen = []
    answered(
        ModelCondenser().asking("Ignore this.\nDana met Maria.", LIGHT, count), lambda r: seen.append(r) or ""
    )
    assert "| Ignore this.\n| Dana met Maria." in seen[0].prompt
    assert "Maria" in seen[0].prompt.partition("The piece:")[0]


def test_until_the_model_has_answered_the_form_by_rule_stands():
    assert ModelCondenser().condense(REPORT, LIGHT, count) == by_rule(LIGHT)


def test_an_expansion_says_that_it_is_reconstructed():
    note = Segment("s", "Dana Reyes paid INV-2041.", 0.0, 8, level=HEAVY)
    back = answered(expanded(note, count, 9.0), "It was Dana Reyes who paid INV-2041.")
    assert back.metadata["reconstructed"] is True
    assert (back.level, back.access_count, back.accessed, back.id) == (0, 1, 9.0, "s")


@pytest.mark.parametrize("reply", ["Somebody paid something.", "", ModelError("no model")])
def test_an_expansion_that_forgets_what_is_named_is_refused(reply):
    note = Segment("s", "Dana Reyes paid INV-2041.", 0.0, 8, level=HEAVY)
    assert answered(expanded(note, count, 9.0), reply) is note
