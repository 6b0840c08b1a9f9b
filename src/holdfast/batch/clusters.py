"""Batches on a cluster of Dask or of Ray, whose machines have Holdfast, or on local processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import parse_qs, urlsplit

from holdfast.kernel.errors import HoldfastError, MissingExtraError

F = TypeVar("F")
T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # pieces for each worker that are submitted before their results are read
_WAIT = 60  # seconds for the scheduler of Dask and its workers
_TRIES = 3


class _Cluster:
    """The workers of a cluster."""

    _extra: ClassVar[str]
    _package: ClassVar[str]

    def __init__(self, address: str = "", workers: int = 2) -> None:
        self._address, self._workers = address, workers
        try:
            self._tools: Any = import_module(self._package)
        except ImportError as missing:
            problem = f"a batch on {self._extra.capitalize()}"
            raise MissingExtraError(problem, self._extra) from missing

    @classmethod
    def from_url(cls, url: str) -> Self:
        """``dask://scheduler:8786``, or ``dask://local?workers=2`` for local processes."""
        parts = urlsplit(url)
        if parts.netloc in ("", "local"):
            return cls(workers=int(parse_qs(parts.query).get("workers", ["2"])[0]))
        return cls(url)


class Dask(_Cluster):
    """The workers of a Dask scheduler, or of a local one."""

    _extra, _package = "dask", "dask.distributed"

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result; None if several workers died while working on it."""
        with ExitStack() as opened:
            client = self._client(opened)
            client.wait_for_workers(1, timeout=_WAIT)
            room = _AHEAD * len(client.scheduler_info(n_workers=-1)["workers"])

            def submit(piece: T) -> Any:
                return client.submit(work, piece, pure=False)

            for piece, future in _finished(pieces, room, submit, self._first):
                try:
                    yield piece, future.result()
                except self._tools.KilledWorker:
                    yield piece, None

    def _first(self, futures: list[Any]) -> Any:
        return next(iter(self._tools.wait(futures, return_when="FIRST_COMPLETED").done))

    def _client(self, opened: ExitStack) -> Any:
        address = self._address.replace("dask://", "tcp://")
        local = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
        try:
            place = address or opened.enter_context(
                self._tools.LocalCluster(n_workers=self._workers, **local)
            )
            return opened.enter_context(self._tools.Client(place, timeout=_WAIT))
        except OSError as fault:
            raise HoldfastError(
                f"no scheduler of Dask answers at {address}; start one, or check the address"
            ) from fault


class Ray(_Cluster):
    """The machines of a Ray cluster."""

    _extra, _package = "ray", "ray"

    def __init__(self, address: str = "", workers: int = 2) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
        super().__init__(address, workers)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result; None if its process died each time."""
        tools = self._tools
        self._begin()
        try:
            task = tools.remote(max_retries=_TRIES)(_done)
            room = _AHEAD * max(1, int(tools.cluster_resources().get("CPU", 1)))

            def submit(piece: T) -> Any:
                return task.remote(work, piece)

            for piece, reference in _finished(pieces, room, submit, self._first):
                try:
                    yield piece, tools.get(reference)
                except tools.exceptions.WorkerCrashedError:
                    yield piece, None
        finally:
            tools.shutdown()

    def _first(self, references: list[Any]) -> Any:
        return self._tools.wait(references, num_returns=1)[0][0]

    def _begin(self) -> None:
        local = {
            "num_cpus": self._workers,
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
        }
        given = {"address": self._address} if self._address else local
        try:
            self._tools.init(**given, log_to_driver=False)
        except (ConnectionError, OSError) as fault:
            raise HoldfastError(
                f"no cluster of Ray answers at {self._address}; start one, or check the address"
            ) from fault


def _done(work: Callable[[T], R], piece: T) -> R:
    return work(piece)


def _finished(
    pieces: Iterable[T], room: int, submit: Callable[[T], F], first: Callable[[list[F]], F]
) -> Iterator[tuple[T, F]]:
    """Each piece and its finished work; ``room`` pieces are at work at once."""
    waiting = iter(pieces)
    at_work = {submit(piece): piece for piece in islice(waiting, room)}
    while at_work:
        done = first(list(at_work))
        yield at_work.pop(done), done
        at_work |= {submit(piece): piece for piece in islice(waiting, 1)}
