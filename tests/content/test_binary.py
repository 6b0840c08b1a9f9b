"""Binary content is named, not shown."""

from __future__ import annotations

from holdfast.content.binary import Binary
from tests.contracts.content_contract import ContentContract


class TestBinary(ContentContract):
    kind = Binary()
