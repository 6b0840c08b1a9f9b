"""What earlier versions wrote still works: stores, results, references, and notes handed back."""

from __future__ import annotations

import json
import lzma
from functools import cache

import pytest

import holdfast
from holdfast.stores import open_store
from holdfast.stores.encrypt import EncryptedStore
from tests.fixtures.before.write import BUDGETS, FORMATS, HERE, KEY, TIERS, references_in

MARK = "[HISTORY_SUMMARY"
REPLY = {"role": "assistant", "content": "Understood."}
TASK = "Please also write down why the depot of Porto closes at 17:45, and keep ORD-7731 out of it."


@cache
def rows(name):
    lines = lzma.decompress((HERE / f"{name}.jsonl.xz").read_bytes()).splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "plain.db"
    path.write_bytes(lzma.decompress((HERE / "plain.db.xz").read_bytes()))
    return f"sqlite:///{path}"


@pytest.fixture
def sealed(tmp_path):
    path = tmp_path / "encrypted.db"
    path.write_bytes(lzma.decompress((HERE / "encrypted.db.xz").read_bytes()))
    return f"sqlite:///{path}"


def opened(thread, url):
    name = thread.partition(",")[0]
    budget, form = BUDGETS[name], FORMATS[name]
    return holdfast.Session(thread, store=url, budget=budget, format=form, tiers=TIERS)


def texts(messages):
    """Every text of the messages, wherever it stands in them."""
    if isinstance(messages, str):
        return [messages]
    if isinstance(messages, dict):
        return [text for part in messages.values() for text in texts(part)]
    return [text for part in messages for text in texts(part)] if isinstance(messages, list) else []


def quoted_marks(messages):
    """Texts that hold the mark of notes not at their beginning: notes told as somebody's words."""
    return [text for text in texts(messages) if MARK in text[1:]]


def exchanges(form, first, count):
    """Finished exchanges with a tool, as the conversation goes on."""
    for number in range(first, first + count):
        name, output = f"call-{number}", "\n".join(f"row {number}.{row}: open" for row in range(60))
        if form == "anthropic":
            sought = {"path": f"file-{number}.txt"}
            use = {"type": "tool_use", "id": name, "name": "read", "input": sought}
            yield {"role": "assistant", "content": [use]}
            told = {"type": "tool_result", "tool_use_id": name, "content": output}
            yield {"role": "user", "content": [told]}
        else:
            function = {"name": "read", "arguments": json.dumps({"path": f"file-{number}.txt"})}
            call = {"id": name, "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
            yield {"role": "tool", "tool_call_id": name, "content": output}


def continued(row):
    """The messages with notes, and what the caller and the model did since."""
    before, form = row["messages"], row["format"]
    first = [] if before[-1]["role"] == "assistant" else [REPLY]
    return [*before, *first, {"role": "user", "content": TASK}, *exchanges(form, 0, 8)]


def ids(name):
    return [row["name"] for row in rows(name)]


@pytest.mark.parametrize("row", rows("threads"), ids=lambda row: row["thread"])
def test_a_thread_gives_back_all_that_was_appended_changed_and_noted(row, url):
    with opened(row["thread"], url) as session:
        assert session.restore() == row["restore"]
        assert session.messages() == row["messages"]
        assert {str(number): text for number, text in session.notes().items()} == row["notes"]
        assert [[e.number, e.kind, e.at, e.reason] for e in session.history()] == row["history"]
        pinned, text = row["pinned"]
        assert session.recall(pinned) == text
        assert session.faults == ()


@pytest.mark.parametrize("row", rows("threads"), ids=lambda row: row["thread"])
def test_what_views_of_a_thread_referred_to_is_recalled_exactly(row, url):
    with opened(row["thread"], url) as session:
        for whole, key, original in row["references"]:
            assert session.recall(key) == original
            assert holdfast.recall(whole, store=url) == original


@pytest.mark.parametrize("row", rows("threads"), ids=lambda row: row["thread"])
def test_a_thread_goes_on_where_it_stood(row, url):
    name = row["thread"].partition(",")[0]
    form = FORMATS[name]
    with opened(row["thread"], url) as session:
        first = session.fit()
        assert first.budget_met
        session.append(*([] if row["restore"][-1]["role"] == "assistant" else [REPLY]))
        session.append({"role": "user", "content": TASK})
        for number in range(12):
            session.append(*exchanges(form, number, 1))
            view = session.fit()
            assert view.budget_met
            assert not holdfast.validate(view.messages, provider=form)
            assert not quoted_marks(view.messages)
        assert TASK in " ".join(texts(view.messages))
        assert any("Write dates as 14 June 2024." in text for text in texts(view.messages))
        assert row["pinned"][1] in texts(view.messages)
        assert session.fit(budget=2 * view.limit).budget_met
        assert session.restore()[: len(row["restore"])] == row["restore"]
        came = len(session.messages()) - len(row["messages"])
        assert len(session.restore()) == len(row["restore"]) + came
        session.tend(force=True)
        assert session.search("depot of Porto closes")[0].text.startswith(TASK[:20])
    with opened(row["thread"], url) as again:
        assert again.restore()[: len(row["restore"])] == row["restore"]


@pytest.mark.parametrize("thread", [row["thread"] for row in rows("threads")])
def test_changes_of_an_earlier_version_can_be_taken_back(thread, url):
    with opened(thread, url) as session:
        pinned = next(event for event in session.history() if event.kind == "pin")
        edited = next(event for event in session.history() if event.kind == "edit")
        session.undo(pinned)
        session.undo(edited)
        assert session.stats().pinned == 0
        assert "one sentence" in str(session.messages())
        session.forget(int(next(iter(session.notes()))))
        assert session.notes() == {}


@pytest.mark.parametrize("row", rows("references"), ids=lambda row: row["key"])
def test_references_in_texts_resolve_in_a_plain_and_in_an_encrypted_store(row, url, sealed):
    for store in (url, EncryptedStore.unlock(open_store(sealed), KEY)):
        assert holdfast.recall(row["text"], store=store) == row["original"]
        told = holdfast.recall_tool(store, most=10**9).run({"key": row["key"]})
        assert told == row["original"]


def test_the_key_that_sealed_a_store_still_is_the_only_one(sealed):
    with pytest.raises(holdfast.StoreError):
        EncryptedStore.unlock(open_store(sealed), bytes(32))


@pytest.mark.parametrize("row", rows("results"))
def test_a_result_that_was_kept_as_json_gives_the_originals(row):
    original = {each["example"]: each["original"] for each in rows("originals")}[row["example"]]
    result = holdfast.CompressionResult.from_json(row["result"])
    assert holdfast.restore(result) == original
    assert holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) == original
    assert holdfast.report(result)


@pytest.mark.parametrize("row", [row for row in rows("results") if row["profile"] == "with store"])
def test_texts_with_references_that_are_handed_back_keep_them_resolvable(row, url):
    messages = holdfast.CompressionResult.from_json(row["result"]).messages
    known = {each["key"]: each["original"] for each in rows("references")}
    form = FORMATS[row["example"]]
    half = holdfast.count(messages, format=form).total // 2
    again = holdfast.compress(messages, half, format=form, store=url)
    assert again.budget_met
    assert holdfast.restore(again) == messages
    for _, key in references_in(again.messages):
        original = holdfast.recall(key, store=url)
        assert original == known.get(key, original)
        for _, inner in references_in([original]):
            assert holdfast.recall(inner, store=url) == known[inner]


@pytest.mark.parametrize("profile", ["balanced", "economy", "fast"])
@pytest.mark.parametrize("row", rows("notes"), ids=ids("notes"))
def test_notes_that_are_handed_back_are_folded_or_kept_and_not_quoted_as_words(row, profile):
    messages, form = continued(row), row["format"]
    whole = holdfast.count(messages, format=form).total
    marked = [text for text in texts(messages) if text.startswith(MARK)]
    for share in (0.75, 0.5, 0.35):
        result = holdfast.compress(messages, int(whole * share), format=form, profile=profile)
        assert result.budget_met
        assert holdfast.restore(result) == messages
        assert not quoted_marks(result.messages)
        now = [text for text in texts(result.messages) if text.startswith(MARK)]
        assert len(now) <= len(marked) + 1
        assert now or profile == "fast"  # which makes no notes, and may drop what is old
        assert TASK in " ".join(texts(result.messages))


@pytest.mark.parametrize("row", rows("notes"), ids=ids("notes"))
def test_notes_give_way_where_words_of_the_user_would_stand(row):
    """Notes longer than the budget, and a task of the user: the notes are cut, the task stays."""
    notes = max((text for text in texts(row["messages"]) if text.startswith(MARK)), key=len)
    asked = {"role": "user", "content": TASK}
    messages = [{"role": "user", "content": notes}, REPLY, asked, REPLY]
    budget = holdfast.count(messages, format="openai").total // 2
    result = holdfast.compress(messages, budget, format="openai")
    assert result.budget_met
    assert TASK in texts(result.messages)
    assert notes not in texts(result.messages)


@pytest.mark.parametrize("row", rows("notes"), ids=ids("notes"))
def test_a_session_takes_notes_that_were_made_without_its_secret_for_words(row):
    messages, form = continued(row), row["format"]
    budget = holdfast.count(messages, format=form).total // 2
    with holdfast.Session("t", budget=budget, format=form, clock=lambda: 1.76e9) as session:
        session.append(*messages)
        view = session.fit()
        assert view.budget_met
        assert session.restore() == messages
