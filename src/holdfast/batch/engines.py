"""The engines of a batch: processes of this machine, or the workers of a Dask or Ray cluster.

The machines of a cluster have Holdfast too.
"""

import os
import signal
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from multiprocessing import connection, get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from pickle import PicklingError
from threading import Thread
from traceback import format_exc
from typing import Any, ClassVar, Self, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.registry import needed_by
from holdfast.kernel.typed import Positive, check_type

T = TypeVar("T")
R = TypeVar("R")

# Deaths of its process before a piece is given up, as many as Spark allows a task. A process may be
# killed for the memory of others.
_DEATHS = 4
_LOADED = ["holdfast.batch.loaded"]
# pieces for each worker: one at work and one that waits, so that none is idle while one is sent
_AHEAD = 2
# seconds for the scheduler of Dask and its workers: twice what Dask's own default is for a
# connection, time to start a machine's process
_WAIT = 60


class Processes:
    """Processes of this machine, by default one for each processor.

    If a process is killed, another one repeats its piece, and the others continue. A piece whose
    process died several times is given up. The processes end with the one that started them, even
    if that is killed.
    """

    def __init__(self, number: int | None = None) -> None:
        check_type(number, Positive | None, "Processes")
        self._number = number or os.cpu_count() or 1

    @classmethod
    def from_url(cls, url: str) -> "Processes":
        """``processes://4``; without a number, one for each processor."""
        number = url.partition("://")[2]
        return cls(_number(number, url, "processes://4") if number else None)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result, in any order; None if its process died each time.

        Raises the errors of ``work``, and HoldfastError if no process could do any work.
        """
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = cast("SpawnContext", get_context(method))
        context.set_forkserver_preload(_LOADED)  # imported once, for all processes
        todo, again = enumerate(pieces), deque[tuple[int, T]]()
        idle: list[_Process] = []
        at_work: dict[_Process, tuple[int, T]] = {}
        deaths, worked = Counter[int](), False
        done, lost = list[tuple[T, R | None]](), list[tuple[T, None]]()
        try:
            while True:
                while len(at_work) < self._number and (
                    task := next(todo, None) or (again.popleft() if again else None)
                ):
                    try:
                        process = idle.pop() if idle else _Process(context, work)
                        at_work[process] = task
                        process.give(task[1])
                    except (PicklingError, AttributeError, TypeError) as fault:  # of pickling
                        raise ConfigError(
                            f"what it works with cannot be sent to a process ({fault})",
                            place="engine",
                            advice="give names, functions of a module and plain messages",
                        ) from fault
                yield from done  # only now, so that processes work while the caller uses these
                done.clear()
                if not at_work:
                    break
                for process in _ready(at_work):
                    number, piece = at_work[process]
                    try:
                        done.append((piece, process.result()))
                        idle.append(process)
                        worked = True
                    except _DiedError:
                        process.close()
                        deaths[number] += 1
                        if deaths[number] < _DEATHS:
                            again.append((number, piece))
                        else:
                            lost.append((piece, None))
                    del at_work[process]
                is_over = lost and not (at_work or again)  # new pieces come before those
                if not worked and (is_over or deaths.total() >= _DEATHS**2):
                    raise HoldfastError(
                        "no process could do any work: each ended by itself; see its output"
                    )
            yield from lost
        finally:
            for process in (*idle, *at_work):
                process.close()


def _number(given: str, url: str, example: str) -> int:
    """The positive number in a URL. Raises ConfigError for anything else."""
    if not (given.isdecimal() and int(given)):
        raise ConfigError(
            f"{url!r} says no number", place="engine", advice=f"write one such as {example}"
        )
    return int(given)


class _DiedError(Exception):
    """A process died at its piece."""


class _Process:
    """A process at the other end of a pipe that no third one holds.

    So the pipe ends where the process is killed, even amid a message, and no other process waits.
    """

    def __init__(self, context: SpawnContext, work: Callable[[Any], Any]) -> None:
        self.pipe, theirs = context.Pipe()
        # as a daemon it does not keep a program that ends amid a batch
        self._process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        with theirs:
            self._process.start()
        self.sentinel = self._process.sentinel
        """Ready when it has ended, also where another process took a copy of the pipe's end."""

    def give(self, piece: Any) -> None:
        with suppress(OSError):  # it has died, as ``result`` tells
            self.pipe.send(piece)

    def result(self) -> Any:
        """Raises what the work raised, or _DiedError."""
        try:
            if not self.pipe.poll():
                raise _DiedError
            result, fault = self.pipe.recv()
        except (EOFError, OSError) as end:
            raise _DiedError from end
        if fault is not None:
            raise fault
        return result

    def close(self) -> None:
        """End it at once: what it works at is done again."""
        self.pipe.close()
        self._process.kill()
        self._process.join()
        self._process.close()


def _ready(processes: Collection[_Process]) -> list[_Process]:
    """Those that have a result or have ended; waits for one."""
    found = connection.wait([source for each in processes for source in (each.pipe, each.sentinel)])
    return [each for each in processes if each.pipe in found or each.sentinel in found]


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Do the work on each piece that comes, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends this
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent has gone
        while True:
            outcome = _outcome(work, pipe.recv())
            try:
                pipe.send(outcome)
            except OSError:
                raise
            except Exception as fault:  # noqa: BLE001 - whatever pickling it raises
                pipe.send((None, HoldfastError(f"the result cannot be sent: {fault}")))


def _outcome(work: Callable[[Any], Any], piece: Any) -> tuple[Any, Exception | None]:
    try:
        return work(piece), None
    except Exception as fault:  # noqa: BLE001 - the parent raises it
        fault.add_note(format_exc())
        return None, fault


def _end_with_parent() -> None:
    """End this process when its parent ends, even if that is killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


_Connected = tuple[int, Callable[[Any], Future[Any]], type[Exception]]


class _Cluster:
    """The workers of a cluster."""

    _extra: ClassVar[str]
    _package: ClassVar[str]

    def __init__(self, address: str = "", workers: int = 2) -> None:
        self._address, self._workers = address, workers
        with needed_by(f"a batch on {self._extra.capitalize()}", self._extra):
            self._tools: Any = import_module(self._package)

    @classmethod
    def from_url(cls, url: str) -> Self:
        """An address as in ``dask://scheduler:8786``, or ``local`` for processes started here."""
        parts = urlsplit(url)
        if parts.netloc in ("", "local"):
            workers = parse_qs(parts.query).get("workers", ["2"])[0]
            return cls(workers=_number(workers, url, f"{parts.scheme}://local?workers=2"))
        return cls(url)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result, in any order; None if its worker died each time."""
        waiting = iter(pieces)
        with ExitStack() as opened:
            room, submit, died = self._connect(work, opened)
            at_work = {submit(piece): piece for piece in islice(waiting, room)}
            while at_work:
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    result = None
                    with suppress(died):
                        result = future.result()
                    yield at_work.pop(future), result
                    at_work |= {submit(piece): piece for piece in islice(waiting, 1)}

    @abstractmethod
    def _connect(self, work: Callable[[Any], Any], opened: ExitStack) -> _Connected:
        """Reach the cluster until ``opened`` is closed.

        Returns how many pieces are at work at once, a function that submits one, and the error of a
        worker that died.
        """


class Dask(_Cluster):
    """The workers of a Dask scheduler, or of a local one."""

    _extra, _package = "dask", "dask.distributed"

    def _connect(self, work: Callable[[Any], Any], opened: ExitStack) -> _Connected:
        address = self._address.replace("dask://", "tcp://")
        local = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
        try:
            place = address or opened.enter_context(
                self._tools.LocalCluster(n_workers=self._workers, **local)
            )
            client = opened.enter_context(self._tools.Client(place, timeout=_WAIT))
        except OSError as fault:
            raise HoldfastError(
                f"no scheduler of Dask answers at {address}; start one, or check the address"
            ) from fault
        client.wait_for_workers(1, timeout=_WAIT)
        room = _AHEAD * len(client.scheduler_info(n_workers=-1)["workers"])
        return room, partial(client.get_executor(pure=False).submit, work), self._tools.KilledWorker


class Ray(_Cluster):
    """The machines of a Ray cluster."""

    _extra, _package = "ray", "ray"

    def _connect(self, work: Callable[[Any], Any], opened: ExitStack) -> _Connected:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
        given: dict[str, Any] = {"address": self._address}
        if not self._address:
            given = {"num_cpus": self._workers, "include_dashboard": False}
            given["_node_ip_address"] = "127.0.0.1"
        try:
            self._tools.init(**given, log_to_driver=False)
        except OSError as fault:
            raise HoldfastError(
                f"no cluster of Ray answers at {self._address}; start one, or check the address"
            ) from fault
        opened.callback(self._tools.shutdown)
        task = self._tools.remote(_done)
        room = _AHEAD * max(1, int(self._tools.cluster_resources().get("CPU", 1)))

        def submit(piece: object) -> Future[Any]:
            found: Future[Any] = task.remote(work, piece).future()
            return found

        return room, submit, self._tools.exceptions.WorkerCrashedError


def _done(work: Callable[[T], R], piece: T) -> R:
    return work(piece)
