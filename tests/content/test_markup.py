"""Markup is read, not shown: its text and its structure."""

from __future__ import annotations

import re

from holdfast.content.markup import Markup
from tests.contracts.content_contract import ContentContract


class TestMarkup(ContentContract):
    kind = Markup()

    def same(self, one: str, other: str) -> bool:
        return re.sub(r">\s+<", "><", one) == re.sub(r">\s+<", "><", other)
