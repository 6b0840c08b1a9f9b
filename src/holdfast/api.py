"""The path of a conversation, read from top to bottom: prepare, plan, finish, deliver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Unpack, cast

from holdfast.engine import Progress, all_fitted, fitted
from holdfast.formats import read
from holdfast.formats.payloads import model_of
from holdfast.kernel.budget import BudgetLike
from holdfast.kernel.flow import arun, run
from holdfast.kernel.messages import Message
from holdfast.kernel.ports import Accuracy
from holdfast.kernel.registry import Registry
from holdfast.meter import Counter, meter_for
from holdfast.options import Options, Provider, check, lists_options
from holdfast.result import CompressionResult, M, bare
from holdfast.runtime import answers, awaited

_ELSEWHERE = Registry("place", "places", {"compressed": "holdfast.batch:compressed"})

_PREVIEW = 50  # characters of a message that a breakdown shows, as llm4s does


@lists_options
def compress(
    messages: M, budget: BudgetLike = None, **options: Unpack[Options]
) -> CompressionResult[M]:
    """Fit a conversation to a budget of tokens.

    The same kind of messages comes back, untouched ones as they are.

    ``messages``: a list, or a request body with its system prompt and tools, which are counted too.
    Messages, blocks and calls may be the objects of a vendor's package: they come back as what it
    would send. ``model`` names the vocabulary to count with, ``counter`` another one (a preset, an
    object or a callable), ``format`` the wire where it cannot be seen, ``tools`` schemas to count.
    ``strategy`` (a name, an object, or a list of them) stands in the place of the ``profile``.
    ``query`` is the question in view, by default the newest user message. ``pin`` (positions, or a
    predicate over messages) names what never leaves. ``step`` is the budget's. ``store`` (a URL or
    an object, such as an ``EncryptedStore``) keeps what is cut out of a text, and the text names
    the key. ``redact`` masks secrets before anything is stored, summarised or referred to: in all
    that the model and its tools said, and in what users said as soon as it leaves the view; what
    was masked stays masked, and ``masked`` and ``redacted`` of the result say where and what. By
    default the profile decides.

    Summaries and references of earlier calls are recognised by ``secret``, or by the store's own.

    ``messages`` may be a Conversation: a Conversation comes back, and its id is the ``thread`` under which
    summaries are kept in the store. ``llm`` completes and ``embedder`` embeds for the strategies
    that ask: ``vendor:name``, an object or a function, synchronous or not; without an embedder,
    vectors that need no network. ``cache`` is asked before either, ``limits`` bound their calls,
    and ``model_usage`` of the result says what they took.

    Raises InputError for what cannot be read, BudgetError for a hard budget that cannot be met, and
    StrategyError with ``on_failure="raise"``; else a failing strategy leaves its place to the next
    one.
    """
    return run(fitted(messages, budget, options), answers)


@lists_options
async def acompress(
    messages: M, budget: BudgetLike = None, **options: Unpack[Options]
) -> CompressionResult[M]:
    """As ``compress``, with every wait for a store or a model left to the event loop."""
    return await arun(fitted(messages, budget, options), awaited)


@lists_options
def compress_many(
    conversations: Iterable[M],
    budget: BudgetLike = None,
    *,
    progress: Progress | None = None,
    engine: object = None,
    **options: Unpack[Options],
) -> list[CompressionResult[M]]:
    """Fit each conversation to the budget; the results in their order.

    The options are those of ``compress``.

    Of ``limits`` the concurrency is that of all conversations together, and ``total`` does not
    apply. What goes wrong with one conversation is told in its own result and raised by none:
    ``status`` is ``failed``, with ``invalid_input`` as the reason if it could not be read, and
    ``budget_met`` is false where it is not met. Raises ConfigError for wrong options.

    ``engine`` does the work elsewhere: ``processes://4`` on processes of this machine,
    ``dask://host:8786`` or ``ray://host:10001`` on a cluster, or an object of
    ``holdfast.batch.Engine``. What is given then travels to other processes.
    """
    if engine is not None:
        elsewhere = cast("Callable[..., list[CompressionResult]]", _ELSEWHERE.load("compressed"))
        return elsewhere(conversations, budget, engine, options)
    return run(all_fitted(conversations, budget, options, progress), answers)


@lists_options
async def acompress_many(
    conversations: Iterable[M],
    budget: BudgetLike = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[CompressionResult[M]]:
    """As ``compress_many``, with every wait for a store or a model left to the event loop."""
    return await arun(all_fitted(conversations, budget, options, progress), awaited)


class ContextCompressor:
    """A compressor that is set once: the two-method form. The options are those of ``compress``."""

    @lists_options
    def __init__(self, **options: Unpack[Options]) -> None:
        self.options = options
        check(options)

    def compress(self, messages: M, max_tokens: BudgetLike = None) -> M:
        """The messages alone."""
        return self.compress_with_metrics(messages, max_tokens).messages

    def compress_with_metrics(
        self, messages: M, max_tokens: BudgetLike = None
    ) -> CompressionResult[M]:
        """The whole result."""
        return compress(messages, max_tokens, **self.options)


@dataclass(frozen=True, slots=True)
class MessageTokens:
    """One message of a breakdown: ``preview`` is its first 50 characters."""

    role: str
    tokens: int
    preview: str


@dataclass(frozen=True, slots=True)
class TokenBreakdown:
    """Where the tokens are.

    ``overhead`` is what stands beside the messages, such as a body's tools.
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

    Raises InputError for what cannot be read.
    """
    meter = meter_for(model or model_of(bare(messages)), counter)
    _, _, transcript = read(bare(messages), format, tools)
    sizes = meter.sizes(transcript)
    overhead = meter.overhead(transcript.envelope)
    rows = tuple(
        MessageTokens(message.role, size, _preview(message))
        for message, size in zip(transcript.messages, sizes, strict=True)
    )
    return TokenBreakdown(
        sum(sizes) + overhead, overhead, rows, meter.counter.name, meter.accuracy(transcript)
    )


def _preview(message: Message) -> str:
    text = message.content_text or " ".join(
        f"{call.name}({call.arguments})" for call in message.calls
    )
    return text[:_PREVIEW]
