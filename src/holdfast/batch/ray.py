"""Batches on a cluster of Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

from holdfast.kernel.errors import HoldfastError, MissingExtraError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports

try:
    import ray
    from ray.exceptions import WorkerCrashedError
except ImportError as missing:
    raise MissingExtraError("a batch on Ray", "ray") from missing

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # pieces for each processor that are submitted before their results are read
_TRIES = 3


def _done(work: Callable[[T], R], piece: T) -> R:
    return work(piece)


class Ray:
    """A Ray cluster on whose machines Holdfast is installed, or local processes."""

    def __init__(self, address: str = "", workers: int = 2) -> None:
        self._address, self._workers = address, workers

    @classmethod
    def from_url(cls, url: str) -> Ray:
        """``ray://head:10001``, or ``ray://local?workers=2`` for a local cluster."""
        parts = urlsplit(url)
        if parts.netloc in ("", "local"):
            return cls(workers=int(parse_qs(parts.query).get("workers", ["2"])[0]))
        return cls(url)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result; None if its process died each time."""
        tools = cast("Any", ray)
        self._begin(tools)
        try:
            task = tools.remote(max_retries=_TRIES)(_done)
            room = _AHEAD * max(1, int(tools.cluster_resources().get("CPU", 1)))
            waiting = iter(pieces)
            at_work = {task.remote(work, each): each for each in islice(waiting, room)}
            while at_work:
                done, _ = tools.wait(list(at_work), num_returns=1)
                piece = at_work.pop(done[0])
                try:
                    result = tools.get(done[0])
                except WorkerCrashedError:
                    result = None
                yield piece, result
                for each in islice(waiting, 1):
                    at_work[task.remote(work, each)] = each
        finally:
            tools.shutdown()

    def _begin(self, tools: Any) -> None:
        try:
            if self._address:
                tools.init(self._address, log_to_driver=False)
            else:
                tools.init(
                    num_cpus=self._workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    _node_ip_address="127.0.0.1",
                )
        except (ConnectionError, OSError) as fault:
            raise HoldfastError(
                f"no cluster of Ray answers at {self._address}; start one, or check the address"
            ) from fault
