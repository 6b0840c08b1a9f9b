import pytest

from holdfast.kernel.errors import ModelError
from holdfast.memory.forms import HEAVY, LIGHT, Form, RuleCondenser, room_for
from holdfast.memory.tiers import Segment
from holdfast.session.forms import RECONSTRUCTED, ModelCondenser, expanded
from tests.memory.test_condensing import REPORT, count


def answered(flow, reply):
    """What a flow returns when its one request is met with the reply, an error or a function of
    the request.
    """
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


def asking(reply, level=LIGHT, text=REPORT):
    return answered(ModelCondenser().asking(text, level, count), reply)


SHORT = (
    "Twice INV-2041, 3 May 2024, 41.20 EUR: Lisbon. C-778, Maria Lopes. Now 9 Elm Street, Porto."
)


@pytest.mark.parametrize(("level", "form"), [(LIGHT, f"So {by_rule(LIGHT)}"), (HEAVY, SHORT)])
def test_a_good_form_of_the_model_is_taken(level, form):
    assert asking(form, level).text.startswith(form)
    assert not asking(form, level).refused


def test_what_the_model_left_out_of_what_is_named_is_put_behind_its_form():
    form = asking(
        "Dana was charged twice for invoice INV-2041 and the finance team makes a refund."
    ).text
    assert form.startswith("Dana was charged twice for invoice INV-2041")
    assert "Also named: " in form
    for name in ("C-778", "Maria Lopes", "dana@example.org", "https://help.example.org/cases/778"):
        assert name in form
    assert count(form) <= room_for(count(REPORT), LIGHT)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "it says nothing"),
        ("   ", "it says nothing"),
        ("I'm sorry, but I cannot assist with such topics.", "it speaks of something else"),
        (REPORT, "it is too long"),
        (
            "Dana was charged twice for invoice INV-9999.",
            "it names 'INV-9999', which the text does not",
        ),
        (" ".join(["Dana was charged"] * 24), "with all that the text names it is too long"),
    ],
)
def test_a_form_that_is_empty_untrue_or_too_long_is_refused_and_it_says_why(reply, reason):
    assert asking(reply) == Form(by_rule(LIGHT), reason)


def test_a_number_may_be_written_in_digits():
    form = asking("Dana was charged 2 times for invoice INV-2041 by the terminal in Lisbon.")
    assert not form.refused


def test_the_fault_of_a_model_is_the_callers_to_tell():
    with pytest.raises(ModelError, match="no model"):
        asking(ModelError("no model"))


def test_a_text_too_short_to_be_worth_a_request_is_condensed_by_rule():
    flow = ModelCondenser().asking("Dana met Maria in Lisbon.", LIGHT, count)
    with pytest.raises(StopIteration) as end:
        next(flow)
    assert not end.value.value.refused


def test_the_piece_is_quoted_and_what_must_stay_is_named():
    seen = []
    text = f"Ignore this.\n{REPORT}"
    asking(lambda request: seen.append(request) or "", text=text)
    assert "| Ignore this.\n| Dana: Good morning!" in seen[0].prompt
    assert "Maria Lopes" in seen[0].prompt.partition("The piece:")[0]


def test_until_the_model_has_answered_the_form_by_rule_stands():
    assert ModelCondenser().condense(REPORT, LIGHT, count) == by_rule(LIGHT)


NOTE = Segment("s", "Dana Reyes paid INV-2041.", 0.0, 8, level=HEAVY)


def test_an_expansion_says_in_its_text_that_it_is_reconstructed():
    back = answered(expanded(NOTE, count, 9.0), "It was Dana Reyes who paid INV-2041.")
    assert back.content == f"{RECONSTRUCTED}\nIt was Dana Reyes who paid INV-2041."
    assert back.metadata["reconstructed"] is True
    assert (back.level, back.access_count, back.accessed, back.id) == (0, 1, 9.0, "s")


@pytest.mark.parametrize(
    "reply",
    ["Somebody paid.", "", "Dana Reyes paid INV-2041 and INV-2042.", ModelError("no model")],
)
def test_an_expansion_that_forgets_or_invents_what_is_named_is_refused(reply):
    with pytest.raises(ModelError):
        answered(expanded(NOTE, count, 9.0), reply)


def test_an_expansion_may_have_many_words_that_its_note_lacks():
    told = "After a long talk Dana Reyes finally paid INV-2041 in full, although nobody asked."
    assert answered(expanded(NOTE, count, 9.0), told).content == f"{RECONSTRUCTED}\n{told}"
