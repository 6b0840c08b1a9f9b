"""What each rule does to one text."""

import pytest

from holdfast.compressors.rules import (
    shortened,
    without_fillers,
    without_phrases,
    without_repeats,
)

ALL = (without_fillers, without_repeats, shortened, without_phrases)

LONG = (
    "First things first. "
    + "This sentence is one of very many in the middle. " * 60
    + "That is all."
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Um, well, the plan works.", "The plan works."),
        ("So basically, um, we deploy on Friday.", "So basically, we deploy on Friday."),
        ("We, you know, deploy on Friday. Well, like, at noon.", "We deploy on Friday. At noon."),
        ("Um, uh, nuts, um, bolts and uh screws.", "Nuts, bolts and screws."),
        ("I mean, it works, you know.", "I mean, it works."),
        ("- um, well, first\n- um, second", "- first\n- second"),
    ],
)
def test_fillers_leave_a_transcript_of_speech(before, after):
    assert without_fillers(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "I like the well-known plan.\n\n1. Build",
        "Well, the plan works.",
        "It works well, and they like it.",
        "Let me think: do you know what they actually like?",
        "Um, well, run:\n```\num, well, x\n```",
        'Um, well: {"um": "uh", "like": "well"}',
        "Um, well, Error: um",
        "Um, well, map {um} to {uh}.",
        'Um, well, of "a" and "um", "um" is the word.',
        "I mean the drums, the album, and Uhland.",
    ],
)
def test_words_that_mean_something_stay(text):
    assert without_fillers(text) == text


def test_what_is_quoted_keeps_its_fillers():
    assert without_fillers('Um, well, she said "um, well, yes".') == 'She said "um, well, yes".'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Deploy it. Delete table users. Deploy it.", "Deploy it. [×2] Delete table users."),
        ("Deploy it. Deploy it. Deploy it.", "Deploy it. [×3]"),
        ("It is done.\n\nNow rest.\n\nit  is DONE!", "It is done. [×2]\n\nNow rest."),
        (
            "The build is green. The build is green. Ship it.\n",
            "The build is green. [×2] Ship it.\n",
        ),
    ],
)
def test_a_sentence_that_is_said_again_is_counted_where_it_came_first(before, after):
    assert without_repeats(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "Written by J. Smith. Read it. Written by J. Jones.",
        "## North\n- it is open\n\n## South\n- it is open\n",
        'The log says "It is down. It is down. It is down." and no more.',
        "```\nrun it now.\nrun it now.\n```",
        "> It is so.\n> It is so.\n",
        "a = b. Go.\na = b. Go.",
        "Yes. Yes. Yes.",
    ],
)
def test_lists_code_and_quotations_keep_their_repeats(text):
    assert without_repeats(text) == text


def test_a_verbose_text_keeps_its_first_and_its_last_sentence():
    assert shortened(LONG) == "First things first. ...[summarized 60 sentences]... That is all."


def test_one_endless_sentence_is_cut_between_two_words():
    cut = shortened("word " * 700)
    assert cut == ("word " * 320).rstrip() + "...[content capped for length]"


@pytest.mark.parametrize(
    "text",
    [
        LONG.replace("That is all.", "")[:2_000],
        LONG.replace("very many", 'very "many"'),
        LONG.replace("many in the middle. ", "many.\n```\ncode()\n```\n"),
        "One. " + "w " * 3_000 + "end. Three.",
        "x" * 5_000,
    ],
    ids=["short", "quoted", "code", "three sentences", "one word"],
)
def test_a_text_that_is_short_or_would_lose_code_or_quotations_stays_whole(text):
    assert shortened(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("As I mentioned before, the port is 8080.", "The port is 8080."),
        ("The port, like I said, is 8080.", "The port is 8080."),
        ("Again, use TLS. Once more, use it.", "Use TLS. Use it."),
        ("It is open, as previously stated.", "It is open."),
        ("To reiterate, iPhone sales fell.", "iPhone sales fell."),
    ],
)
def test_phrases_that_only_point_back_leave(before, after):
    assert without_phrases(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "Run it again, then stop.",
        "Do as I said before lunch.",
        "Try once more, please.",
        'He wrote "As I said, no".',
        "    As I said, code",
    ],
)
def test_again_and_as_i_said_stay_where_they_mean_something(text):
    assert without_phrases(text) == text


@pytest.mark.parametrize("rule", ALL)
@pytest.mark.parametrize(
    "unit", ["a", " ", '"', "“", "`", "{", "um, ", "um ", "Go A. ", "well, ", ", like", "0."]
)
def test_no_text_makes_a_rule_slow_or_longer_or_fail(rule, unit):
    assert len(rule(unit * (200_000 // len(unit)))) <= 200_000


@pytest.mark.parametrize("rule", ALL)
@pytest.mark.parametrize(
    "text", ["", "\ud800", "\x00", "well,", "um", ", like", "…", "\r\n\r\n", "[×2]"]
)
def test_odd_texts_come_back(rule, text):
    assert isinstance(rule(text), str)
