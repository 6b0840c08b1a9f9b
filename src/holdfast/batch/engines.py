"""The engines of a batch: processes of this machine, or the workers of a Dask or Ray cluster.

The machines of a cluster have Holdfast too.
"""

import os
import signal
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from multiprocessing import connection, get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from pickle import PicklingError
from threading import Event, Thread
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


_Connected = tuple[int, Callable[[Any], Future[Any]], type[Exception]]


class _Workers:
    """Workers in other processes, or on other machines."""

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result, in any order; None if its worker died each time.

        Raises the errors of ``work``, and HoldfastError if no worker could do any work.
        """
        waiting = iter(pieces)
        worked, lost = False, list[T]()
        with ExitStack() as opened:
            room, submit, died = self._connect(work, opened)
            at_work = {submit(piece): piece for piece in islice(waiting, room)}
            while at_work:
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    piece = at_work.pop(future)
                    # at once, so that no worker is idle while the caller uses the result
                    at_work |= {submit(each): each for each in islice(waiting, 1)}
                    try:
                        result = future.result()
                    except died:
                        lost.append(piece)
                    else:
                        worked = True
                        yield piece, result
                if not worked and (len(lost) >= _DEATHS or not at_work):
                    raise HoldfastError(
                        "no process could do any work: each ended by itself; see its output"
                    )
        yield from ((piece, None) for piece in lost)

    @abstractmethod
    def _connect(self, work: Callable[[Any], Any], opened: ExitStack) -> _Connected:
        """Reach the workers until ``opened`` is closed.

        Returns how many pieces are at work at once, a function that submits one, and the error of a
        piece whose worker died each time.
        """


class Processes(_Workers):
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

    def _connect(self, work: Callable[[Any], Any], opened: ExitStack) -> _Connected:
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = cast("SpawnContext", get_context(method))
        context.set_forkserver_preload(_LOADED)  # imported once, for all processes
        alive, idle, ended = set[_Process](), list[_Process](), Event()

        def done(piece: Any) -> Any:
            for _ in range(_DEATHS):
                process = idle.pop() if idle else _Process(context, work)
                alive.add(process)
                try:
                    result = process.done(piece)
                except _DiedError:
                    process.close()
                    alive.remove(process)
                    if ended.is_set():
                        break
                else:
                    idle.append(process)
                    return result
            raise _DiedError

        def end() -> None:
            ended.set()
            for process in list(alive):
                process.close()

        # each thread waits for a process, which another one replaces where it dies
        threads = opened.enter_context(ThreadPoolExecutor(self._number))
        opened.callback(end)
        return self._number, lambda piece: threads.submit(done, piece), _DiedError


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
        self._pipe, theirs = context.Pipe()
        # as a daemon it does not keep a program that ends amid a batch
        self._process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        with theirs, _sending():
            self._process.start()

    def done(self, piece: Any) -> Any:
        """Raises what the work raised, or _DiedError."""
        try:
            with _sending():
                self._pipe.send(piece)
            # the process is waited for too: another one may have a copy of the pipe's end
            connection.wait([self._pipe, self._process.sentinel])
            if not self._pipe.poll():
                raise _DiedError
            result, fault = self._pipe.recv()
        except (EOFError, OSError) as end:
            raise _DiedError from end
        if fault is not None:
            raise fault
        return result

    def close(self) -> None:
        """End it at once: what it works at is done again."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


@contextmanager
def _sending() -> Generator[None]:
    """Raise ConfigError for what cannot be pickled."""
    try:
        yield
    except (PicklingError, AttributeError, TypeError) as fault:
        raise ConfigError(
            f"what it works with cannot be sent to a process ({fault})",
            place="engine",
            advice="give names, functions of a module and plain messages",
        ) from fault


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Do the work on each piece that comes, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends this
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent has gone
        while True:
            piece = pipe.recv()
            result = fault = None
            try:
                result = work(piece)
            except Exception as raised:  # noqa: BLE001 - the parent raises it
                raised.add_note(format_exc())
                fault = raised
            try:
                pipe.send((result, fault))
            except OSError:
                raise
            except Exception as unsent:  # noqa: BLE001 - whatever pickling it raises
                pipe.send((None, HoldfastError(f"the result cannot be sent: {unsent}")))


def _end_with_parent() -> None:
    """End this process when its parent ends, even if that is killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


class _Cluster(_Workers):
    """The workers of a cluster."""

    _package: ClassVar[str]

    def __init__(self, address: str = "", workers: int = 2) -> None:
        self._address, self._workers = address, workers
        name = type(self).__name__
        with needed_by(f"a batch on {name}", name.lower()):
            self._tools: Any = import_module(self._package)

    @classmethod
    def from_url(cls, url: str) -> Self:
        """An address as in ``dask://scheduler:8786``, or ``local`` for processes started here."""
        parts = urlsplit(url)
        if parts.netloc in ("", "local"):
            workers = parse_qs(parts.query).get("workers", ["2"])[0]
            return cls(workers=_number(workers, url, f"{parts.scheme}://local?workers=2"))
        return cls(url)


class Dask(_Cluster):
    """The workers of a Dask scheduler, or of a local one."""

    _package = "dask.distributed"

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

    _package = "ray"

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
