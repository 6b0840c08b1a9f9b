"""Prose keeps whole sentences, the most telling ones."""

from __future__ import annotations

from holdfast.content.prose import Prose
from tests.contracts.content_contract import ContentContract


class TestProse(ContentContract):
    kind = Prose()
