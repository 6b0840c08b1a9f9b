"""Batches on a cluster of Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

from holdfast.kernel.errors import HoldfastError, MissingExtraError

try:
    from dask import distributed
    from dask.distributed import KilledWorker
except ImportError as missing:
    raise MissingExtraError("a batch on Dask", "dask") from missing

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # pieces for each worker that are submitted before their results are read
_WAIT = 60  # seconds for the scheduler and its workers


class Dask:
    """The workers of a Dask scheduler, on which Holdfast is installed, or local processes."""

    def __init__(self, address: str = "", workers: int = 2) -> None:
        self._address, self._workers = address, workers

    @classmethod
    def from_url(cls, url: str) -> Dask:
        """``dask://scheduler:8786``, or ``dask://local?workers=2`` for a local cluster."""
        parts = urlsplit(url)
        if parts.netloc in ("", "local"):
            return cls(workers=int(parse_qs(parts.query).get("workers", ["2"])[0]))
        return cls(f"tcp://{parts.netloc}")

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result; None if several workers died while working on it."""
        tools = cast("Any", distributed)
        with self._client(tools) as client:
            client.wait_for_workers(1, timeout=_WAIT)
            room = _AHEAD * len(client.scheduler_info(n_workers=-1)["workers"])
            waiting = iter(pieces)
            at_work = {
                client.submit(work, each, pure=False): each for each in islice(waiting, room)
            }
            results = tools.as_completed(list(at_work))
            for future in results:
                piece = at_work.pop(future)
                try:
                    result = future.result()
                except KilledWorker:
                    result = None
                yield piece, result
                for each in islice(waiting, 1):
                    added = client.submit(work, each, pure=False)
                    at_work[added] = each
                    results.add(added)

    def _client(self, tools: Any) -> Any:
        try:
            if self._address:
                return tools.Client(self._address, timeout=_WAIT)
            cluster = tools.LocalCluster(
                n_workers=self._workers,
                threads_per_worker=1,
                dashboard_address=None,
                host="127.0.0.1",
            )
            return _Own(tools.Client(cluster), cluster)
        except OSError as fault:
            raise HoldfastError(
                f"no scheduler of Dask answers at {self._address}; start one, or check the address"
            ) from fault


class _Own:
    """A client, and the cluster that was started for it; both are closed together."""

    def __init__(self, client: Any, cluster: Any) -> None:
        self._client, self._cluster = client, cluster

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *fault: object) -> None:
        self._client.close()
        self._cluster.close()
