from __future__ import annotations

import threading
from threading import Event

from holdfast.session.maintenance import Worker

WAIT = 20  # seconds; only a fault waits so long


class Work:
    """Counts how often it was begun; each time it waits for its turn to end."""

    def __init__(self):
        self.begun = 0
        self.started, self.go = Event(), Event()
        self.threads = set()

    def __call__(self):
        self.threads.add(threading.current_thread())
        self.begun += 1
        self.started.set()
        assert self.go.wait(WAIT)

    def ended(self):
        for thread in list(self.threads):
            thread.join(WAIT)
            assert not thread.is_alive()


def test_what_is_woken_while_it_works_works_once_more_and_never_twice_at_once():
    work = Work()
    worker = Worker(work)
    worker.wake()
    assert work.started.wait(WAIT)
    for _ in range(5):
        worker.wake()
    work.go.set()
    work.ended()
    assert (work.begun, len(work.threads)) == (2, 1)


def test_it_works_again_when_it_is_woken_later():
    work = Work()
    work.go.set()
    worker = Worker(work)
    for _ in range(2):
        work.started.clear()
        worker.wake()
        assert work.started.wait(WAIT)
        work.ended()
    assert work.begun == 2


def test_it_keeps_no_process_from_ending():
    work = Work()
    Worker(work).wake()
    assert work.started.wait(WAIT)
    assert all(thread.daemon for thread in work.threads)
    work.go.set()
