"""The engine of one machine: a pool of processes, made anew when one of them is killed."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_all_start_methods, get_context, parent_process
from operator import itemgetter
from threading import Thread
from typing import Generic, TypeVar

from holdfast.kernel.errors import ConfigError, HoldfastError

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2  # pieces a process that are handed out before their results are taken
_TRIES = 3  # how often a piece may see its process end: so often with others, then alone
_LOADED = [
    "holdfast.engine",
    "holdfast.batch",
    "holdfast.tokens.bpe",
    "holdfast.compressors.select",
]


class Processes:
    """Processes of this machine, by default one for each processor.

    Where a process is killed, the pieces that were at work are done again, and those that were at
    work several times then are done one by one, so that the one that ends its process is known. The
    processes end with the one that started them, however that ends.
    """

    def __init__(self, number: int | None = None) -> None:
        self._number = number or os.cpu_count() or 1

    @classmethod
    def from_url(cls, url: str) -> Processes:
        """As ``processes://4``; without a number one for each processor."""
        number = url.partition("://")[2]
        if number and not (number.isdecimal() and int(number)):
            raise ConfigError(f"{url!r} says no number", place="engine", advice="processes://4")
        return cls(int(number) if number else None)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Each piece with its result, in whatever order; None if it ended its process each time.

        Raises HoldfastError if no process could do any work.
        """
        todo = _Todo(enumerate(pieces))
        while True:
            with _pool(self._number) as pool:
                at_work: dict[Future[R], tuple[int, T]] = {}
                try:
                    while True:
                        for piece in todo.next(self._number * _AHEAD, len(at_work)):
                            at_work[pool.submit(work, piece[1])] = piece
                        if not at_work:
                            return
                        for done in wait(at_work, return_when=FIRST_COMPLETED).done:
                            result = done.result()
                            yield todo.done(at_work.pop(done)), result
                except BrokenProcessPool:
                    for lost in todo.ended(list(at_work.values())):
                        yield lost, None
                finally:
                    pool.shutdown(wait=True, cancel_futures=True)


class _Todo(Generic[T]):
    """The pieces that are left: first those that nobody suspects of ending their process."""

    def __init__(self, waiting: Iterator[tuple[int, T]]) -> None:
        self._waiting = waiting
        self._again: deque[tuple[int, T]] = deque()
        self._suspects: deque[tuple[int, T]] = deque()
        self._ended = Counter[int]()
        self._worked = False

    def next(self, room: int, at_work: int) -> Iterator[tuple[int, T]]:
        """What is to be handed out: as much as there is room for, or one suspect alone."""
        for _ in range(room - at_work):
            piece = self._again.popleft() if self._again else next(self._waiting, None)
            if piece is None:
                break
            at_work += 1
            yield piece
        if not at_work and self._suspects:
            yield self._suspects.popleft()

    def done(self, piece: tuple[int, T]) -> T:
        """The piece has a result."""
        self._worked = True
        return piece[1]

    def ended(self, at_work: list[tuple[int, T]]) -> Iterator[T]:
        """A process was killed while these were at work; those of them that are given up."""
        for number, piece in sorted(at_work, key=itemgetter(0)):
            self._ended[number] += 1
            if self._ended[number] < _TRIES:
                self._again.append((number, piece))
            elif len(at_work) > 1 or self._ended[number] < 2 * _TRIES:
                self._suspects.append((number, piece))
            elif self._worked:
                yield piece
            else:
                raise HoldfastError(
                    "no process could do any work: each ended by itself; see what it wrote"
                )


def _pool(number: int) -> ProcessPoolExecutor:
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context = get_context(method)
    context.set_forkserver_preload(_LOADED)  # loaded once, and there in each process
    return ProcessPoolExecutor(number, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End when the process ends that started this one, be it killed."""
    parent = parent_process()
    if parent is not None:
        Thread(target=_wait_for, args=(parent.sentinel,), daemon=True).start()


def _wait_for(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
