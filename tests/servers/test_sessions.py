"""A conversation on two machines: each has connections and memory of its own, the store in
common.
"""

from __future__ import annotations

import os
import random

import pytest

import holdfast
from holdfast import upkeep
from holdfast.kernel.errors import NotFoundError
from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.artifacts import ArtifactStore, key_of
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import MeasuredStore, PrefixStore, RoutedStore
from holdfast.threads import ThreadStore
from tests.formats.rules.messages import calling, tool, user

OPERATIONS = int(os.environ.get("HOLDFAST_OPERATIONS", "300"))


def said(number):
    return {
        "role": "user",
        "content": f"number {number}: the port of srv-{number} is {8_000 + number}",
    }


SERVERS = ["postgres", "redis", "postgres+s3", "encrypted"]


@pytest.fixture(params=SERVERS)
def opens(request, tmp_path):
    """Makes a store as another machine would."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "a.db")
    if request.param == "s3":
        place = request.getfixturevalue("s3_url")
        return lambda: open_store(place)
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
    read = [calling("c"), tool("c", output)]
    messages = [user("Read the log."), *read, user("Which port has host-3?")]
    result = holdfast.compress(messages, 2_000, strategy=["shrink"], store=opens())
    assert result.metrics.tokens_after < 5_000
    other = opens()
    assert other.keys("content_")
    assert upkeep.check(other) == []


@pytest.mark.parametrize("opens", ["sqlite", *SERVERS], indirect=True)
def test_random_operations_of_two_tenants_never_meet(opens):
    """Each answer is the one of a store that the tenant has to itself, scores included."""
    chance, inner = random.Random(7), opens()
    tenants = [PrefixStore(inner, name) for name in ("acme", "acme:2")]
    alone = [InProcessStore(), InProcessStore()]
    pace = 6 + OPERATIONS // 1_000  # a listing grows with the store, and a bucket is slow
    for number in range(OPERATIONS):
        who = chance.randrange(2)
        key, secret = f"k{chance.randrange(20)}", f"tenant{who}text{number}"
        thread = f"talk{chance.randrange(1 + OPERATIONS // 300)}"
        line = Line(secret, words=f"common word{chance.randrange(5)} {secret}")
        terms = ["common", f"word{chance.randrange(5)}", f"tenant{1 - who}text{number - 1}"]
        asked = chance.choice(["set", "get", "delete", "append", "search"])
        asked = {3: "keep", 5: "list"}.get(number % pace, asked)

        def answer(store, *, asked=asked, key=key, thread=thread, line=line, terms=terms):
            match asked:
                case "set":
                    return store.set(key, line.body)
                case "get":
                    return store.get(key)
                case "delete":
                    return store.delete(key)
                case "append":
                    return list(store.log(thread).append([line]))
                case "search":
                    return store.log(thread).search(terms, 9_999)
                case "keep":
                    return ArtifactStore(store).put(line.body * 9).reference
                case "list":
                    return list(store.keys()), list(store.logs())

        expected = answer(alone[who])
        assert answer(tenants[who]) == (pytest.approx(expected) if asked == "search" else expected)
        if asked == "keep":
            assert ArtifactStore(tenants[1 - who]).get(key_of((secret * 9).encode())) is None
    for own, mine in zip(tenants, alone, strict=True):
        for thread in mine.logs():
            kept = mine.log(thread).read(range(9_999))
            assert own.log(thread).read(range(9_999)) == kept


@pytest.mark.parametrize("opens", ["sqlite", "s3", *SERVERS], indirect=True)
def test_neither_recall_nor_search_nor_report_of_a_tenant_tells_of_another(opens):
    call = {"id": "c", "type": "function", "function": {"name": "logs", "arguments": "{}"}}
    inner, own = opens(), {"acme": "xylograph", "acme:2": "marmalade"}
    spaces = {tenant: PrefixStore(inner, tenant) for tenant in own}
    sessions = {tenant: Session("t", store=spaces[tenant], budget=900) for tenant in own}
    for tenant, word in own.items():
        lines = "\n".join(f"ERROR host-{n} of {word} timed out" for n in range(300))
        sessions[tenant].append(
            {"role": "user", "content": f"My name is {word}. Look at the log."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": lines},
        )
        sessions[tenant].fit()
        sessions[tenant].append({"role": "user", "content": f"host-7 {word} " * 400})
        sessions[tenant].remember(f"{word} is preferred")
        with Session(f"thread of {word}", store=spaces[tenant]) as another:
            another.append({"role": "user", "content": word})
    for tenant, other in zip(own, reversed(own), strict=True):
        session, threads = sessions[tenant], ThreadStore(spaces[tenant])
        told = [
            *(session.fit().messages, session.restore(), session.search("host-3 preferred")),
            *(session.facts(), session.notes(), session.tiers(), session.history()),
            *(session.report("text"), session.report("html")),
            *(threads.threads(), threads.report("text"), threads.report("html")),
        ]
        assert own[tenant] in str(told)
        assert own[other] not in str(told)
        assert own[other] not in str(session.search(own[other]))
        theirs = ArtifactStore(spaces[other]).references()
        assert theirs
        for reference in theirs:
            assert own[other] in sessions[other].recall(reference)
            with pytest.raises(NotFoundError):
                session.recall(reference)
    for session in sessions.values():
        session.close()
