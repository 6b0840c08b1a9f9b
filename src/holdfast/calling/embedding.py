"""Requests for vectors that go out together: each text once, in batches that conversations share."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from holdfast.cache import key_of
from holdfast.cache.flights import Flights
from holdfast.cost import price_of
from holdfast.kernel.errors import HoldfastError, ModelError
from holdfast.kernel.ports import Embed, Embedder
from holdfast.providers import name_of
from holdfast.providers.faults import TransientError
from holdfast.usage import Ledger, ModelCall

from .line import Line
from .lineup import Lineup
from .vectors import Vector, check_lengths, checked

_BATCH = 100  # texts in one request: the most that Gemini takes


@dataclass(slots=True)
class _Tally:
    """What the texts of one request took."""

    sent: list[str] = field(default_factory=list[str])
    attempts: int = 0
    seconds: float = 0.0


class EmbeddingRound:
    """The requests of one moment.

    A text is on record with the first request that needs it; the attempts and seconds of a shared batch are on
    record with the first request that has a text in it.
    """

    def __init__(
        self,
        lineup: Lineup,
        embedder: Embedder,
        line: Line,
        flights: Flights,
        asked: Sequence[tuple[Embed, Ledger]],
    ) -> None:
        self._lineup, self._embedder, self._line, self._flights = lineup, embedder, line, flights
        self._asked, self._name = asked, name_of(embedder)
        self._known: dict[str, Vector | HoldfastError] = {}
        self._owners: dict[str, int] = {}
        self._tallies = [_Tally() for _ in asked]

    async def answers(self) -> list[object]:
        """The answer to each request: its vectors, or the fault of one of them."""
        wanted = list(dict.fromkeys(text for request, _ in self._asked for text in request.texts))
        self._known.update(await self._remembered(wanted))
        for i, (request, _) in enumerate(self._asked):
            for text in request.texts:
                if text not in self._known and self._owners.setdefault(text, i) == i:
                    self._tallies[i].sent.append(text)
        missing = list(self._owners)
        await gather(*(self._fill(missing[at : at + _BATCH]) for at in range(0, len(missing), _BATCH)))
        return [self._settled(i) for i in range(len(self._asked))]

    async def _remembered(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        if self._lineup.cache is None:
            return {}
        found = await self._lineup.cache.embeddings.afind([self._key(text) for text in texts])
        return {text: vector for text, vector in zip(texts, found, strict=True) if vector is not None}

    async def _fill(self, texts: Sequence[str]) -> None:
        """Get the vectors; where a batch is refused, each request is tried alone: the fault may be one's own."""
        ledger = self._asked[self._owners[texts[0]]][1]
        key = key_of(self._name, *texts)
        answer, _ = await self._flights.once(key, lambda: self._vectors(texts, ledger))
        if not isinstance(answer, HoldfastError):
            self._known.update(zip(texts, cast("list[Vector]", answer), strict=True))
            return
        groups: dict[int, list[str]] = {}
        for text in texts:
            groups.setdefault(self._owners[text], []).append(text)
        if len(groups) > 1 and not isinstance(answer, TransientError):
            await gather(*(self._fill(group) for group in groups.values()))
        else:
            self._known.update(dict.fromkeys(texts, answer))

    async def _vectors(self, texts: Sequence[str], ledger: Ledger) -> object:
        call = partial(self._embedder.embed, [cleaned(text) for text in texts])
        outcome = await self._line.ask(self._name, call, ledger)
        tally = self._tallies[self._owners[texts[0]]]
        tally.attempts += outcome.attempts
        tally.seconds += outcome.seconds
        if isinstance(outcome.answer, HoldfastError):
            return outcome.answer
        try:
            rows = checked(outcome.answer, len(texts), self._name)
        except ModelError as fault:
            return fault
        if self._lineup.cache is not None:
            keys = [self._key(text) for text in texts]
            await self._lineup.cache.embeddings.akeep(dict(zip(keys, rows, strict=True)))
        return rows

    def _settled(self, i: int) -> object:
        request, ledger = self._asked[i]
        found = [self._known[text] for text in request.texts]
        fault = next((each for each in found if isinstance(each, HoldfastError)), None)
        if fault is None:
            try:
                check_lengths(cast("list[Vector]", found), self._name)
            except ModelError as different:
                fault = different
        self._put_on_record(i, ledger, fault)
        return found if fault is None else fault

    def _put_on_record(self, i: int, ledger: Ledger, fault: HoldfastError | None) -> None:
        tally, wanted = self._tallies[i], self._asked[i][0].texts
        price = price_of(self._embedder, self._name)
        tokens = 0 if fault else sum(map(self._lineup.count, tally.sent))
        ledger.calls.append(
            ModelCall(
                "embed",
                self._name,
                tokens,
                counted=bool(tally.sent),
                items=len(wanted),
                cached=0 if fault else len(wanted) - len(tally.sent),
                attempts=tally.attempts,
                seconds=tally.seconds,
                cost=price.of(tokens, 0) if price else None,
                fault=str(fault) if fault else "",
            )
        )

    def _key(self, text: str) -> str:
        return key_of(self._name, text)


def cleaned(text: str) -> str:
    """The text without lone surrogates, which no wire and no store takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
