"""Vectors that need nothing installed."""

import subprocess
import sys

import pytest

from holdfast.providers import open_embedder
from holdfast.providers.lexical import LexicalEmbedder
from holdfast.text.similarity import cosine


def nearness(one, other):
    return cosine(*LexicalEmbedder().embed([one, other]))


def test_texts_with_the_same_words_are_near_and_others_are_not():
    text = "The disk of the build worker was full, so the nightly build failed."
    assert (
        nearness(text, "So the nightly build failed: the disk of the build worker was full!") > 0.95
    )
    assert nearness(text, "Please book a table for two on Saturday evening.") < 0.3


def test_forms_of_a_word_are_nearer_than_other_words():
    assert nearness("retrying connections", "retried connection") > nearness(
        "retrying connections", "open socket"
    )


def test_words_that_mean_little_weigh_little():
    assert nearness("the worker is on the disk", "a worker was at a disk") > 0.85


def test_scripts_without_spaces_are_read_in_pairs():
    assert nearness("磁盘已满，构建失败", "构建失败，因为磁盘已满") > 0.6


@pytest.mark.parametrize("text", ["", "   ", "…!?"])
def test_a_text_without_words_has_no_direction(text):
    assert not any(LexicalEmbedder().embed([text])[0])


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "a" * 300_000, "a b " * 100_000, "中" * 100_000, "1." * 100_000]
)
def test_any_text_has_a_vector(text):
    assert len(LexicalEmbedder().embed([text])[0]) == 512


def test_it_is_opened_by_name():
    assert open_embedder("lexical").name == "lexical-512"


def test_vectors_are_the_same_in_every_process():
    code = (
        "from holdfast.providers.lexical import *; print(LexicalEmbedder().embed(['Retry "
        "the build.']))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
