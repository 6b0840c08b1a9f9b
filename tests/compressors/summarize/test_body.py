import pytest

from holdfast.compressors.summary_memory import Envelope, composed, parsed, shortened
from holdfast.compressors.writer import details_of


def words(text):
    return len(text.split())


def summary(count, texts, said=(), details=()):
    return Envelope(0, count - 1, count, "hash", texts=texts, said=said, details=details)


def parts(envelope):
    return envelope.count, envelope.texts, envelope.said, envelope.details


PARTS = summary(
    12, ("## Goal\nShip it.",), ("Please ship it\n\nby Friday.", "Thanks."), ("the order is ORD-7",)
)


def test_a_body_is_read_back_into_its_parts():
    assert parts(parsed(composed(PARTS, [], 200, words).body)) == parts(PARTS)


def test_a_text_of_another_form_is_one_text():
    text = "Somebody's own digest.\n- with a list"
    assert parts(parsed(text)) == (1, (text,), (), ())


def test_what_the_text_lacks_of_its_source_is_listed():
    source = details_of(
        ("assistant", "I wrote src/app.py and config/site.toml. All 117 tests pass.")
    )
    text = composed(summary(3, ("## Done\nWrote src/app.py.",)), source, 200, words).body
    assert "- All 117 tests pass." in text
    assert "config/site.toml" in text


@pytest.mark.parametrize("cap", [1, 5, 12, 20, 33, 60, 100])
def test_the_cap_holds_whatever_there_is_to_say(cap):
    said = tuple(f"Wish number {n} of the user, with some more words." for n in range(20))
    texts = tuple(f"## Done\n- Step {n} was done with care and with success." for n in range(20))
    source = details_of(
        ("assistant", " ".join(f"File part_{n}.py was written." for n in range(30)))
    )
    body = composed(
        summary(300, texts, said, tuple(f"detail {n}" for n in range(20))), source, cap, words
    )
    assert words(body.body) <= cap
    assert words(shortened(texts, cap, words)) <= cap


def test_what_must_be_outlives_what_merely_was():
    details = ("never call before 9:00", *(f"part_{n}.py was read" for n in range(30)))
    body = composed(summary(3, ("Text.",), (), details), [], 60, words)
    assert body.details[0] == "never call before 9:00"
    assert body.details[-1] == "part_29.py was read"
    assert len(body.details) < 20


def test_a_thousand_messages_are_counted_so_that_they_can_be_read_again():
    assert parsed(composed(summary(1_234, ("Text.",)), [], 100, words).body).count == 1_234
    assert "1 earlier message (" in composed(summary(1, ("Text.",)), [], 100, words).body
