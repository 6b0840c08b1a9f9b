"""Markup is read, not shown: its text and its structure."""

from __future__ import annotations

from holdfast.content.markup import Markup
from tests.contracts.content_contract import ContentContract


class TestMarkup(ContentContract):
    kind = Markup()
