"""Code keeps what it declares and what is asked."""

from __future__ import annotations

from holdfast.content.code import Code
from tests.contracts.content_contract import ContentContract


class TestCode(ContentContract):
    kind = Code()
