"""LangChain: a middleware that keeps agents in a budget, and a drop-in for ``trim_messages``."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast, overload

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool

from holdfast.http.fitter import FitsCalls, Fitter
from holdfast.http.requests import ANSWERS, Budgets, Endpoint
from holdfast.options import Options

_MESSAGES = Endpoint("langchain")


class HoldfastMiddleware(FitsCalls, AgentMiddleware[AgentState[Any], Any]):
    """Fits each model call; the agent's state keeps every message.

    ``create_agent(model, tools, middleware=[HoldfastMiddleware("32k")])``. The budget is one of
    ``holdfast.http.client``: tokens, a share of the model's window, a Budget, or None for the
    window; ``budgets`` are budgets by model name. The options are those of ``compress``. The system
    prompt and the tools are counted too.
    """

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the fitted request."""
        return handler(self._fitted(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Like ``wrap_model_call``; the request is fitted in a thread."""
        return await handler(await asyncio.to_thread(self._fitted, request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        head: list[AnyMessage] = [request.system_message] if request.system_message else []
        body: dict[str, Any] = {
            "model": _model_of(request.model),
            # a dictionary may be a vendor's own tool, which is sent as it is
            "tools": [
                tool if isinstance(tool, dict) else convert_to_openai_tool(tool)
                for tool in request.tools
            ],
            "messages": [*head, *request.messages],
        }
        for name in ANSWERS:  # of this call, or of the model
            body[name] = request.model_settings.get(name, getattr(request.model, name, None))
        # the thread id with which the agent was invoked
        info = getattr(request.runtime, "execution_info", None)
        thread = str(getattr(info, "thread_id", None) or "")
        found = self.fitter.fit_body(body, _MESSAGES, thread=thread)
        return request.override(messages=found["messages"][len(head) :])


@overload
def trim_messages(
    messages: Sequence[BaseMessage | Any], *, max_tokens: int, **options: Any
) -> list[BaseMessage]: ...
@overload
def trim_messages(
    messages: None = None, *, max_tokens: int, **options: Any
) -> Runnable[Sequence[BaseMessage | Any], list[BaseMessage]]: ...
def trim_messages(
    messages: Sequence[BaseMessage | Any] | None = None,
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
) -> Any:
    """Replace LangChain's ``trim_messages``: older messages are condensed instead of cut off.

    Without messages it returns a step for a chain, which is given them.
    ``token_counter`` may be a model, its name, ``"approximate"`` or a function of a list of
    messages; by default tokens are counted as in ``compress``. The arguments for LangChain's cuts
    (``strategy``, ``allow_partial``, ``end_on``, ``start_on``, ``include_system``,
    ``text_splitter``) are accepted and ignored: the system's messages and the newest always stay,
    and the result is valid for a provider. Further options are those of ``compress``.
    """
    del strategy, allow_partial, end_on, start_on, include_system, text_splitter
    counted = cast("Options", {**_counting(token_counter), **options})
    budgets = Budgets(max_tokens, target=1.0)

    def trimmed(given: Sequence[BaseMessage | Any]) -> list[BaseMessage]:
        body = {"messages": convert_to_messages(given)}
        return list(Fitter(budgets, counted).fit_body(body, _MESSAGES)["messages"])

    return RunnableLambda(trimmed) if messages is None else trimmed(messages)


def _counting(counter: Any) -> Options:
    """The options for LangChain's counter."""
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


def _model_of(model: Any) -> str:
    """The name of a chat model, which each package keeps in a different field."""
    names = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str)), "")
