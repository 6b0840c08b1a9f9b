"""Many conversations in one store: listed, opened, and erased for good."""

import inspect
import json
import sqlite3

import pytest

import holdfast
from holdfast.session.arguments import ThreadOptions
from holdfast.stores.sqlite import SqliteStore
from tests.stores.doubles import TextStore
from tests.talks import agent_run

SECRETS = ["zanzibarcode", "quetzalnote", "xylophonedit", "wolframquestion", "jacarandalog"]


def talk(word, n=40):
    return [
        {"role": role, "content": f"{word}{i} is the port of gateway {i}; {word} holds"}
        for i in range(n)
        for role in ("user", "assistant")
    ]


def fill(store, name, words):
    first, note, edited, asked, output = words
    with store.thread(name, 600, counter="words") as session:
        session.append(*talk(first))
        call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        lines = "\n".join(f"2026-01-01 INFO {output} line {n}" for n in range(900))
        session.append({"role": "tool", "tool_call_id": "c1", "content": lines})
        session.append({"role": "user", "content": f"and {first} now?"})
        session.remember(f"{note} is to be kept")
        session.edit(1, {"role": "assistant", "content": f"{edited} it is"})
        session.fit(f"{asked} of {first}7?")
        session.fit()
        session.search(first)
        session.tiers()


def files(folder):
    return {file.name: file.read_bytes().lower() for file in folder.iterdir()}


@pytest.fixture
def store(tmp_path):
    with holdfast.open(tmp_path / "agent.db") as opened:
        yield opened


def test_a_file_holds_many_threads_which_are_listed_and_opened_again(store, tmp_path):
    assert store.threads() == []
    store.thread("b", "8k").append({"role": "user", "content": "hello"})
    store.thread("a").append({"role": "user", "content": "hi"})
    assert store.threads() == ["a", "b"]
    with holdfast.open(f"sqlite:///{tmp_path}/agent.db") as again:
        assert again.thread("b").messages() == [{"role": "user", "content": "hello"}]
    assert holdfast.open("memory://threads").threads() == []


def test_nothing_of_an_erased_thread_is_left_in_any_byte_and_nothing_of_others_is_lost(
    store, tmp_path
):
    others = ["keepfirst", "keepnote", "keepedit", "keepquestion", "keepoutput"]
    fill(store, "gone:to%go", SECRETS)
    fill(store, "gone", others)
    before = store.thread("gone").restore(), store.thread("gone").search("keepfirst7")
    held = b"".join(files(tmp_path).values())
    assert all(secret.encode() in held for secret in SECRETS)
    store.delete_thread("gone:to%go")
    for name, content in files(tmp_path).items():
        assert [s for s in SECRETS if s[:-2].encode() in content] == [], name
        assert b"gone:to%go" not in content, name
        assert b"gone%3ato%25go" not in content, name
    assert store.threads() == ["gone"]
    kept = store.thread("gone")
    assert kept.restore() == before[0]
    again = store.thread("gone").search("keepfirst7")
    assert [hit.position for hit in again] == [hit.position for hit in before[1]]
    assert kept.search("keepedit")[0].position == 1
    assert list(kept.notes().values()) == ["keepnote is to be kept"]
    assert SqliteStore(tmp_path / "agent.db").check() == []


def test_an_erasure_that_a_reader_keeps_in_the_log_is_told(tmp_path):
    file = tmp_path / "agent.db"
    kept = SqliteStore(file, timeout=0.1)
    store = holdfast.open(kept)
    fill(store, "t", SECRETS)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM lines").fetchone()
    with pytest.raises(holdfast.StoreError, match="may still hold what was erased"):
        store.delete_thread("t")
    assert store.threads() == []
    reader.close()
    kept.compact()
    assert not any(SECRETS[0].encode() in content for content in files(tmp_path).values())


def test_an_erased_name_begins_anew(store):
    fill(store, "t", SECRETS)
    store.delete_thread("t")
    fresh = store.thread("t", 600)
    assert (fresh.appended, fresh.history(), fresh.search(SECRETS[0])) == (0, [], [])


def test_a_thread_of_notes_alone_is_erased(store):
    with store.thread("t") as session:
        session.remember(SECRETS[0])
    store.delete_thread("t")
    assert store.thread("t").notes() == {}
    with store.thread("t-10") as session:
        session.remember("to be kept")
    with pytest.raises(holdfast.NotFoundError, match="t-1"):
        store.delete_thread("t-1")


def test_a_thread_that_there_is_not_is_named(store):
    with pytest.raises(holdfast.NotFoundError, match="t-1"):
        store.delete_thread("t-1")


def test_a_store_of_keys_alone_holds_conversations_too():
    with holdfast.open(TextStore()) as store:
        for name in ("b", "a"):
            with store.thread(name) as session:
                session.append(*agent_run(3))
        assert store.threads() == ["a", "b"]


def test_a_thread_in_memory_is_erased_too():
    store = holdfast.open("memory://erased")
    fill(store, "t", SECRETS)
    store.delete_thread("t")
    assert store.threads() == []
    left = [store.store.get(key) or "" for key in store.store.keys("")]
    assert SECRETS[0] not in json.dumps(left)


def test_a_thread_takes_the_options_of_a_session():
    known = {*inspect.signature(holdfast.Session.__init__).parameters}
    assert known - {"self", "thread", "store", "budget"} == set(ThreadOptions.__annotations__)


def test_a_thread_is_opened_used_and_closed_without_reading_through_the_store(store):
    """So that none of it takes longer where there are a million others."""
    fill(store, "other", SECRETS)
    statements = set()
    with store.store._file.use() as connection:
        connection.set_trace_callback(statements.add)
        fill(store, "t", SECRETS)
        with store.thread("without any event", 600) as session:
            session.append(*talk("said"))
        with store.thread("t", 600) as session:
            assert session.search(SECRETS[0])
            session.fit(SECRETS[1])
        connection.set_trace_callback(None)
        asked = [each for each in statements if each.startswith(("SELECT", "DELETE", "UPDATE"))]
        assert len(asked) > 40
        for statement in asked:
            for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
                assert not step.startswith("SCAN"), f"{step}: {statement[:300]}"


def test_one_page_tells_of_every_conversation_what_it_took_and_spared(tmp_path):
    url = f"sqlite:///{tmp_path / 'agent.db'}"
    with holdfast.open(url) as store:
        for name, length in (("long", 60), ("<b>", 3)):
            with store.thread(name, budget=900) as session:
                session.append(*agent_run(length))
                session.fit()
                stats = session.stats()
                assert stats.slowest > 0
    with holdfast.open(url) as store:
        heads, first, second = store.report().splitlines()
        assert heads.split()[:4] == ["conversation", "messages", "tokens", "views"]
        assert first.split()[:2] == ["long", f"{len(agent_run(60)):,}"]
        assert int(first.split()[4].replace(",", "")) > 10_000
        assert second.split()[0] == "<b>"
        assert first.split()[5] == "–"  # no prices were given
        page = store.report("html")
        with pytest.raises(holdfast.ConfigError, match="form: .pdf. does not belong here; give"):
            store.report("pdf")
    assert '<th scope="row">&lt;b&gt;</th>' in page
    assert "2 conversations" in page
