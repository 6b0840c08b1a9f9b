"""Whether a cache stands before the models, and how many calls are under way at once, changes
no result.
"""

import asyncio

import pytest

import holdfast
from holdfast.calls.cache import CompressionCache
from holdfast.calls.lineup import CallLimits
from holdfast.compressors import COMPRESSORS
from holdfast.providers.scripted import Scripted
from tests.embedders import ScriptedEmbedder
from tests.stores.doubles import TextStore
from tests.talks import agent_run, chat, system

WRAPPERS = {"hybrid"}
"""It is nothing without other strategies."""


def history():
    """Turns that repeat one another, runs of tools, and facts: something for every strategy."""
    again = [message for _ in range(3) for message in chat(4, 40)]
    return [system("Be careful."), *again, *agent_run(6, 150)[1:], *chat(3, 40)]


def reply(prompt):
    return f"They looked at {sum(map(ord, prompt)) % 997} things and chose the second plan."


def vector(text):
    return [float(text.count(letter)) for letter in "aeiou0123456789"]


def fitted(name, *, cache, concurrency, door):
    options = {
        "strategy": [name, "trim"],
        "counter": "words",
        "llm": Scripted(reply),
        "embedder": ScriptedEmbedder(vector),
        "store": TextStore(),
        "secret": "a secret",
        "thread": "t",
        "cache": cache,
        "limits": CallLimits(concurrency=concurrency),
    }
    if door == "acompress":
        return asyncio.run(holdfast.acompress(history(), 400, **options))
    return holdfast.compress(history(), 400, **options)


@pytest.mark.parametrize("name", sorted(set(COMPRESSORS.table) - WRAPPERS))
def test_the_result_is_the_same_with_and_without_caches_alone_and_in_a_crowd(name):
    plain = fitted(name, cache=None, concurrency=1, door="compress")
    cache = CompressionCache()
    assert plain.budget_met
    for concurrency in (1, 16):
        for door in ("compress", "acompress"):
            for kept in (None, CompressionCache(), CompressionCache(0, 0), cache):
                assert fitted(name, cache=kept, concurrency=concurrency, door=door) == plain
    last = fitted(name, cache=cache, concurrency=16, door="compress").model_usage
    assert last.requests == 0
    if plain.model_usage.requests:
        assert last.cached > 0
