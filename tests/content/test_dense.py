"""Dense text keeps its ends and what is asked, and says what it is."""

from __future__ import annotations

from holdfast.content.dense import Dense
from tests.contracts.content_contract import ContentContract


class TestDense(ContentContract):
    kind = Dense()
