"""Calls of models and embedders: shared where they are equal, remembered, and each put on record."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from functools import partial
from typing import cast

from holdfast.cache import key_of
from holdfast.cache.flights import Flights
from holdfast.cost import price_of
from holdfast.kernel.errors import HoldfastError, ModelError
from holdfast.kernel.ports import Complete, Embed, Model, Reply
from holdfast.providers import name_of
from holdfast.usage import Ledger, ModelCall

from .embedding import EmbeddingRound, cleaned
from .line import Line, Outcome
from .lineup import Lineup

Asked = tuple[Complete | Embed, Ledger]
"""A request, and where its calls are put on record."""


class Caller:
    """Answers what models and embedders are asked during one run, for one conversation or for many."""

    def __init__(self, lineup: Lineup) -> None:
        self._lineup = lineup
        self._cache = lineup.cache
        self._flights = Flights() if lineup.cache is None else lineup.cache.flights
        self._model_line, self._embedder_line = Line(lineup.limits), Line(lineup.limits)

    async def together(self, asked: Sequence[Asked]) -> list[object]:
        """The answers in order, each an answer or a HoldfastError; all embeddings go out together."""
        embeds = [(request, ledger) for request, ledger in asked if isinstance(request, Embed)]
        completes = [(request, ledger) for request, ledger in asked if isinstance(request, Complete)]
        vectors, *texts = await gather(
            self._embedded(embeds), *(self._completed(request, ledger) for request, ledger in completes)
        )
        rows, replies = iter(cast("list[object]", vectors)), iter(texts)
        return [next(rows) if isinstance(request, Embed) else next(replies) for request, _ in asked]

    async def _completed(self, request: Complete, ledger: Ledger) -> object:
        model = self._lineup.model
        if model is None:
            return ModelError("no model was given; pass llm=")
        name = name_of(model)
        key = key_of(name, request.system, request.prompt, str(request.max_tokens))
        reply, own = await self._flights.once(key, lambda: self._reply(model, key, request, ledger))
        if not own:
            fault = str(reply) if isinstance(reply, HoldfastError) else ""
            ledger.calls.append(ModelCall("complete", name, cached=int(not fault), fault=fault))
        return reply

    async def _reply(self, model: Model, key: str, request: Complete, ledger: Ledger) -> object:
        """What the cache knows, else what the model says: then the cache knows it too."""
        name = name_of(model)
        known = None if self._cache is None else (await self._cache.summaries.afind([key]))[0]
        if known is not None:
            ledger.calls.append(ModelCall("complete", name, cached=1))
            return known
        prompt, system = cleaned(request.prompt), cleaned(request.system)
        call = partial(model.complete, prompt, system=system, max_tokens=request.max_tokens)
        outcome = await self._model_line.ask(name, call, ledger)
        reply = _reply_of(outcome.answer, name)
        if isinstance(reply, HoldfastError):
            ledger.calls.append(_failed(name, outcome, reply))
            return reply
        ledger.calls.append(self._on_record(model, outcome, reply, system + prompt))
        if self._cache is not None and reply.text.strip():
            await self._cache.summaries.akeep({key: reply.text})
        return reply.text

    def _on_record(self, model: Model, outcome: Outcome, reply: Reply, sent: str) -> ModelCall:
        counted = reply.input_tokens is None or reply.output_tokens is None
        count, name = self._lineup.count, name_of(model)
        into = count(sent) if reply.input_tokens is None else reply.input_tokens
        out = count(reply.text) if reply.output_tokens is None else reply.output_tokens
        price = price_of(model, name)
        return ModelCall(
            "complete",
            name,
            into,
            out,
            counted=counted,
            attempts=outcome.attempts,
            seconds=outcome.seconds,
            cost=price.of(into, out) if price else None,
        )

    async def _embedded(self, asked: Sequence[tuple[Embed, Ledger]]) -> list[object]:
        if not any(request.texts for request, _ in asked):
            return [[] for _ in asked]
        try:
            embedder = self._lineup.embeds()
        except HoldfastError as fault:
            return [fault] * len(asked)
        embedding = EmbeddingRound(self._lineup, embedder, self._embedder_line, self._flights, asked)
        return await embedding.answers()


def _reply_of(answer: object, who: str) -> Reply | HoldfastError:
    """The answer as a reply without lone surrogates, or the fault that it is."""
    if isinstance(answer, HoldfastError):
        return answer
    reply = Reply(answer) if isinstance(answer, str) else answer
    if not isinstance(reply, Reply) or not isinstance(cast("object", reply.text), str):
        return ModelError(f"{who} returned a {type(answer).__name__} in the place of a text")
    return Reply(cleaned(reply.text), reply.input_tokens, reply.output_tokens)


def _failed(name: str, outcome: Outcome, fault: HoldfastError) -> ModelCall:
    return ModelCall("complete", name, attempts=outcome.attempts, seconds=outcome.seconds, fault=str(fault))
