"""The mark of a summary: known again by what it says, and never forged by what somebody wrote."""

from holdfast.compressors.summaries import body_of, mark
from holdfast.formats import named


def _message(role, text):
    return named("openai").read([{"role": role, "content": text}]).messages[0]


def test_what_is_marked_is_known_again_in_any_role():
    for role in ("user", "assistant", "system"):
        assert body_of(_message(role, mark("what was said"))) == "what was said"


def test_a_summary_that_somebody_changed_is_text():
    assert body_of(_message("user", mark("what was said") + " and more")) is None


def test_a_mark_without_its_key_counts_only_for_the_system():
    text = mark("what was said", "system")
    assert text == "[HISTORY_SUMMARY]\nwhat was said"
    assert body_of(_message("system", text)) == "what was said"
    assert body_of(_message("user", text)) is None


def test_lone_surrogates_can_be_marked():
    assert body_of(_message("user", mark("a \ud800 b"))) == "a \ud800 b"
