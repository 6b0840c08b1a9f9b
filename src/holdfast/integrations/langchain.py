"""LangChain: a middleware whose agents never outgrow a budget, and a drop-in for ``trim_messages``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Unpack, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.utils.function_calling import convert_to_openai_tool

from holdfast.http.budgets import Budgets, Size
from holdfast.http.fitter import Fitter
from holdfast.integrations.adapter import fitted
from holdfast.options import Options, lists_options
from holdfast.trace import log


class HoldfastMiddleware(AgentMiddleware[AgentState[Any], Any]):
    """Fits what the model is sent; the agent's state keeps every message.

    ``create_agent(model, tools, middleware=[HoldfastMiddleware("32k")])``. The budget is one of
    ``holdfast.http.client``: tokens, a share of the model's window, a Budget, or None for the
    window; ``budgets`` states it by the names of models. The options are those of ``compress``. The
    system prompt and the tools are counted too.
    """

    @lists_options
    def __init__(
        self,
        budget: Size = None,
        *,
        budgets: Mapping[str, Size] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__()
        self.fitter = Fitter(Budgets(budget, budgets or {}), options)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Call the model with what fits."""
        return handler(self._fitted(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As ``wrap_model_call``; what is fitted is fitted in a thread."""
        return await handler(await asyncio.to_thread(self._fitted, request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        head: list[AnyMessage] = [request.system_message] if request.system_message else []
        given = [*head, *request.messages]
        found = _view(
            self.fitter,
            given,
            thread=_thread_of(request),
            model=_model_of(request.model),
            tools=[_schema(tool) for tool in request.tools],
        )
        return request.override(messages=cast("list[AnyMessage]", found[len(head) :]))


def trim_messages(
    messages: Sequence[BaseMessage | Any],
    *,
    max_tokens: int,
    token_counter: Any = None,
    strategy: str = "last",
    allow_partial: bool = False,
    end_on: Any = None,
    start_on: Any = None,
    include_system: bool = True,
    text_splitter: Any = None,
    **options: Any,
) -> list[BaseMessage]:
    """In the place of LangChain's: what is too much is told in short instead of cut off.

    ``token_counter`` may be a model, the name of one, ``"approximate"`` or a function of a list of
    messages; without one tokens are counted as ``compress`` does it. How LangChain's cuts
    (``strategy``, ``allow_partial``, ``end_on``, ``start_on``, ``include_system``,
    ``text_splitter``) is taken and not needed: the system's messages and the newest stay, and the
    result is valid for a provider. Further options are those of ``compress``.
    """
    del strategy, allow_partial, end_on, start_on, include_system, text_splitter
    counted = cast("Options", {**_counting(token_counter), **options})
    fitter = Fitter(Budgets(max_tokens, target=1.0), counted)
    return _view(fitter, convert_to_messages(messages))


def _counting(counter: Any) -> Options:
    """The options that count as LangChain was told to."""
    if counter is None:
        return {}
    if counter == "approximate":
        return {"counter": "estimate"}
    if isinstance(counter, str):
        return {"model": counter}
    if not callable(counter) or hasattr(counter, "get_num_tokens_from_messages"):
        return {"model": _model_of(counter) or None}
    function = cast("Callable[[list[BaseMessage]], int]", counter)
    return {"counter": lambda text: function([HumanMessage(text)])}


def _view(
    fitter: Fitter, messages: Sequence[BaseMessage], *, thread: str = "", **beside: Any
) -> list[BaseMessage]:
    """The messages that fit; all of them where they have no form on the wire."""
    try:
        return fitted(fitter, messages, _outward, _inward, thread=thread, **beside)
    except ValueError as fault:  # of LangChain, for a block that Chat Completions does not have
        if fitter.redacts:
            raise
        log.warning("a request was sent as it was: %s", " ".join(str(fault).split()))
        return list(messages)


def _outward(message: BaseMessage) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", convert_to_openai_messages(message))


def _inward(said: Mapping[str, Any], result: BaseMessage | None) -> BaseMessage:
    """A result keeps its id, its name and its status."""
    if result is not None:
        return result.model_copy(update={"content": said["content"]})
    (message,) = convert_to_messages([dict(said)])
    return message


def _schema(tool: Any) -> Mapping[str, Any]:
    return convert_to_openai_tool(tool)


def _model_of(model: Any) -> str:
    """The name of a chat model, which each package keeps in a field of its own."""
    names = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str)), "")


def _thread_of(request: ModelRequest[Any]) -> str:
    """The thread that the agent was invoked with."""
    info = getattr(request.runtime, "execution_info", None)
    return str(getattr(info, "thread_id", None) or "")


__all__ = ["HoldfastMiddleware", "trim_messages"]
