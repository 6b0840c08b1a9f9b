from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.stores.sqlite import SqliteStore

ROOT = Path(__file__).parents[2]

KILLS = 50


def module(name: str) -> list[str]:
    return [sys.executable, "-m", f"tests.stores.scripts.{name}"]


def script(name: str, *arguments: object) -> str:
    command = [*module(name), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_file_that_another_process_is_about_to_write_is_waited_for(tmp_path):
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    released = threading.Timer(0.1, lambda: other.execute("ROLLBACK"))
    released.start()
    with SqliteStore(tmp_path / "a.db") as store:
        store.set("key", "value")
        assert store.get("key") == "value"
    released.join()
    other.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL and no fork")
@pytest.mark.parametrize("seed", range(4))
def test_a_process_killed_at_any_moment_has_kept_all_that_it_acknowledged(tmp_path, seed):
    seen = json.loads(script("killed_writers", tmp_path / "a.db", seed, KILLS))
    assert seen["wrong"] == []
    assert (seen["kills"], seen["sound"]) == (KILLS, "ok")
    assert seen["told"] > KILLS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_parent_and_children_go_on_with_an_open_store_after_a_fork(tmp_path):
    assert script("forks", tmp_path / "a.db") == "[]\n"


def test_many_processes_and_threads_lose_nothing_and_agree_who_was_first(tmp_path):
    processes, threads, writes = 3, 4, 15
    crowd = [
        subprocess.Popen(
            [*module("crowd"), tmp_path / "a.db", f"p{number}", str(threads), str(writes)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for member in crowd:
        assert member.stdout.readline() == "ready\n"
    for member in crowd:
        member.stdin.write("go\n")
        member.stdin.flush()
    told = [member.communicate() for member in crowd]
    assert [errors for _, errors in told] == [""] * processes
    assert sum(int(won) for won, _ in told) == writes
    with SqliteStore(tmp_path / "a.db") as store:
        expected = {
            f"p{process}/{thread}/{number}": f"value of p{process} {thread} {number}"
            for process in range(processes)
            for thread in range(threads)
            for number in range(writes)
        }
        assert {key: store.get(key) for key in expected} == expected
        assert len(store.keys("race/")) == writes
        assert store.get("pair/left") == store.get("pair/right")
