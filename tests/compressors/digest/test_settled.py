"""A digest is made once: what it becomes on a wire, and in a row of strategies, is known again as one."""

import holdfast
from holdfast.compressors.digest import Digest, llm4s_history
from holdfast.compressors.summaries import body_of
from holdfast.formats import named
from tests.formats.rules.messages import assistant, user


def talk(turns=8):
    return [
        (user, assistant)[i % 2](f"In step {i} we moved order W{26113400 + i} to depot {i}. " * 4)
        for i in range(2 * turns)
    ]


def test_where_the_system_has_no_voice_among_the_messages_the_digest_of_the_preset_is_known_again():
    result = holdfast.compress(talk(), 200, strategy=llm4s_history(1), format="anthropic")
    first = named("anthropic").read(result.messages).messages[0]
    assert first.role == "user"
    assert "W26113403" in body_of(first)
    again = holdfast.compress(result.messages, 150, strategy=llm4s_history(1), format="anthropic")
    assert again.messages == result.messages


def test_a_digest_that_a_step_before_has_made_is_folded_as_one_that_is_handed_back():
    for form in ("openai_chat", "anthropic", "plain"):
        options = {"format": form, "counter": "words"}
        first = holdfast.compress(talk(), 150, strategy=Digest(keep_blocks=2), **options).messages
        apart = holdfast.compress(first, 60, strategy=Digest(), **options).messages
        assert (
            holdfast.compress(talk(), 60, strategy=[Digest(keep_blocks=2), Digest()], **options).messages == apart
        )


def test_notes_alone_are_not_folded_again_however_often_it_is_tried():
    for wanted in (0.3, 60, 1.0):
        strategy = Digest(keep_blocks=2, max_tokens=wanted)
        once = holdfast.compress(talk(), 20, strategy=strategy, counter="words").messages
        assert holdfast.compress(once, 20, strategy=strategy, counter="words").messages == once
        assert sum(step.applied for step in holdfast.compress(talk(), 20, strategy=strategy).steps) == 1
