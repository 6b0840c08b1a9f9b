from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast.kernel.errors import StoreError
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from tests.session.talks import chatter, talk
from tests.stores.doubles import AwaitedTextStore, TextStore

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("HOLDFAST_KILLS", "40"))

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="there is no SIGKILL, no fork and no limit"
)


def script(name: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.session.scripts.{name}", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@posix
def test_a_session_killed_at_any_moment_opens_again_with_all_that_it_acknowledged(tmp_path):
    run = script("killed_sessions", tmp_path / "a.db", 11, KILLS)
    output, errors = run.communicate()
    assert run.returncode == 0, errors
    seen = json.loads(output)
    assert seen["wrong"] == []
    assert seen["kills"] == KILLS
    assert seen["references"]
    assert seen["told"] > KILLS


def test_two_processes_append_to_one_thread_without_loss(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("talk", store=url) as session:
        session.append({"role": "system", "content": "s"})
    runs = [script("appending", url, name, 60) for name in ("p", "q")]
    errors = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], errors
    with Session("talk", store=url, budget=300) as session:
        said = [message["content"] for message in session.messages()[1:]]
        assert [text for text in said if text.startswith("p")] == [f"p {n}" for n in range(60)]
        assert [text for text in said if text.startswith("q")] == [f"q {n}" for n in range(60)]
        assert len(said) == 120
        assert session.fit().budget_met


@posix
def test_a_full_disk_is_told_in_one_line_and_loses_nothing(tmp_path):
    path = tmp_path / "a.db"
    session = Session("talk", store=f"sqlite:///{path}", budget=500)
    kept = chatter(40)
    session.append(*kept)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    try:
        with pytest.raises(StoreError, match=r"sqlite store .*a\.db: the disk") as told:
            session.append({"role": "user", "content": "x" * 5_000_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert "\n" not in str(told.value)
    assert session.messages() == kept
    session.append({"role": "user", "content": "again"})
    session.close()
    with Session("talk", store=f"sqlite:///{path}") as again:
        assert again.restore() == [*kept, {"role": "user", "content": "again"}]


@posix
@pytest.mark.parametrize("mode", ["777", "555"])
def test_a_read_only_file_is_told_in_one_line_and_can_still_be_read(tmp_path, mode):
    with Session("talk", store=f"sqlite:///{tmp_path / 'a.db'}") as session:
        session.append(*talk(50))
    run = script("read_only", tmp_path / "a.db", mode)
    output, errors = run.communicate()
    assert run.returncode == 0, errors
    assert output.splitlines() == [
        "StoreError: the file is read-only; nothing was written",
        f"{len(talk(50))} messages",
        "the view fits and has the answer",
    ]


def test_a_state_that_was_never_kept_is_made_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    session = Session("talk", store=url, budget=600)
    session.append(*talk(80))
    session.pin(4)
    expected = session.fit("parcel").messages
    again = Session("talk", store=url, budget=600)
    # views are counted with the state, which was not kept
    assert replace(session.stats(), fits=0, spared=0) == again.stats()
    assert again.fit("parcel").messages == expected
    again.close()
    session.close()


@pytest.mark.parametrize("key", ["session:talk", "tier:hot:talk", "tier:warm:talk"])
def test_a_thread_opens_whatever_became_of_what_is_kept_beside_its_logs(tmp_path, key):
    store = SqliteStore(tmp_path / "a.db")
    with Session("talk", store=store, budget=600) as session:
        session.append(*talk(80))
        session.tend(force=True)
        session.pin(4)
        expected = session.fit("parcel").messages
    store.set_bytes(key, b"\xff\xfe")
    with Session("talk", store=store, budget=600) as again:
        assert again.restore() == talk(80)
        assert again.fit("parcel").messages == expected
        assert again.stats().pinned == 1
        assert again.faults == (() if key.startswith("session") else again.faults[:1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("messages", "80"), ("edits", [[1, 2]]), ("edits", {"a": 1}), ("pins", None),
        ("pins", ["4"]), ("task", "x"),
        ("system", [None]), ("forgotten", [[1]]), ("evicted", [[1, "2"]]), ("notes", {"7": None}),
    ],
)  # fmt: skip
def test_a_state_that_nobody_of_ours_wrote_is_made_again(tmp_path, field, value):
    store = SqliteStore(tmp_path / "a.db")
    with Session("talk", store=store, budget=600) as session:
        session.append(*talk(80))
        expected = session.fit("parcel").messages
    state = json.loads(store.get("session:talk"))
    store.set("session:talk", json.dumps(state | {field: value}))
    with Session("talk", store=store, budget=600) as again:
        assert again.fit("parcel").messages == expected


def test_a_thread_that_was_closed_has_the_same_numbers_when_it_is_opened_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("talk", store=url, budget=600) as session:
        session.append(*talk(80))
        session.pin(4)
        for question in ("parcel", None, None):
            session.fit(question)
        told = session.stats()
    assert told.fits == 3
    assert told.spared > 0
    with Session("talk", store=url, budget=600) as again:
        held = again.stats()
        # what this process holds in memory is its own
        assert (
            replace(told, held_messages=held.held_messages, held_characters=held.held_characters)
            == held
        )


class Failing(TextStore):
    """A store that fails from some time on."""

    fails = False

    def get(self, key):
        if self.fails:
            raise RuntimeError("one\ntwo")
        return super().get(key)

    def set(self, key, value):
        if self.fails:
            raise RuntimeError("one\ntwo")
        return super().set(key, value)


class FailingLater(AwaitedTextStore):
    """The same, awaited."""

    fails = False

    async def get(self, key):
        if self.fails:
            raise RuntimeError("one\ntwo")
        return await super().get(key)


@pytest.mark.parametrize("kind", [Failing, FailingLater])
def test_what_a_store_of_the_caller_raises_is_a_store_error_of_one_line(kind):
    line = "^the store failed: RuntimeError: one two$"
    store = kind()
    session = Session("t", store=store, budget=500)
    session.append(*talk(4))
    store.fails = True
    for asked in (session.fit, session.tend, session.undo, lambda: session.append(*talk(1))):
        with pytest.raises(StoreError, match=line) as caught:
            asked()
        assert isinstance(caught.value.__cause__, RuntimeError)
    session.close()
    with pytest.raises(StoreError, match=line):
        Session("t", store=store)
    with pytest.raises(StoreError, match=line):
        holdfast.recall("0123456789ab", store=store)
    store.fails = False
    with Session("t", store=store) as again:
        assert again.restore() == talk(4)
