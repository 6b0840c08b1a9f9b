"""A proxy for any client, which fits what agents send to their providers."""

from __future__ import annotations

from holdfast.proxy.settings import Settings

__all__ = ["Settings"]
