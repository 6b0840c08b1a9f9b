"""The public functions that fit and count conversations, and one to try them on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from holdfast.engine import Progress, fit, fit_many
from holdfast.formats import read
from holdfast.formats.payloads import model_of
from holdfast.kernel.budget import BudgetLike
from holdfast.kernel.compressor import arun, run
from holdfast.kernel.ports import Accuracy
from holdfast.kernel.registry import imported
from holdfast.options import Options, Provider, check, lists_options
from holdfast.result import CompressionResult, M, bare
from holdfast.runtime import answers, awaited
from holdfast.tokens import Counter, meter_for

_PREVIEW = 50  # characters of a message in a breakdown (L.3)


@lists_options
def compress(
    messages: M, budget: BudgetLike = None, **options: Unpack[Options]
) -> CompressionResult[M]:
    """Fit a conversation to a budget of tokens and return a ``CompressionResult``.

    ``messages`` is a list of messages or a request body, whose system prompt and tools are
    counted too. The result has the same type; messages that are not changed are the same objects.
    Objects of a vendor's package come back as dictionaries. A ``Conversation`` is accepted too; its
    id is the default for ``thread``.

    ``budget`` is a number of tokens, a text such as ``"8k"``, or a ``Budget``. Without it, the
    budget is the context window of ``model``, or of the model that the body names.

    The other options are those of ``holdfast.options.Options``, each described there. The ones used
    most: ``profile`` or ``strategy`` (how to compress), ``query`` (the question to keep material
    for), ``pin`` (messages to keep), ``store`` (where originals go), ``llm`` (a model that writes
    summaries, for steps that ask one, as those of the profile ``quality``) and ``redact`` (mask
    secrets).

    Raises ConfigError for a wrong option, InputError for messages that cannot be read, BudgetError
    if a hard budget cannot be met, and StrategyError with ``on_failure="raise"``. Other failures of
    strategies, stores and models do not raise: the result says what happened in ``degraded`` and
    ``detail``.
    """
    return run(fit(messages, budget, options), answers)


@lists_options
async def acompress(
    messages: M, budget: BudgetLike = None, **options: Unpack[Options]
) -> CompressionResult[M]:
    """Like ``compress``, for use in an event loop."""
    return await arun(fit(messages, budget, options), awaited)


@lists_options
def compress_many(
    conversations: Iterable[M],
    budget: BudgetLike = None,
    *,
    progress: Progress | None = None,
    engine: object = None,
    **options: Unpack[Options],
) -> list[CompressionResult[M]]:
    """Fit each conversation to the budget and return the results in order.

    Options are those of ``compress``. The concurrency in ``limits`` applies to all conversations
    together; its ``total`` is ignored. ``progress(done, total)`` is called after each round.

    An error in one conversation does not raise: its result has ``status`` ``failed``, with the
    reason ``invalid_input`` if it could not be read. Raises ConfigError for wrong options.

    ``engine`` runs the work elsewhere: ``processes://4`` on this machine, ``dask://host:8786`` or
    ``ray://host:10001`` on a cluster, or an object of ``holdfast.batch.Engine``. All arguments must
    then be picklable.
    """
    if engine is not None:
        compress_on = imported("holdfast.batch:compress_on")
        results: list[CompressionResult] = compress_on(
            conversations, budget, engine, options, progress
        )
        return results
    return run(fit_many(conversations, budget, options, progress), answers)


@lists_options
async def acompress_many(
    conversations: Iterable[M],
    budget: BudgetLike = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[CompressionResult[M]]:
    """Like ``compress_many``, for use in an event loop."""
    return await arun(fit_many(conversations, budget, options, progress), awaited)


class ContextCompressor:
    """``compress`` with its options set once."""

    @lists_options
    def __init__(self, **options: Unpack[Options]) -> None:
        self.options = options
        check(options)

    def compress(self, messages: M, max_tokens: BudgetLike = None) -> M:
        """Return only the messages, fitted to ``max_tokens``."""
        return self.compress_with_metrics(messages, max_tokens).messages

    def compress_with_metrics(
        self, messages: M, max_tokens: BudgetLike = None
    ) -> CompressionResult[M]:
        """Return the ``CompressionResult``."""
        return compress(messages, max_tokens, **self.options)


@dataclass(frozen=True, slots=True)
class MessageTokens:
    """The tokens of one message; ``preview`` is its first 50 characters."""

    role: str
    tokens: int
    preview: str


@dataclass(frozen=True, slots=True)
class TokenBreakdown:
    """The tokens of a conversation, message by message.

    ``overhead`` is what is sent beside the messages, such as the tools of a request body.
    """

    total: int
    overhead: int
    messages: tuple[MessageTokens, ...]
    counter: str
    accuracy: Accuracy


def count(
    messages: Any,
    *,
    model: str | None = None,
    format: Provider = None,  # noqa: A002 - the name that users know for it
    tools: object = None,
    counter: Counter = None,
) -> TokenBreakdown:
    """Count the tokens of a conversation, message by message.

    ``model`` selects the vocabulary, ``counter`` overrides it, and ``tools`` are schemas to count
    too. Raises InputError for messages that cannot be read.
    """
    meter = meter_for(model or model_of(bare(messages)), counter)
    _, _, transcript = read(bare(messages), format, tools)
    sizes = meter.sizes(transcript)
    overhead = meter.overhead(transcript.envelope)
    rows: list[MessageTokens] = []
    for message, size in zip(transcript.messages, sizes, strict=True):
        called = (f"{call.name}({call.arguments})" for call in message.calls)
        text = message.content_text or " ".join(called)
        rows.append(MessageTokens(message.role, size, text[:_PREVIEW]))
    return TokenBreakdown(
        sum(sizes) + overhead, overhead, tuple(rows), meter.counter.name, meter.accuracy(transcript)
    )


def sample() -> list[dict[str, Any]]:
    """Return a conversation in OpenAI's format, in which an agent repairs a failing test suite.

    It has 74 messages, 52 of them tool outputs, which are the output of real commands; the people's
    messages are invented.
    """
    recorded = Path(__file__).with_name("samples") / "failing_tests.json"
    messages: list[dict[str, Any]] = json.loads(recorded.read_text("utf-8"))
    return messages
