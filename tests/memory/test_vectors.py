import numpy as np
import pytest

from holdfast.memory import remembered
from holdfast.memory.vectors import WordVectors
from tests.memory.talks import index_of, talk

GROUPS = ("dog hound beagle puppy", "boat ship vessel", "tea coffee drink")


class Groups:
    """An embedder whose words have one direction a group."""

    def __init__(self):
        self.asked = []

    def rows(self, words):
        self.asked += words
        rows = [[float(word in group.split()) for group in GROUPS] + [0.01] for word in words]
        return np.array(rows, np.float32)


SAID = ["I bought a hound.", "The vessel sank.", "Coffee is ready.", "?!"]


def filled(embedder):
    vectors = WordVectors(embedder)
    for at, text in enumerate(SAID):
        vectors.add(remembered(at, "user", text))
    return vectors


def test_a_message_is_found_by_what_its_words_mean():
    near = filled(Groups()).nearest("Which dog?", 4)
    assert max(near, key=near.get) == 0
    assert list(filled(Groups()).nearest("ship", 1)) == [1]


def test_a_word_is_embedded_once():
    embedder = Groups()
    vectors = filled(embedder)
    vectors.nearest("hound", 1)
    assert embedder.asked.count("hound") == 1


def test_meaning_finds_what_shares_no_word():
    messages = [remembered(at, "user", text) for at, text in enumerate(SAID)]
    assert index_of(messages, WordVectors(Groups())).search("Is there a ship?", 1)[0].position == 1
    assert index_of(talk(), WordVectors(Groups())).search("Which puppy?", 1)[0].position == 1


@pytest.mark.parametrize("question", ["", "the of and", "???"])
def test_a_question_without_meaning_finds_nothing(question):
    assert filled(Groups()).nearest(question, 3) == {}


def test_what_is_kept_as_bytes_finds_the_same_and_goes_on_growing():
    kept = WordVectors.from_bytes(Groups(), filled(Groups()).to_bytes())
    assert kept.nearest("dog", 4) == pytest.approx(filled(Groups()).nearest("dog", 4))
    kept.add(remembered(9, "user", "A puppy!"))
    assert 9 in kept.nearest("dog", 5)


def test_an_empty_memory_is_kept_too():
    kept = WordVectors.from_bytes(Groups(), WordVectors(Groups()).to_bytes())
    assert kept.nearest("dog", 4) == {}


def test_many_are_added_as_one_after_another():
    messages = [remembered(at, "user", text) for at, text in enumerate(SAID * 90)]
    together = WordVectors(Groups())
    together.add(*messages)
    apart = WordVectors(Groups())
    for message in messages:
        apart.add(message)
    assert together.to_bytes() == apart.to_bytes()
    assert together.nearest("dog", 400) == apart.nearest("dog", 400)


def test_words_of_several_messages_are_embedded_in_one_go():
    calls = []

    class Counting(Groups):
        def rows(self, words):
            calls.append(list(words))
            return super().rows(words)

    WordVectors(Counting()).add(*(remembered(at, "user", text) for at, text in enumerate(SAID)))
    assert calls == [["bought", "hound", "vessel", "sank", "coffee", "ready"]]
