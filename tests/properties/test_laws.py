"""Shards of the generated examples; HOLDFAST_EXAMPLES says how many in all."""

import json
import os
from collections import Counter
from dataclasses import replace

import pytest

from holdfast.profiles import load_profile, profile_names
from tests.properties.laws import check, draw, idle

EXAMPLES = int(os.environ.get("HOLDFAST_EXAMPLES", "2000"))
SHARDS = 10


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_laws_hold_for_every_example_of(shard, record_property):
    seen: Counter[str] = Counter()
    numbers = range(shard, EXAMPLES, SHARDS)
    for number in numbers:
        seen += check(draw(number))
    record_property("laws", json.dumps(seen))
    assert not idle(seen)
    assert seen["changed faulty"] == 0
    assert seen["over"] >= len(numbers) / 2
    assert 7 <= seen["messages"] / len(numbers) <= 16


@pytest.mark.parametrize("name", profile_names())
def test_the_laws_hold_for_the_profile(name):
    seen: Counter[str] = Counter()
    for number in range(EXAMPLES // SHARDS):
        seen += check(replace(draw(number), steps=load_profile(name).steps, step=0.0))
    assert seen["over"] >= EXAMPLES / SHARDS / 2
