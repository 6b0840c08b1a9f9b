"""A conversation on two machines: each has connections and memory of its own, the store in
common.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict

import pytest

import holdfast
from holdfast import upkeep
from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.protocols import Line
from holdfast.stores.wrappers import MeasuredStore, PrefixStore, RoutedStore

OPERATIONS = int(os.environ.get("HOLDFAST_OPERATIONS", "300"))


def said(number):
    return {
        "role": "user",
        "content": f"number {number}: the port of srv-{number} is {8_000 + number}",
    }


@pytest.fixture(params=["postgres", "redis", "postgres+s3", "encrypted"])
def opens(request):
    """Makes a store as another machine would."""
    kind = "redis" if request.param == "redis" else "postgres"
    url = request.getfixturevalue(f"{kind}_url")
    if request.param == "postgres+s3":
        place = request.getfixturevalue("s3_url")
        return lambda: RoutedStore(open_store(url), open_store(place))
    if request.param == "encrypted":
        return lambda: EncryptedStore.unlock(open_store(url), bytes(32))
    return lambda: open_store(url)


def test_two_machines_on_one_thread_interleave_and_each_sees_what_the_other_said(opens):
    with Session("t", store=opens(), budget=4_000) as one, Session("t", store=opens()) as two:
        for number in range(0, 40, 2):
            one.append(said(number))
            two.append(said(number + 1))
        assert one.restore() == two.restore() == [said(number) for number in range(40)]
        assert [message["content"] for message in one.fit().messages][-1] == said(39)["content"]
        assert "srv-38" in str(two.fit(budget=4_000).messages)


def test_what_one_machine_said_is_found_and_recalled_on_another(opens):
    long = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "\n".join(f"2026-05-0{n % 9 + 1} ERROR host-{n} timed out" for n in range(400)),
    }
    call = {"id": "c1", "type": "function", "function": {"name": "logs", "arguments": "{}"}}
    with Session("t", store=opens(), budget=1_500) as one:
        one.append(said(1), {"role": "assistant", "content": None, "tool_calls": [call]}, long)
        one.append(*(said(number) for number in range(2, 60)))
        view = one.fit()
    with Session("t", store=opens(), budget=1_500) as two:
        assert two.appended == 61
        assert two.search("srv-1")[0].position == 0
        assert two.restore()[2] == long
        assert [*two.fit().messages] == [*view.messages]


def test_opening_a_thread_elsewhere_is_one_round_trip_and_reads_what_is_new_alone(opens):
    with Session("t", store=opens(), budget=4_000) as one:
        one.append(*(said(number) for number in range(300)))
        held = one.tiers()
    store = MeasuredStore(opens())
    with Session("t", store=store, budget=4_000) as two:
        asked = {name: measure.calls for name, measure in store.measures.items()}
        assert asked == {"glance": 1}, "its state and tiers, and whether anything is new"
        assert two.tiers() == held
    with Session("t", store=opens()) as three:
        three.append(said(300), said(301))
        store = MeasuredStore(opens())
        with Session("t", store=store, budget=4_000) as two:
            asked = {name: measure.calls for name, measure in store.measures.items()}
            assert asked == {"glance": 1, "log.read": 1}
            assert two.messages()[-1] == said(301)


def test_originals_that_compress_takes_out_are_had_from_another_machine(opens):
    output = "\n".join(
        f"line {n} of the output, host-{n % 7}, port {n * 13 % 65_000}" for n in range(3_000)
    )
    messages = [
        {"role": "user", "content": "Read the log."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": output},
        {"role": "user", "content": "Which port has host-3?"},
    ]
    result = holdfast.compress(messages, 2_000, strategy=["shrink"], store=opens())
    assert result.metrics.tokens_after < 5_000
    other = opens()
    assert other.keys("content_")
    assert upkeep.check(other) == []


def test_random_operations_of_two_tenants_never_meet(opens):
    chance, inner = random.Random(7), opens()
    tenants = [PrefixStore(inner, name) for name in ("acme", "acme:2")]
    kept = [dict[str, str](), dict[str, str]()]
    logs = [defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)]
    for number in range(OPERATIONS):
        who = chance.randrange(2)
        store, key, secret = tenants[who], f"k{chance.randrange(20)}", f"tenant{who}text{number}"
        thread = f"talk{chance.randrange(1 + OPERATIONS // 300)}"
        match chance.choice(["set", "get", "delete", "append", "search", "keys"]):
            case "set":
                store.set(key, secret)
                kept[who][key] = secret
            case "get":
                assert store.get(key) == kept[who].get(key)
            case "delete":
                store.delete(key)
                kept[who].pop(key, None)
            case "append":
                words = f"common word{number % 5}"
                store.log(thread).append([Line(secret, words=words)])
                logs[who][thread].append(secret)
            case "search":
                found = store.log(thread).search(["common"], 9_999)
                assert set(found) == set(range(len(logs[who][thread])))
            case "keys":
                assert list(store.keys()) == sorted(kept[who])
    for who in range(2):
        for thread, said in logs[who].items():
            lines = tenants[who].log(thread).read(range(9_999))
            assert [line.body for line in lines.values()] == said
