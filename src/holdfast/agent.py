"""An agent over a session: it fits before every model call, runs the tools, and meets a refusal for length.

The turn of an agent is written once, as a generator of things to do; ``run`` does them waiting, ``arun`` awaited.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import Any, Literal, Protocol, cast, get_args

from holdfast.formats.payloads import named
from holdfast.formats.sdk_objects import as_sent
from holdfast.formats.values import is_list, is_object
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError, ContextOverflowError, ModelError
from holdfast.kernel.messages import ToolCall
from holdfast.providers.refusals import refusal
from holdfast.session import Session, View
from holdfast.waiting import wait_for

Trigger = Literal["request", "call", "result", "overflow", "manual"]
"""When a loop fits: at the start of a request, before each model call, after each tool result, when the model
refuses for length (which it always answers), or when ``fit`` is called by hand."""

_REMEMBERING = (
    "Keep something in mind for the rest of this conversation, however long it gets: a decision, a constraint or "
    "a fact that later steps depend on."
)
_BLOCKS = frozenset({"anthropic", "bedrock"})  # wires whose results are blocks of one message of the user
_HARDER = 0.6  # of the view that was refused, where the refusal does not say how long it may be
_MARGIN = 0.95  # of what it says

Step = Generator[Callable[[], Any], Any, Any]
"""Things to do: the result of each call, awaited if it must be, is sent back, or its error thrown in."""


class ChatModel(Protocol):
    """Answers a conversation: an assistant message in the conversation's own form, or a text; now or awaited."""

    def __call__(self, messages: list[Any], tools: Sequence[Mapping[str, Any]], /) -> Any:
        """The model's next message."""
        ...


class Tool(Protocol):
    """A function that the model may call, and the schema that tells it so."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """In the form of the model's vendor."""
        ...

    def __call__(self, arguments: object, /) -> Any:
        """The answer, as text or awaited; the arguments are those of the call, as JSON text."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool that is a function of the arguments' JSON."""

    schema: Mapping[str, Any]
    run: Callable[[str], Any]

    def __call__(self, arguments: object) -> Any:
        """The function's answer."""
        return self.run(str(arguments))


def remember_tool(session: Session, format: Literal["openai", "anthropic"] = "openai") -> FunctionTool:  # noqa: A002 - the name that users know for it
    """The tool by which a model keeps something in mind: it stands in every view from then on.

    Raises ConfigError for a format that has no tools.
    """
    if format not in ("openai", "anthropic"):
        raise ConfigError(
            f"{format!r} has no form of tools here", place="format", advice="known are openai, anthropic"
        )

    def run(arguments: str) -> str:
        try:
            text = json.loads(arguments)["text"]
        except (ValueError, KeyError, TypeError):
            return 'error: give an object such as {"text": "what to keep in mind"}'
        session.remember(str(text), by="model")
        return "It is kept in mind."

    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "one fact, decision or instruction, in full"}},
        "required": ["text"],
    }
    described = {"name": "remember", "description": _REMEMBERING}
    if format == "anthropic":
        return FunctionTool({**described, "input_schema": parameters}, run)
    return FunctionTool({"type": "function", "function": {**described, "parameters": parameters}}, run)


class AgentLoop:
    """Calls the model until it calls no tool any more; everything said is in the session before the next step.

    ``rounds`` bounds the model calls of one request.
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
        if trigger not in get_args(Trigger):
            advice = f"known are {', '.join(get_args(Trigger))}"
            raise ConfigError(f"{trigger!r} is no trigger", place="trigger", advice=advice)
        if not callable(cast("object", model)):
            advice = "give a function of the messages and the tools' schemas that returns the model's message"
            raise ConfigError(f"{named(model)} is no model", place="model", advice=advice)
        if rounds < 1:
            raise ConfigError(f"{rounds!r} is no number of model calls", place="rounds", advice="give 1 or more")
        self.model, self.session, self.trigger, self.rounds = model, session, trigger, rounds
        self._tools = _by_name(tools)
        self._schemas = [tool.schema for tool in self._tools.values()]
        self._view: list[Any] | None = None
        """What the model is sent; None until something is fitted."""

    def run(self, message: Any) -> Any:
        """The model's final message in answer to the user's, a message or a text.

        Raises ContextOverflowError if the model refuses for length even what was fitted harder, and ModelError if
        it still calls tools after the last round.
        """
        return _drive(self._turn(message))

    async def arun(self, message: Any) -> Any:
        """As ``run``."""
        return await _adrive(self._turn(message))

    def fit(self) -> View:
        """Fit now: what the model is sent next begins with this view."""
        view = self.session.fit(tools=self._schemas or None)
        self._view = view.messages
        return view

    def _turn(self, message: Any) -> Step:
        yield from self._said({"role": "user", "content": message} if isinstance(message, str) else message)
        yield from self._fitted("request")
        for _ in range(self.rounds):
            yield from self._fitted("call")
            reply = yield from self._answered()
            yield from self._said(reply)
            wire = self.session.wire(reply)
            calls = wire.read([reply]).messages[0].calls
            if not calls:
                return reply
            outputs = yield from self._outputs(calls)
            yield from self._said(*_results(wire.name, calls, outputs))
            yield from self._fitted("result")
        raise ModelError(
            f"the model still calls tools after {self.rounds} rounds; raise rounds= or look at its tools"
        )

    def _said(self, *messages: Any) -> Step:
        yield partial(self.session.append, *messages)
        if self._view is not None:
            self._view = [*self._view, *messages]

    def _fitted(self, moment: Trigger) -> Step:
        if self.trigger == moment:
            yield self.fit

    def _answered(self) -> Step:
        """The model's message; a refusal for length is answered by fitting harder, once."""
        sent = self._view
        if sent is None:
            sent = self._view = yield self.session.messages
        try:
            reply = yield partial(self.model, sent, self._schemas)
        except Exception as fault:
            refused = overflow(fault)
            if refused is None:
                raise
            view: View = yield partial(self._fit_harder, refused, sent)
            try:
                reply = yield partial(self.model, view.messages, self._schemas)
            except Exception as again:
                still = overflow(again)
                if still is None:
                    raise
                raise _given_up(view, still) from again
        return {"role": "assistant", "content": reply} if isinstance(reply, str) else as_sent([reply])[0]

    def _fit_harder(self, refused: ContextOverflowError, sent: list[Any]) -> View:
        """A view that is so much smaller that the model should take it, by its own figures where it gives them."""
        tokens = self.session.meter.total(self.session.wire(*sent).read(sent, self._schemas))
        share = _HARDER
        if refused.limit and refused.size and refused.size > refused.limit:
            share = _MARGIN * refused.limit / refused.size
        view = self.session.fit(budget=Budget(limit=max(1, int(tokens * share))), tools=self._schemas or None)
        self._view = view.messages
        return view

    def _outputs(self, calls: Sequence[ToolCall]) -> Step:
        outputs: list[str] = []
        for call in calls:
            output: str = yield from self._output(call)
            outputs.append(output)
        return outputs

    def _output(self, call: ToolCall) -> Step:
        tool = self._tools.get(call.name)
        if tool is None:
            return f"error: there is no tool named {call.name!r}; known are {', '.join(self._tools) or 'none'}"
        try:
            output = yield partial(tool, call.arguments)
        except Exception as fault:  # noqa: BLE001 - tools are anyone's; the model is told, and can mend its call
            return f"error: {type(fault).__name__}: {fault}"
        return output if isinstance(output, str) else str(output)


def overflow(fault: Exception) -> ContextOverflowError | None:
    """The fault as what it amounts to, if a model refuses for length; vendors say so in many ways."""
    if isinstance(fault, ContextOverflowError):
        return fault
    seen = refusal("the model", 400, str(fault), {})
    return seen if isinstance(seen, ContextOverflowError) else None


def _by_name(tools: object) -> dict[str, Tool]:
    """The tools by the names in their schemas. Raises ConfigError for what is none."""
    if not is_list(tools):
        raise ConfigError(f"{named(tools)} is no list of tools", place="tools", advice="give a list")
    for n, tool in enumerate(tools):
        if not callable(tool) or not is_object(getattr(tool, "schema", None)):
            advice = "give holdfast.agent.FunctionTool(schema, a function of the arguments' JSON)"
            raise ConfigError(f"{named(tool)} is no tool", place=f"tools[{n}]", advice=advice)
    return {_name(tool.schema): tool for tool in tools}


def _given_up(view: View, refused: ContextOverflowError) -> ContextOverflowError:
    size, limit = refused.size or view.tokens, refused.limit or view.limit
    problem = (
        f"the model refuses for length even what was fitted harder: about {size:,} tokens of at most {limit:,}; "
        "lower the session's budget, or give a model with a larger window"
    )
    return ContextOverflowError(problem, limit=limit, size=size)


def _name(schema: Mapping[str, Any]) -> str:
    """The name in a schema, as OpenAI's Chat Completions nest it or as others have it."""
    inner: Mapping[str, Any] = schema.get("function", schema)
    return str(inner.get("name", ""))


def _results(wire: str, calls: Sequence[ToolCall], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The messages that bring the outputs of these calls."""
    pairs = list(zip(calls, outputs, strict=True))
    if wire in _BLOCKS:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": output} for call, output in pairs]
        return [{"role": "user", "content": blocks}]
    return [{"role": "tool", "tool_call_id": call.id, "content": output} for call, output in pairs]


def _drive(steps: Step) -> Any:
    advance: Callable[[], Callable[[], Any]] = partial(steps.send, None)
    while True:
        try:
            work = advance()
        except StopIteration as done:
            return done.value
        try:
            answer = work()
            advance = partial(steps.send, wait_for(_awaited(answer)) if isawaitable(answer) else answer)
        except Exception as fault:  # noqa: BLE001 - it belongs to the step that asked
            advance = partial(steps.throw, fault)


async def _adrive(steps: Step) -> Any:
    advance: Callable[[], Callable[[], Any]] = partial(steps.send, None)
    while True:
        try:
            work = advance()
        except StopIteration as done:
            return done.value
        try:
            answer = await asyncio.to_thread(work)
            advance = partial(steps.send, await answer if isawaitable(answer) else answer)
        except Exception as fault:  # noqa: BLE001 - as above
            advance = partial(steps.throw, fault)


async def _awaited(answer: Any) -> Any:
    return await answer
