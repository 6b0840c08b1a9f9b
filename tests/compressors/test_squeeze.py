import pytest

import holdfast
from holdfast.compressors.squeeze import Squeeze
from holdfast.compressors.summaries import mark
from holdfast.kernel.errors import ModelError
from holdfast.providers.scripted import Scripted
from tests.formats.rules.messages import assistant, user
from tests.talks import summaries_of, system

LONG = "The order ORD-4711 was looked at. " + "It was looked at again and nothing was found. " * 20
TALK = [user("And now?"), assistant("Now we wait.")]


def squeezed(messages, model, cap=20, budget=1, **options):
    return holdfast.compress(
        messages, budget, strategy=Squeeze(cap), llm=model, counter="words", **options
    )


def test_summaries_over_the_cap_are_each_written_anew_where_they_stand():
    model = Scripted("It was looked at: ORD-4711.")
    marked = [user(mark(text, "user", "secret")) for text in (LONG, LONG + "More.")]
    given = [system("Be kind."), marked[0], *TALK, marked[1], *TALK]
    result = squeezed(given, model, secret="secret")
    assert len(model.calls) == 2
    assert [m == g for m, g in zip(result.messages, given, strict=True)] == [
        True,
        False,
        True,
        True,
        False,
        True,
        True,
    ]
    told = "It was looked at: ORD-4711."
    assert summaries_of(result.messages, secret="secret") == [
        None,
        told,
        None,
        None,
        told,
        None,
        None,
    ]
    assert holdfast.restore(result) == given


def test_exact_things_that_the_model_left_out_are_listed():
    result = squeezed([user(mark(LONG)), *TALK], Scripted("Something was looked at."), cap=40)
    assert "- The order ORD-4711 was looked at." in result.messages[0]["content"]


def test_what_is_listed_of_notes_says_who_said_it_and_what_failed():
    notes = "\n".join(
        [
            "Notes on the main points so far (… marks what is left out):",
            "What the user said:",
            "- Never restart prod-db-1.",
            "What was said and done, step by step:",
            "- assistant: I could not do it. I recommend eu-west-3 instead.",
            "- Maria: Take eu-north-7 then.",
            "- failed: run command: psql prod-db-2",
            "> failed: denied on prod-db-2",
            *["- assistant: It was looked at again and nothing was found."] * 20,
        ]
    )
    result = squeezed([user(mark(notes)), *TALK], Scripted("It was looked at."), cap=80)
    assert summaries_of(result.messages)[0].split("\n")[1:] == [
        "- Never restart prod-db-1.",
        "- assistant: I recommend eu-west-3 instead.",
        "- Maria: Take eu-north-7 then.",
        "- failed: run command: psql prod-db-2",
    ]


def test_within_the_cap_and_without_summaries_no_call_is_made():
    model = Scripted("never")
    for given in (
        [user(mark("Brief.")), *TALK],
        TALK,
        [user("Look: [HISTORY_SUMMARY]\n" + LONG), *TALK],
    ):
        assert squeezed(given, model).messages == given
    assert not model.calls


@pytest.mark.parametrize("reply", ["", ModelError("down"), "[summary unavailable]", LONG * 2])
def test_a_refused_reply_changes_nothing(reply):
    given = [user(mark(LONG)), *TALK]
    result = squeezed(given, Scripted(lambda _: reply))
    assert (result.messages, result.status, result.reason) == (
        given,
        "failed",
        "summarization_failed",
    )


def test_one_refused_reply_refuses_all():
    model = Scripted(["It was looked at: ORD-4711.", ""])
    given = [user(mark(LONG)), user(mark(LONG + "x")), *TALK]
    assert squeezed(given, model).messages == given


def test_without_a_model_it_is_skipped():
    result = squeezed([user(mark(LONG)), *TALK], None)
    assert result.steps[0].reason == "no_model"
    assert not result.degraded


def test_a_summary_that_is_as_short_as_it_can_be_asked_for_is_not_asked_for_again():
    llm = Scripted(["Identifiers: A-1", "Identifiers: B-2"])
    notes = [mark(f"Identifiers: {name} " + "words " * 30) for name in ("A-1", "B-2")]
    messages = [user(notes[0]), user("And then?"), user(notes[1]), assistant("Fine.")]
    result = holdfast.compress(messages, 1, strategy=Squeeze(14), llm=llm)
    assert (len(llm.calls), result.degraded) == (2, False)
