"""The operations on the cache of embeddings and summaries."""

from __future__ import annotations

from typing import Any

from holdfast.calls.cache import CompressionCache, content_key
from tests.conformance.outcome import Outcome


def cached_by_script(given: Any, params: dict[str, Any]) -> Outcome:
    """``cache_script``: put and get in order, then what is there by key, on both caches alike."""
    del given
    cache = CompressionCache(params["capacity"], params["capacity"])
    for name, key, *value in params["script"]:
        if name == "put":
            cache.store_summary(key, "model", value[0])
            cache.store_embedding(key, "model", [float(value[0])])
        else:
            cache.get_summary(key, "model")
            cache.get_embedding(key, "model")
    figures = cache.statistics()
    assert figures.embeddings == figures.summaries
    keys = dict.fromkeys(key for _, key, *_ in params["script"])
    found = {key: cache.get_summary(key, "model") for key in keys}
    stats = {"size": figures.summaries.size, "capacity": figures.summaries.capacity}
    return Outcome(facts={"value": found, "stats": stats})


def key_of_content(given: Any, params: dict[str, Any]) -> Outcome:
    """``content_key``."""
    del given
    return Outcome(facts={"value": content_key(params["text"])})


CACHE_OPERATIONS = {"cache_script": cached_by_script, "content_key": key_of_content}
