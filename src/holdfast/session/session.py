"""A session: what users call, waiting or awaited."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Self

from holdfast.kernel.budget import Budget
from holdfast.memory.facts import Fact, Ledger
from holdfast.memory.tiers import Tier, Tiers, TierStatistics

from .arguments import Which
from .parts import View
from .past import Recalled
from .reading import Expand
from .state import Event
from .stats import Stats
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

    async def aappend(
        self, *messages: Any, ids: Sequence[str] = (), at: float | datetime | None = None
    ) -> list[int]:
        """As ``append``."""
        return await to_thread(self.append, *messages, ids=ids, at=at)

    async def afit(
        self, query: str | None = None, *, budget: int | Budget | None = None, tools: object = None
    ) -> View:
        """As ``fit``."""
        return await to_thread(self.fit, query, budget=budget, tools=tools)

    async def asearch(self, query: str, limit: int = 10) -> list[Recalled]:
        """As ``search``."""
        return await to_thread(self.search, query, limit)

    async def arecall(
        self,
        key: Which,
        *,
        lines: tuple[int, int] | str | None = None,
        pattern: str | None = None,
        field: str | None = None,
        expand: Expand | None = None,
    ) -> str:
        """As ``recall``."""
        return await to_thread(self.recall, key, lines=lines, pattern=pattern, field=field, expand=expand)

    async def areport(self, format: Literal["text", "html"] = "text") -> str:  # noqa: A002 - as above
        """As ``report``."""
        return await to_thread(self.report, format)

    async def atend(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """As ``tend``."""
        return await to_thread(self.tend, force=force)

    async def atiers(self) -> Tiers:
        """As ``tiers``."""
        return await to_thread(self.tiers)

    async def aremember(self, text: str, *, by: str = "user") -> Event:
        """As ``remember``."""
        return await to_thread(self.remember, text, by=by)

    async def afacts(self) -> Ledger:
        """As ``facts``."""
        return await to_thread(self.facts)

    async def aforget(self, note: Event | int | Fact) -> Event:
        """As ``forget``."""
        return await to_thread(self.forget, note)

    async def anotes(self) -> dict[int, str]:
        """As ``notes``."""
        return await to_thread(self.notes)

    async def amessages(self) -> list[Any]:
        """As ``messages``."""
        return await to_thread(self.messages)

    async def arestore(self) -> list[Any]:
        """As ``restore``."""
        return await to_thread(self.restore)

    async def ahistory(self) -> list[Event]:
        """As ``history``."""
        return await to_thread(self.history)

    async def astats(self) -> Stats:
        """As ``stats``."""
        return await to_thread(self.stats)

    async def aedit(self, which: Which, message: Any, *, reason: str = "edited") -> Event:
        """As ``edit``."""
        return await to_thread(self.edit, which, message, reason=reason)

    async def adelete(self, *which: Which, reason: str = "deleted") -> Event:
        """As ``delete``."""
        return await to_thread(self.delete, *which, reason=reason)

    async def apin(self, *which: Which, reason: str = "pinned") -> Event:
        """As ``pin``."""
        return await to_thread(self.pin, *which, reason=reason)

    async def aundo(self, event: Event | int | None = None) -> Event:
        """As ``undo``."""
        return await to_thread(self.undo, event)

    async def afork(self, thread: str) -> Self:
        """As ``fork``."""
        return await to_thread(self.fork, thread)

    async def aclose(self) -> None:
        """As ``close``."""
        await to_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.aclose()
