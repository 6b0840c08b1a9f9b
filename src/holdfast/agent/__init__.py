"""An agent loop over a session: it fits, asks the model and runs its tools, until none is called.

A turn is one generator that yields calls, which are made one after another, or awaited.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any, Literal, Protocol

from holdfast.formats.payloads import ROLES, as_sent, is_list, is_object, what_is
from holdfast.kernel.budget import Budget
from holdfast.kernel.compressor import arun, run
from holdfast.kernel.errors import ConfigError, ContextOverflowError, ModelError
from holdfast.kernel.messages import ToolCall
from holdfast.kernel.transcript import Format
from holdfast.kernel.typed import Positive, check_type
from holdfast.providers.vendor import refusal
from holdfast.session import Session, View
from holdfast.session.view import copied
from holdfast.stores.protocols import settled
from holdfast.validity import repair, validate

from .tools import (
    FunctionTool,
    PlainTool,
    Tool,
    as_text,
    by_name,
    checked,
    remember_tool,
    results,
    search_tool,
    tool,
)

__all__ = [
    "AgentLoop",
    "ChatModel",
    "FunctionTool",
    "PlainTool",
    "Tool",
    "Trigger",
    "overflow",
    "remember_tool",
    "search_tool",
    "tool",
]

Step = Generator[Callable[[], Any], Any, Any]
"""A generator of calls: it is sent the result of each, or its error is thrown into it."""


async def _awaited(work: Callable[[], Any]) -> Any:
    """The result of the call, which is made in a thread."""
    answer = await asyncio.to_thread(_call, work)
    return await answer if isawaitable(answer) else answer


def _call(work: Callable[[], Any]) -> Any:
    """The result of the call; a StopIteration, which would end the generator, becomes an error."""
    try:
        return work()
    except StopIteration as fault:
        raise RuntimeError("StopIteration was raised") from fault


def overflow(fault: Exception) -> ContextOverflowError | None:
    """The error as a ContextOverflowError, if it is a model's refusal for length; else None."""
    if isinstance(fault, ContextOverflowError):
        return fault
    seen = refusal("the model", 400, str(fault), {})
    return seen if isinstance(seen, ContextOverflowError) else None


def smaller_budget(
    refused: ContextOverflowError, tokens: int, most: int | None, answer: int = 0
) -> Budget:
    """A smaller budget after a refusal, by the refusal's own figures if it has any.

    ``tokens`` is the size of what was refused. The budget is at most ``most`` tokens. The figures
    may include the ``answer``, the tokens that the request reserves for it.
    """
    share = 0.6  # if the refusal states no limit
    if refused.limit and refused.size and refused.size > refused.limit:
        reserved = min(answer, max(0, refused.size - tokens))
        share = 0.95 * max(0, refused.limit - reserved) / (refused.size - reserved)
    return Budget(limit=max(1, min(int(tokens * share), most or tokens)))


Trigger = Literal["request", "call", "result", "overflow", "manual"]
"""When a loop fits: at the start of a request, before each model call, after each tool result, only
when the model refuses for length (``overflow``, which every trigger includes), or only when ``fit``
is called (``manual``).
"""

_FITTING = ("request", "call", "result")  # triggers that fit to the session's own budget


class ChatModel(Protocol):
    """Answers a conversation with an assistant message in the same format, or with text.

    It may be a coroutine function.
    """

    def __call__(self, messages: list[Any], tools: list[Any], /) -> Any:
        """The model's next message."""
        ...


class AgentLoop:
    """Calls the model until it calls no tool.

    Every message is in the session before the next step. ``rounds`` is the largest number of model
    calls for one request.
    """

    def __init__(
        self,
        model: ChatModel,
        session: Session,
        tools: Sequence[Tool] = (),
        *,
        trigger: Trigger = "call",
        rounds: int = 50,
    ) -> None:
        _check(model, session, trigger, rounds)
        self.model, self.session, self.trigger, self.rounds = model, session, trigger, rounds
        self._tools = by_name(tools)
        self._schemas = [tool.schema for tool in self._tools.values()]
        self._view: list[Any] | None = None
        """What the model is sent; None until something is fitted."""
        self._revision = (0, 0)
        """The revision of the session that the view holds."""
        self._budget: Budget | None = None
        """The budget after a refusal for length; None: the session's own."""

    def run(self, message: Any) -> Any:
        """Send the user's message to the model, run its tools, and return its final reply.

        The reply is a message or a text, or a list if the format has items. Raises
        ContextOverflowError if the model refuses even a smaller view for its length, and ModelError
        if it still calls tools after the last round or returns something else.
        """
        return run(self._turn(message), lambda work: settled(_call(work)))

    async def arun(self, message: Any) -> Any:
        """Like ``run``, for use in an event loop."""
        return await arun(self._turn(message), _awaited)

    def fit(self) -> View:
        """Fit now; the next model call begins with this view."""
        # read first, so that messages that come meanwhile are fitted again
        revision = self.session.revision
        view = self.session.fit(budget=self._budget, tools=self._schemas or None)
        self._view, self._revision = copied(view.messages), revision
        return view

    def _turn(self, message: Any) -> Step:
        wire = self.session.wire()
        yield from self._append(
            wire.compose("user", message) if isinstance(message, str) else message
        )
        yield from self._fit_at("request")
        for _ in range(self.rounds):
            yield from self._fit_at("call")
            reply = yield from self._ask_model()
            said = _messages(reply, wire)
            yield from self._append(*said)
            wire = self.session.wire(*said)
            calls = [call for each in wire.read(said).messages for call in each.calls]
            if not calls:
                return said if is_list(reply) else said[0]
            outputs: list[str] = []
            try:
                for call in calls:
                    output: str = yield from self._output(call)
                    outputs.append(output)
            except BaseException:  # an interrupt: what tools have done is kept
                if outputs:
                    self.session.append(*results(wire, calls[: len(outputs)], outputs))
                raise
            yield from self._append(*results(wire, calls, outputs))
            yield from self._fit_at("result")
        raise ModelError(
            f"the model still calls tools after {self.rounds} rounds; "
            "raise rounds= or look at its tools"
        )

    def _append(self, *messages: Any) -> Step:
        places: list[int] = yield partial(self.session.append, *messages)
        end, changes = self._revision
        if self._view is not None and places == [*range(end, end + len(places))]:
            self._view = [*self._view, *copied(list(messages))]
            self._revision = end + len(places), changes

    def _fit_at(self, moment: Trigger) -> Step:
        if self.trigger == moment:
            yield self.fit

    def _ask_model(self) -> Step:
        """The model's message; if it refuses for length, a smaller view is tried once."""
        sent = yield self._to_send
        try:
            return (yield partial(self.model, copied(sent), copied(self._schemas)))
        except Exception as fault:
            refused = overflow(fault)
            if refused is None:
                raise
        view: View = yield partial(self._fit_harder, refused, sent)
        try:
            return (yield partial(self.model, view.messages, copied(self._schemas)))
        except Exception as again:
            still = overflow(again)
            if still is None:
                raise
            size, limit = still.size or view.tokens, still.limit or view.limit
            raise ContextOverflowError(
                "the model refuses even a smaller view for its length: "
                f"about {size:,} tokens of at most {limit:,}; "
                "lower the session's budget, or give a model with a larger window",
                limit=limit,
                size=size,
            ) from again

    def _to_send(self) -> list[Any]:
        """The messages for the model; calls that an interruption left open are repaired.

        Without a view these are all messages of the thread; an outdated view is fitted again.
        """
        if self._view is not None and self._revision != self.session.revision:
            self.fit()
        messages = self.session.messages() if self._view is None else self._view
        wire = self.session.wire(*messages)
        return list(repair(messages, wire).messages) if validate(messages, wire) else messages

    def _fit_harder(self, refused: ContextOverflowError, sent: list[Any]) -> View:
        """A view that the model should accept; later views are no larger."""
        tokens = self.session.meter.total(self.session.wire(*sent).read(sent, self._schemas))
        self._budget = smaller_budget(refused, tokens, self.session.limit)
        return self.fit()

    def _output(self, call: ToolCall) -> Step:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return f"error: there is no tool named {call.name!r}; known are {known}"
        try:
            return as_text((yield partial(tool, call.arguments)))
        except Exception as fault:  # noqa: BLE001 - anyone's tool: the model reads the fault
            return f"error: {type(fault).__name__}: {fault}"


def _check(model: object, session: object, trigger: object, rounds: object) -> None:
    """Raise ConfigError for arguments with which no loop can run."""
    if not callable(model):
        raise ConfigError(
            f"{what_is(model)} is not a model",
            place="model",
            advice="give a function of the messages and the schemas that returns the reply",
        )
    check_type(trigger, Trigger, "trigger")
    if checked(session).limit is None and trigger in _FITTING:
        raise ConfigError(
            "the session has none to fit to",
            place="budget",
            advice="give Session(..., budget=8_000), or trigger='manual'",
        )
    check_type(rounds, Positive, "rounds")


def _messages(reply: object, wire: Format) -> list[Any]:
    """The model's reply as messages. Raises ModelError for anything else."""
    if isinstance(reply, str):
        return [wire.compose("assistant", reply)]
    sent: list[Any] = as_sent(list(reply) if is_list(reply) else [reply])
    for message in sent:
        role = None
        if is_object(message):  # an item of a reply has a type, but may have no role
            role = message.get("role", "assistant" if "type" in message else None)
        if role is None:
            raise ModelError(
                f"the model gave {what_is(message)}, which is not a message; return a text, or the "
                "message itself, as OpenAI's response.choices[0].message is, or the items of "
                "response.output"
            )
        if ROLES.get(role) != "assistant":
            raise ModelError(
                f"the model gave a message of the role {role!r}; "
                "return its own message, whose role is assistant"
            )
    return sent
