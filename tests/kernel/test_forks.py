from __future__ import annotations

import os
import signal
import subprocess
import sys
from threading import Event, Thread, Timer

import pytest

from holdfast.kernel.forks import brief_lock, cached_property

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


def code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_waits_for_whoever_holds_a_lock_and_the_child_finds_it_free():
    lock, held, over = brief_lock(), Event(), Event()

    def hold() -> None:
        with lock:
            held.set()
            over.wait()
            over.clear()

    holder = Thread(target=hold)
    holder.start()
    held.wait()
    Timer(0.1, over.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(blocking=False) and not over.is_set() else 1)
    assert code_of(child) == 0
    holder.join()
    with lock:
        pass


def test_whoever_holds_a_lock_may_fork():
    lock = brief_lock()
    with lock:
        child = os.fork()
        if child == 0:
            os._exit(0)
    assert code_of(child) == 0


def test_a_child_makes_a_value_of_its_own_while_its_parent_makes_one():
    begun, over = Event(), Event()

    class Thing:
        @cached_property
        def value(self) -> int:
            begun.set()
            over.wait()
            return 7

    maker = Thread(target=lambda: Thing().value)
    maker.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        over.set()
        os._exit(Thing().value - 7)
    over.set()
    maker.join()
    assert code_of(child) == 0


LOADING = """
import os, signal, sys, threading, time
from holdfast.providers.local import LocalEmbedder

embedder = LocalEmbedder()
thread = threading.Thread(target=embedder.embed, args=(["some words"],))
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    signal.alarm(20)
    embedder.embed(["other words"])
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("seconds", [0.005, 0.02, 0.05])  # loading takes some 90 ms
def test_a_fork_waits_while_another_thread_loads_the_vectors(seconds):
    ran = subprocess.run([sys.executable, "-c", LOADING, str(seconds)], timeout=60, check=False)
    assert ran.returncode == 0


CODEC = """
import os, signal, sys, threading, time
from importlib.machinery import PathFinder
import holdfast

class Slowly:
    def __init__(self, loader): self.loader = loader
    def create_module(self, spec): return None
    def exec_module(self, module): time.sleep(0.5); self.loader.exec_module(module)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "encodings.cp862":
            found = PathFinder.find_spec(name, path)
            found.loader = Slowly(found.loader)
            return found

sys.meta_path.insert(0, Finder())
thread = threading.Thread(target="x".encode, args=("cp862",))
thread.start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    signal.alarm(20)
    "x".encode("cp862")
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_waits_while_another_thread_loads_a_codec():
    ran = subprocess.run([sys.executable, "-c", CODEC], timeout=60, check=False)
    assert ran.returncode == 0


FIRST_USE = """
import IMPORTED
import os, signal, sys, threading, time

talk = [{"role": "user", "content": f"Invoice {n}. " + "And so on. " * 30} for n in range(30)]
thread = threading.Thread(target=lambda: holdfast.compress(talk, 400))
thread.start()
time.sleep(float(sys.argv[1]))
begun = time.monotonic()
child = os.fork()
if child == 0:
    signal.alarm(20)
    holdfast.compress(talk, 400)
    os._exit(0)
waited = time.monotonic() - begun
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or int(waited >= 10))
"""


@pytest.mark.parametrize("imported", ["holdfast, logging", "logging, holdfast", "holdfast"])
@pytest.mark.parametrize("seconds", [0, 0.02, 0.05, 0.1])  # the first use takes some 200 ms
def test_a_fork_waits_for_the_first_use_and_takes_no_lock_that_it_needs(imported, seconds):
    script = FIRST_USE.replace("IMPORTED", imported)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(seconds)],
        timeout=60,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


BUSY = """
import os, signal, sys, threading, time
import holdfast

def said(n):
    return {"role": ("user", "assistant")[n % 2], "content": f"Invoice {n}. " + "And so on. " * 30}

def work(n):
    talk = [said(n + k) for k in range(30)]
    holdfast.compress(talk, 600, redact=True, store=sys.argv[1], thread="t")
    log = [f"2026-01-01 10:00:{k % 60:02} INFO worker-{n}: job {k} done" for k in range(200)]
    holdfast.shrink("\\n".join(log), 200)

def busy(n):
    while True:
        work(n)
        n += 1

for number in range(2):
    threading.Thread(target=busy, args=(1_000 * number,), daemon=True).start()
codes = []
for number in range(12):  # the first ones while modules are loaded
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        work(9_000 + number)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(codes, flush=True)
os._exit(0)
"""


def test_no_child_hangs_of_a_program_that_loads_and_opens_and_closes_files_in_threads(tmp_path):
    run = [sys.executable, "-c", BUSY, f"sqlite:///{tmp_path / 'a.db'}"]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert told == f"{[0] * 12}\n"
