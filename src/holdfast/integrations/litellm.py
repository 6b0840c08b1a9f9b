"""LiteLLM: a callback for its SDK and its proxy, and a guardrail for its proxy.

LiteLLM's synchronous calls have no such callback: for those, set ``litellm.client_session`` to
``holdfast.http.client("32k", library="httpx")``.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUntypedBaseClass=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

from holdfast.http.fitter import FitsCalls, Fitter
from holdfast.http.requests import ANSWERS, Budgets, Endpoint
from holdfast.options import Options

_CALLS: Mapping[str, tuple[Endpoint, str]] = {
    "completion": (Endpoint("openai_chat"), "messages"),
    "anthropic_messages": (Endpoint("anthropic"), "messages"),
    "responses": (Endpoint("openai_responses"), "input"),
}
"""The kinds of calls by LiteLLM's names: the format of the conversation, and its field.

Those that are awaited have an ``a`` before the name.
"""

_COUNTED = (
    *("model", "tools", "functions", "system", "instructions", "response_format", "text"),
    *("previous_response_id", "conversation", *ANSWERS),
)
"""Fields of a call that are read besides its messages."""


class HoldfastCallback(FitsCalls, CustomLogger):
    """Fits each call: ``litellm.callbacks = [HoldfastCallback("32k")]``.

    The budget is one of ``holdfast.http.client``, the options are those of ``compress``.
    """

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Return the fitted call."""
        return await asyncio.to_thread(_fitted, self.fitter, kwargs, call_type)


class HoldfastGuardrail(CustomGuardrail):
    """The same as a guardrail of the proxy, whose settings hold ``budget`` and ``profile``."""

    def __init__(self, **settings: Any) -> None:
        budget = settings.pop("budget", None)
        options = {name: settings.pop(name) for name in ("profile", "redact") if name in settings}
        super().__init__(**settings)
        self.fitter = Fitter(Budgets(budget), cast("Options", options))

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Return the fitted request."""
        return await asyncio.to_thread(_fitted, self.fitter, data, call_type)


def _fitted(fitter: Fitter, call: dict[str, Any], call_type: Any) -> dict[str, Any]:
    kind = str(getattr(call_type, "value", call_type))
    known = _CALLS.get(kind) or _CALLS.get(kind.removeprefix("a"))
    if known is None:
        return call
    endpoint, field = known
    if not isinstance(call.get(field), list):
        return call
    body = {name: call[name] for name in (*_COUNTED, field) if call.get(name) is not None}
    return {**call, field: fitter.fit_body(body, endpoint)[field]}
