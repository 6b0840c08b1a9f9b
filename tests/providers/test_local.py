"""Static vectors that come inside an installed package."""

import socket

import pytest

import holdfast
from holdfast.providers import local, open_embedder
from holdfast.providers.local import LocalEmbedder
from holdfast.text.similarity import cosine


def nearness(one, other):
    return cosine(*LocalEmbedder().embed([one, other]))


def test_texts_that_mean_the_same_are_near():
    assert nearness("I fixed the bug in the parser.", "The parser bug is fixed now.") > 0.85
    assert nearness("How do I reset my password?", "Where can I buy a hat?") < 0.4


def test_no_network_is_asked(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    local._tokenizer.cache_clear()
    local._vectors.cache_clear()
    assert len(open_embedder("local").embed(["hello"])[0]) == 256


@pytest.mark.parametrize("text", ["", "\ud800", "\x00", "a" * 100_000, "中文 " * 5_000])
def test_any_text_has_a_vector(text):
    assert len(LocalEmbedder().embed([text])[0]) == 256


def test_a_text_alone_and_among_others_has_one_vector():
    texts = ["one", "two and three", "", "four " * 5_000]
    embedder = LocalEmbedder()
    assert embedder.embed(texts) == [embedder.embed([text])[0] for text in texts]


def test_where_the_vectors_are_not_installed_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(local, "_PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(holdfast.MissingExtraError, match=r"holdfast\[local\]"):
        LocalEmbedder()
