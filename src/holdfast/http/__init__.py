"""Fitting for HTTP clients: ``openai.OpenAI(http_client=holdfast.http.client(budget="32k"))``."""

from __future__ import annotations

from holdfast.http.budgets import Budgets
from holdfast.http.fitter import Fitted, Fitter, RequestRefusedError
from holdfast.http.transport import AsyncTransport, Transport, async_client, client

__all__ = [
    "AsyncTransport",
    "Budgets",
    "Fitted",
    "Fitter",
    "RequestRefusedError",
    "Transport",
    "async_client",
    "client",
]
