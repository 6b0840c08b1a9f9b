"""How a shrunk text names its original, and that the original can be had."""

import asyncio
import json
import re
import subprocess
import sys

import pytest

import holdfast
from holdfast.compressors.references import key_in
from holdfast.compressors.shrink import Shrink
from holdfast.kernel.edits import Offload
from holdfast.recovery import recall_tool
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.wrappers import PrefixStore
from tests.compressors.shrink.exchanges import arguments, log, outputs, records, run, shrunk, tokens
from tests.stores.doubles import AwaitedTextStore, TextStore

TALK = run(
    ("bash", {"command": "one"}, log(name="one")),
    ("query", {}, records()),
    ("bash", {"command": "two"}, log(name="two")),
    ("write_file", {"path": "a", "content": log(name="written")}, "ok"),
    ("bash", {"command": "three"}, log(300, name="three")),
)
BUDGET = tokens(TALK) // 4


class Promising(AwaitedTextStore):
    """Its methods are plain functions that give awaitables, as those of many clients."""

    def get(self, key):
        return super().get(key)

    def set(self, key, value):
        return super().set(key, value)


STORES = {
    "in_process": InProcessStore,
    "text": TextStore,
    "awaited": AwaitedTextStore,
    "promising": Promising,
    "prefixed": lambda: PrefixStore(Promising(), "a:"),
    "encrypted": lambda: EncryptedStore.unlock(TextStore(), "a passphrase"),
    "encrypted_awaited": lambda: asyncio.run(
        EncryptedStore.aunlock(AwaitedTextStore(), "a passphrase")
    ),
}


def offloads(result: holdfast.CompressionResult) -> list[Offload]:
    return [edit for edit in result.edits if isinstance(edit, Offload)]


@pytest.mark.parametrize("make", STORES.values(), ids=STORES)
def test_every_reference_gives_its_original_back_exactly(make):
    store = make()
    result = shrunk(TALK, BUDGET, store=store)
    assert result.budget_met
    named = {edit.index: edit for edit in offloads(result)}
    assert len(named) >= 4
    for i, edit in named.items():
        before = (
            TALK[i]["content"]
            if TALK[i]["role"] == "tool"
            else TALK[i]["tool_calls"][0]["function"]["arguments"]
        )
        assert holdfast.recall(edit.key, store=store) == before
        assert edit.key in edit.text


@pytest.mark.parametrize("make", STORES.values(), ids=STORES)
def test_the_asynchronous_path_keeps_the_same(make):
    store = make()
    result = asyncio.run(
        holdfast.acompress(TALK, BUDGET, strategy="shrink", store=store, secret="s")
    )
    assert result.messages == shrunk(TALK, BUDGET, store=make(), secret="s").messages
    for edit in offloads(result):
        assert holdfast.recall(edit.key, store=store, secret="s")


def test_a_reference_says_the_key_the_kind_the_size_and_what_is_left_out():
    result = shrunk(TALK, BUDGET, store=InProcessStore())
    reference = outputs(result)[0].splitlines()[-1]
    assert re.fullmatch(
        r"\[original: [0-9a-f]{20} \(log, [\d,]+ tokens; left out: [^\]]+\)\]", reference
    )
    assert key_in(outputs(result)[0]) == reference.split()[1]


def test_the_reference_of_arguments_stands_in_their_longest_text():
    store = InProcessStore()
    result = shrunk(TALK, BUDGET, store=store)
    content = json.loads(arguments(result, 3))["content"]
    assert "(arguments, " in content.splitlines()[-1]
    assert holdfast.recall(key_in(content), store=store, field="content") == log(name="written")


def test_without_a_store_no_key_is_shown():
    result = shrunk(TALK, BUDGET)
    assert result.budget_met
    assert "original:" not in json.dumps(result.messages)
    assert not offloads(result)


@pytest.mark.parametrize(
    "fault",
    [OSError("the disk is gone"), holdfast.StoreError("full"), KeyError("x"), ZeroDivisionError()],
)
def test_a_store_that_fails_leaves_plain_texts_and_says_so(fault):
    class Failing(TextStore):
        def set(self, key, value):
            raise fault

    result = shrunk(TALK, BUDGET, store=Failing())
    assert result.budget_met
    assert "original:" not in json.dumps(result.messages)
    assert "no original was saved" in result.steps[0].detail
    assert holdfast.restore(result) == TALK


def test_a_store_that_fails_later_keeps_the_references_it_has():
    class Tired(TextStore):
        def set(self, key, value):
            if len(self.entries) == 3:  # the secret, and two originals
                raise OSError("full")
            super().set(key, value)

    store = Tired()
    result = shrunk(TALK, BUDGET, store=store)
    assert len(offloads(result)) == 2
    assert all(holdfast.recall(edit.key, store=store) for edit in offloads(result))


def test_the_tool_is_named_only_where_the_model_has_it():
    store = InProcessStore()
    without = shrunk(
        TALK, BUDGET, store=store, tools=[{"type": "function", "function": {"name": "bash"}}]
    )
    having = shrunk(TALK, BUDGET, store=store, tools=[recall_tool(store).schema])
    assert "recall(key)" not in json.dumps(without.messages)
    assert "; recall(key) gives it back]" in outputs(having)[0]
    assert having.budget_met


def test_a_text_that_names_its_original_is_not_shrunk_again():
    store = InProcessStore()
    once = shrunk(TALK, BUDGET, store=store)
    again = shrunk(once.messages, 50, Shrink(), store=store)
    kept = {edit.key for edit in offloads(once)}
    assert kept <= {
        key
        for text in [*outputs(again), arguments_text(again)]
        for key in re.findall(r"[0-9a-f]{20}", text)
    }


def arguments_text(result: holdfast.CompressionResult) -> str:
    return " ".join(arguments(result, number) for number in range(5))


def test_the_note_on_a_repeated_text_names_it_too():
    store = InProcessStore()
    messages = run(("read_file", {}, log()), ("bash", {}, log()), ("bash", {}, "done"))
    result = shrunk(messages, tokens(messages) * 3 // 5, Shrink(rules=("repeats",)), store=store)
    first = outputs(result)[0]
    assert first.startswith(
        "[Left out: the same text was returned again later by bash.]\n[original: "
    )
    assert holdfast.recall(key_in(first), store=store) == log()


RECALLED = """
import json, sys, holdfast
url, *keys = sys.argv[1:]
print(json.dumps([holdfast.recall(key, store=url) for key in keys]))
"""


def test_after_a_restart_every_reference_resolves_in_another_process(tmp_path):
    url = f"sqlite:///{tmp_path}/originals.db"
    result = shrunk(TALK, BUDGET, store=url)
    places = {edit.key: TALK[edit.index] for edit in offloads(result)}
    answer = subprocess.run(
        [sys.executable, "-c", RECALLED, url, *places], capture_output=True, check=True, text=True
    ).stdout
    for message, text in zip(places.values(), json.loads(answer), strict=True):
        assert text in (
            message.get("content"),
            *[c["function"]["arguments"] for c in message.get("tool_calls", ())],
        )


def test_a_forged_reference_in_an_output_is_not_taken_for_ours():
    messages = run(("bash", {}, log() + "\n[original: zzz (log, 5 tokens)]"), ("bash", {}, "done"))
    assert shrunk(messages, 200).budget_met


def test_arguments_of_which_nothing_is_cut_are_not_offloaded():
    spaced = json.dumps({f"field_{n}": f"value {n}" for n in range(60)}, indent=8)
    messages = run(("save", spaced, "ok"), ("bash", {}, "done"))
    shrink = Shrink(rules=("arguments",))
    result = shrunk(messages, tokens(messages) // 2, shrink, store=InProcessStore())
    assert not offloads(result)
    assert arguments(result, 0) == spaced
