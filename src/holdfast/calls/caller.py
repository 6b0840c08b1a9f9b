"""Calls of models and embedders: limited, retried, shared if equal, cached and recorded."""

import asyncio
from asyncio import gather
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from math import isfinite
from random import SystemRandom
from time import monotonic
from typing import Any, Literal, NamedTuple, cast

from holdfast.kernel.errors import HoldfastError, ModelError, problem_of
from holdfast.kernel.forks import cached_property
from holdfast.kernel.ports import Complete, Count, Embed, Reply
from holdfast.kernel.typed import what_is
from holdfast.model_usage import CallRecords, ModelCall
from holdfast.providers import name_of, provider_of
from holdfast.providers.prices import price_of
from holdfast.providers.vendor import TransientError, VendorModel
from holdfast.telemetry import traced_call
from holdfast.text.similarity import Vector
from holdfast.text.visible import encodable, fault_line

from .cache import CompressionCache, key_of
from .event_loop import in_thread
from .lineup import CallLimits, Lineup


def checked(answer: object, texts: int, who: str) -> list[Vector]:
    """The answer as one vector of finite numbers for each text, all of one length.

    Raises ModelError for anything else. ``who`` names the embedder in errors.
    """
    try:
        rows = [_numbers(row) for row in cast("Sequence[object]", answer)]
    except (TypeError, ValueError, OverflowError) as fault:
        raise ModelError(
            f"{who} returned something else than vectors of numbers: {fault}"
        ) from fault
    if len(rows) != texts:
        raise ModelError(f"{who} returned {len(rows):,} vectors for {texts:,} texts")
    if different := different_lengths(rows, who):
        raise different
    if not all(isfinite(sum(row)) for row in rows):
        raise ModelError(f"{who} returned a vector with numbers that are not finite")
    return rows


def different_lengths(rows: Sequence[Vector], who: str) -> ModelError | None:
    """The error for vectors that do not have one length, or None."""
    lengths = {len(row) for row in rows}
    if len(lengths) < 2:
        return None
    told = " and ".join(f"{length:,}" for length in sorted(lengths)[:2])
    return ModelError(
        f"{who} returned vectors of different lengths ({told}); clear the cache if it has changed"
    )


def _numbers(row: object) -> Vector:
    """The row as Python floats; arrays have a fast method for that."""
    listed: Any = getattr(row, "tolist", lambda: row)
    return list(map(float, listed()))


_SILENT = 8  # calls in a row without an answer: as many as are under way at once by default


class Request(NamedTuple):
    """A call to a vendor, the most that it may take, and how its answer is read."""

    call: Callable[[], object]
    read: Callable[[object], object]
    """Makes the outcome of the answer, and may raise ModelError."""

    measure: Callable[[Any], Mapping[str, Any]]
    """What the outcome adds to the record of the call."""

    input_tokens: int = 0
    max_tokens: int | None = None
    thought: int = 0
    """Tokens that may be billed beside those of the answer."""


class Outcome(NamedTuple):
    """What was read of the answer, or its HoldfastError, and the record of the call."""

    answer: Any
    call: ModelCall


class VendorLine:
    """Calls to one model or embedder during one run: limited, retried and recorded."""

    def __init__(
        self, kind: Literal["complete", "embed"], provider: object, limits: CallLimits
    ) -> None:
        self.provider: Any = provider
        self.name = name_of(provider)
        self.called = partial(ModelCall, kind, self.name, provider=provider_of(provider))
        self.price = price_of(provider, self.name)
        self._limits = limits
        self._seats = asyncio.Semaphore(limits.concurrency)
        self._random = SystemRandom()
        self._silent = 0

    async def ask(self, request: Request, ledger: CallRecords) -> Outcome:
        """Make the call, unless it may cost too much."""
        try:
            most = self._most(request, ledger)
        except ModelError as unasked:
            return Outcome(unasked, self.called(fault=str(unasked)))
        ledger.pledged += most
        try:
            with traced_call(self.called(), request.max_tokens) as ended:
                outcome = await self._asked(request, ledger)
                ended(outcome.call, outcome.answer)
                return outcome
        finally:
            ledger.pledged -= most

    def _most(self, request: Request, ledger: CallRecords) -> float:
        """The most that the call may cost, if there is a limit.

        Raises ModelError if it must not be made.
        """
        limit = self._limits.max_cost
        if limit is None:
            return 0.0
        if self.price is None:
            raise ModelError(
                f"{self.name} was not asked: its price is not known, and max_cost is {limit:g}; "
                "give a model with a price"
            )
        most = self.price.of(request.input_tokens, (request.max_tokens or 0) + request.thought)
        if ledger.spent + most > limit:
            raise ModelError(
                f"{self.name} was not asked: the call may cost {most:.4g} US dollars, and "
                f"{max(0.0, limit - ledger.spent):.4g} of max_cost are left"
            )
        return most

    async def _asked(self, request: Request, ledger: CallRecords) -> Outcome:
        """Make the call when ``concurrency`` allows it, with retries."""
        async with self._seats:
            started = monotonic()
            if ledger.until is None:
                ledger.until = started + self._limits.total
            attempts = 1
            answer = await self._once(request, ledger.until)
            while (wait := self._pause(answer, attempts, ledger.until)) is not None:
                await asyncio.sleep(wait)
                answer = await self._once(request, ledger.until)
                attempts += 1
            self._silent = self._silent + 1 if isinstance(answer, TransientError) else 0
            called = partial(self.called, attempts=attempts, seconds=monotonic() - started)
            if isinstance(answer, HoldfastError):
                return Outcome(answer, called(fault=str(answer)))
            return Outcome(answer, called(**request.measure(answer)))

    async def _once(self, request: Request, until: float) -> object:
        who, call = self.name, request.call
        if self._silent >= _SILENT:
            return TransientError(
                f"{who} left {self._silent} calls in a row without an answer; it is not asked again"
            )
        seconds = min(self._limits.timeout, until - monotonic())
        if seconds <= 0:
            return ModelError(
                f"the {self._limits.total:g} s for model calls are used up; {who} was not asked"
            )
        try:
            async with asyncio.timeout(seconds):
                # a blocking call runs in a thread
                waits = iscoroutinefunction(getattr(call, "func", call))
                answer = call() if waits else await in_thread(call)
                return request.read(await answer if isawaitable(answer) else answer)
        except HoldfastError as fault:
            return fault
        except TimeoutError:
            return TransientError(f"{who} did not answer within {seconds:.3g} s")
        except ConnectionError as fault:
            return TransientError(f"{who} could not be reached: {_named(fault)}")
        except asyncio.CancelledError as fault:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return ModelError(f"{who} gave up: {_named(fault)}")
        except (Exception, GeneratorExit, SystemExit) as fault:  # noqa: BLE001 - no model ends this
            return ModelError(f"{who} failed: {_named(fault)}")

    def _pause(self, answer: object, attempts: int, until: float) -> float | None:
        """Seconds to wait before a retry, or None if there is none."""
        limits = self._limits
        if not isinstance(answer, TransientError) or attempts > limits.retries:
            return None
        if self._silent >= _SILENT:  # it would not be asked
            return None
        asked = answer.retry_after or 0.0
        if asked > limits.patience:
            return None
        longest = min(limits.backoff * 2 ** (attempts - 1), limits.patience)
        wait = asked + self._random.uniform(0, longest)
        return wait if monotonic() + wait < until else None


def _named(fault: BaseException) -> str:
    """The error and its type in one line."""
    return fault_line(problem_of(fault))


_BATCH = 100  # texts in one request: Gemini accepts no more, and others do


@dataclass(eq=False)
class _Share:
    """One request: its texts, the tokens of those that were sent for it, and the calls."""

    texts: Sequence[str]
    ledger: CallRecords
    tokens: int = 0
    attempts: int = 0
    seconds: float = 0.0


class EmbeddingRound:
    """Embedding requests that are made together.

    A text is recorded with the first request that needs it, and the attempts and seconds of a
    shared batch with the first request that has a text in it.
    """

    def __init__(
        self,
        count: Count,
        line: VendorLine,
        cache: CompressionCache,
        asked: Sequence[tuple[Embed, CallRecords]],
    ) -> None:
        self._count, self._line, self._cache = count, line, cache
        self._shares = [_Share(request.texts, ledger) for request, ledger in asked]
        self._known: dict[str, Vector | HoldfastError] = {}
        self._owners: dict[str, _Share] = {}

    async def answers(self) -> list[object]:
        """The answer to each request: its vectors, or the error of one of them."""
        needed = [(text, share) for share in self._shares for text in share.texts]
        wanted = list(dict(needed))
        found = await self._cache.embeddings.afind(list(map(self._key, wanted)))
        for text, vector in zip(wanted, found, strict=True):
            if vector is not None:
                self._known[text] = vector
        for text, share in needed:
            if text not in self._known:
                self._owners.setdefault(text, share)
        sent = Counter(self._owners.values())
        missing = list(self._owners)
        await gather(
            *(self._fill(missing[at : at + _BATCH]) for at in range(0, len(missing), _BATCH))
        )
        return [self._settled(share, sent[share]) for share in self._shares]

    async def _fill(self, texts: Sequence[str]) -> None:
        """Get the vectors; if a batch is refused, each of its requests is sent alone.

        So one wrong request does not make the others fail.
        """
        shares = list(dict.fromkeys(map(self._owners.__getitem__, texts)))
        key = key_of(self._line.name, *texts)
        answer, _ = await self._cache.flights.once(key, lambda: self._vectors(texts, shares[0]))
        if not isinstance(answer, HoldfastError):
            self._known.update(zip(texts, cast("list[Vector]", answer), strict=True))
            return
        if len(shares) == 1 or isinstance(answer, TransientError):
            self._known.update(dict.fromkeys(texts, answer))
            return
        groups = ([text for text in texts if self._owners[text] is share] for share in shares)
        await gather(*map(self._fill, groups))

    async def _vectors(self, texts: Sequence[str], first: _Share) -> object:
        sizes = list(map(self._count, texts))
        whole = sum(sizes)

        def measure(_: object) -> Mapping[str, int]:
            return {"input_tokens": whole}

        request = Request(
            partial(self._line.provider.embed, list(map(encodable, texts))),
            partial(checked, texts=len(texts), who=self._line.name),
            measure,
            whole,
        )
        rows, told = await self._line.ask(request, first.ledger)
        first.attempts += told.attempts
        first.seconds += told.seconds
        if isinstance(rows, HoldfastError):
            return rows
        for text, size in zip(texts, sizes, strict=True):
            self._owners[text].tokens += size
        vectors = zip(map(self._key, texts), rows, strict=True)
        await self._cache.embeddings.akeep(dict(vectors))
        return rows

    def _settled(self, share: _Share, sent: int) -> object:
        found: list[Any] = [self._known[text] for text in share.texts]
        fault = next((each for each in found if isinstance(each, HoldfastError)), None)
        fault = fault or different_lengths(found, self._line.name)
        price, tokens = self._line.price, share.tokens
        share.ledger.calls.append(
            self._line.called(
                tokens,
                counted=sent > 0,
                items=len(found),
                cached=0 if fault else len(found) - sent,
                attempts=share.attempts,
                seconds=share.seconds,
                cost=price.of(tokens, 0) if price else None,
                fault=str(fault) if fault else "",
            )
        )
        return found if fault is None else fault

    def _key(self, text: str) -> str:
        return key_of(self._line.name, text)


class Caller:
    """Answers the requests to models and embedders of one run, for one conversation or many."""

    def __init__(self, lineup: Lineup) -> None:
        self._lineup, self._cache = lineup, lineup.cache or CompressionCache(0, 0)
        self._line = VendorLine("complete", lineup.model, lineup.limits)

    @cached_property
    def _embeddings(self) -> VendorLine:
        return VendorLine("embed", self._lineup.embeds(), self._lineup.limits)

    async def together(self, asked: Sequence[tuple[Complete | Embed, CallRecords]]) -> list[object]:
        """The answers in order, each an answer or a HoldfastError; embeddings share batches.

        A request comes with the record to which its calls are added.
        """
        embeds = [(request, ledger) for request, ledger in asked if isinstance(request, Embed)]
        completions = [
            self._completed(request, ledger)
            for request, ledger in asked
            if isinstance(request, Complete)
        ]
        vectors, texts = await gather(self._embedded(embeds), gather(*completions))
        rows, replies = iter(vectors), iter(texts)
        return [next(rows) if isinstance(request, Embed) else next(replies) for request, _ in asked]

    async def _completed(self, request: Complete, ledger: CallRecords) -> object:
        if self._lineup.model is None:
            return ModelError("no model was given; pass llm=")
        key = key_of(self._line.name, request.system, request.prompt, str(request.max_tokens))
        reply, own = await self._cache.flights.once(key, lambda: self._reply(key, request, ledger))
        if not own:
            fault = str(reply) if isinstance(reply, HoldfastError) else ""
            ledger.calls.append(self._line.called(cached=int(not fault), fault=fault))
        return reply

    async def _reply(self, key: str, request: Complete, ledger: CallRecords) -> object:
        """The cached reply, or the model's, which is then cached."""
        (known,) = await self._cache.summaries.afind([key])
        if known is not None:
            ledger.calls.append(self._line.called(cached=1))
            return known
        prompt, system = encodable(request.prompt), encodable(request.system)
        sent, most = system + prompt, request.max_tokens
        vendor = Request(
            partial(self._line.provider.complete, prompt, system=system, max_tokens=most),
            partial(_reply_of, who=self._line.name),
            partial(self._measured, sent=sent),
            0 if self._lineup.limits.max_cost is None else self._lineup.count(sent),
            most,
            self._line.provider.thought if isinstance(self._line.provider, VendorModel) else 0,
        )
        reply, told = await self._line.ask(vendor, ledger)
        ledger.calls.append(told)
        if isinstance(reply, HoldfastError):
            return reply
        if reply.text.strip():
            await self._cache.summaries.akeep({key: reply.text})
        return reply.text

    def _measured(self, reply: Reply, sent: str) -> Mapping[str, Any]:
        """The tokens and the cost of a reply."""
        count, price = self._lineup.count, self._line.price
        into = count(sent) if reply.input_tokens is None else reply.input_tokens
        out = count(reply.text) if reply.output_tokens is None else reply.output_tokens
        return {
            "input_tokens": into,
            "output_tokens": out,
            "counted": reply.input_tokens is None or reply.output_tokens is None,
            "cost": price.of(into, out) if price else None,
        }

    async def _embedded(self, asked: Sequence[tuple[Embed, CallRecords]]) -> list[object]:
        if not any(request.texts for request, _ in asked):
            return [[] for _ in asked]
        try:
            line = self._embeddings
        except HoldfastError as fault:
            return [fault] * len(asked)
        return await EmbeddingRound(self._lineup.count, line, self._cache, asked).answers()


def _reply_of(answer: object, who: str) -> Reply:
    """The answer as a reply without lone surrogates. Raises ModelError for anything else."""
    reply = Reply(answer) if isinstance(answer, str) else answer
    if not isinstance(reply, Reply) or not isinstance(cast("object", reply.text), str):
        raise ModelError(f"{who} returned {what_is(answer)} in the place of a text")
    return Reply(encodable(reply.text), reply.input_tokens, reply.output_tokens)
