"""A session: what users call, waiting or awaited."""

from __future__ import annotations

from asyncio import to_thread
from typing import Self

from .awaited import awaited
from .synchronous import SyncSession


class Session(SyncSession):
    """A conversation that is kept whole and seen through a view that fits.

    ``thread`` is any text, and names the conversation in its store; many threads live in one store, and many
    processes may use one thread. ``store``: a URL such as ``sqlite:///agent.db``, or an object that keeps logs;
    without one everything is kept in memory, as long as the session lives. ``budget`` is for ``fit``; ``model``,
    ``format``, ``profile``, ``counter`` and ``redact`` are those of ``compress``. ``tiers`` are the sizes of hot,
    warm and cold. ``vectors``: whether messages are found by what they mean too, by default where the extra
    ``local`` is installed. ``condenser`` makes the warm and the cold form of what leaves hot, by default by rule.
    ``clock`` tells the time, in seconds since 1970 UTC.

    ``llm``, ``embedder``, ``cache`` and ``limits`` are those of ``compress``. The model writes the forms, each
    held against the original; until one is there that of the rule stands, and the next tending puts it in its
    place. The embedder tells which segments come near to what is being talked about; they stay longer. Both are
    asked by ``append``, with ``background`` in a thread of its own, and by ``tend``, never by ``fit``. What goes
    wrong there is not raised: ``stats`` and ``history`` tell it.

    What the log holds is never changed or deleted. Each method has an asynchronous form whose name begins with a,
    which leaves the waiting to a thread.
    """

    aappend = awaited(SyncSession.append)
    afit = awaited(SyncSession.fit)
    asearch = awaited(SyncSession.search)
    arecall = awaited(SyncSession.recall)
    areport = awaited(SyncSession.report)
    atend = awaited(SyncSession.tend)
    atiers = awaited(SyncSession.tiers)
    aremember = awaited(SyncSession.remember)
    aforget = awaited(SyncSession.forget)
    afacts = awaited(SyncSession.facts)
    anotes = awaited(SyncSession.notes)
    amessages = awaited(SyncSession.messages)
    arestore = awaited(SyncSession.restore)
    ahistory = awaited(SyncSession.history)
    astats = awaited(SyncSession.stats)
    aedit = awaited(SyncSession.edit)
    adelete = awaited(SyncSession.delete)
    apin = awaited(SyncSession.pin)
    aundo = awaited(SyncSession.undo)
    aclose = awaited(SyncSession.close)

    async def afork(self, thread: str) -> Self:
        """As ``fork``."""
        return await to_thread(self.fork, thread)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.aclose()
