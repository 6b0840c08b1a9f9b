from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.words import STOP_WORDS, passages_of, stem, terms, unfenced, words


@pytest.mark.parametrize(
    "forms",
    [
        "error errors",
        "fail failed fails failing failure failures",
        "retry retries retried retrying",
        "stop stopped stopping stops",
        "run running runs",
        "make makes making",
        "configure configured configuration configurations",
        "authenticate authenticated authentication",
        "connect connected connection connections",
        "deploy deployed deployment deployments",
        "approve approved approval",
        "class classes",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["station stat", "order error", "pass past", "node no", "use us"])
def test_different_words_keep_different_stems(pair):
    one, other = pair.split()
    assert stem(one) != stem(other)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_a_stem_begins_its_word(word):
    assert word.startswith(stem(word))


def test_words_are_lower_case_in_order_and_without_signs():
    assert words("The quick_brown Fox's 2 foxes!") == [
        "the",
        "quick",
        "brown",
        "fox",
        "s",
        "2",
        "foxes",
    ]


def test_scripts_without_spaces_give_pairs_of_characters():
    assert words("部署失败 ok") == ["部署", "署失", "失败", "ok"]


@pytest.mark.parametrize(
    "said", ["हिन्दी किताब", "বাংলা বই", "தமிழ் நூல்", "Mu\u0308ller cafe\u0301", "كِتَاب"]
)
def test_vowels_and_accents_beside_letters_are_parts_of_words(said):
    assert words(said) == unicodedata.normalize("NFC", said).lower().split()


def test_terms_leave_out_what_carries_no_meaning():
    assert terms("Why did the deployments of the service fail?") == ["deploy", "servic", "fail"]


@pytest.mark.parametrize("word", ["the", "und", "les", "para", "não", "della", "het"])
def test_stop_words_of_several_languages_are_known(word):
    assert word in STOP_WORDS


@given(st.text(alphabet="abcXYZ019_ .,-'…éÅß了解カタไทย", max_size=40))
@settings(deadline=None)
def test_the_quick_ways_find_the_same_words_as_the_thorough_one(text):
    assert words(text) == words(f"{text} é")[:-1]
    assert words(text) == words(f"{text} 了")[:-1]


@pytest.mark.parametrize(
    ("text", "material"),
    [
        ("Look:\n```\ntotal = 3\n```\nIs it right?", "```\ntotal = 3\n```"),
        ("The rest of a block:\n```\nIs it right?", ""),
        ("The rest:\n```\nNow this:\n```py\ntotal = 3\n```\nRight?", "```py\ntotal = 3\n```"),
        ("It breaks off here:\n```py\nThis is left of it", "```py\nThis is left of it"),
    ],
)
def test_a_mark_whose_block_was_cut_off_fences_nothing(text, material):
    assert "".join(passage for is_material, passage in passages_of(text) if is_material) == material


@pytest.mark.parametrize("fence", ["```", "````", "~~~~~"])
def test_a_fence_of_any_length_ends_before_what_is_said_behind_it(fence):
    text = f"Please fix this:\n{fence}md\n# How to\n{fence}\nKeep the name."
    assert [is_material for is_material, _ in passages_of(text)] == [False, True, False]
    assert unfenced(f"{fence}md\n# How to\n{fence}") == "# How to"


def test_a_longer_fence_holds_shorter_ones():
    block = "````md\n```python\nx = 1\n```\n````"
    assert passages_of(f"Fix this:\n{block}\nKeep it.")[1] == (True, block)
