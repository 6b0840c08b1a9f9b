from __future__ import annotations

import operator
from functools import partialmethod

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import Line
from tests.contracts.store_contract import CompleteStoreContract, StoreContract
from tests.stores.doubles import AwaitedTextStore, Settled, TextStore


class TestInProcessStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return InProcessStore(clock=clock)

    def test_what_has_ended_does_not_fill_the_memory(self, store, clock):
        for number in range(10_000):
            store.set_for(f"k{number}", "v", 1)
            clock.now += 0.1
        assert len(store._entries) < 100

    def test_text_and_bytes_are_read_as_each_other_through_utf8(self, store):
        store.set("text", "é\ud800")
        store.set_bytes("bytes", "é".encode())
        assert store.get_bytes("text") == "é\ud800".encode("utf-8", "surrogatepass")
        assert store.get("bytes") == "é"

    def test_bytes_that_are_no_text_are_refused_as_text(self, store):
        store.set_bytes("k", b"\xff\xfe")
        with pytest.raises(StoreError, match=r"'k' is bytes and not text: read it with get_bytes"):
            store.get("k")

    def test_two_stores_share_nothing(self, store):
        store.set("k", "v")
        assert InProcessStore().get("k") is None

    def test_a_period_of_a_long_log_is_found_without_a_look_at_every_line(self, store):
        log = store.log("l")
        log.append([Line("body", time=float(-number)) for number in range(2_000)])
        first, last = Compared(-1_000), Compared(-990)
        assert log.between(first, last, 3) == [1_000, 999, 998]
        assert first.times + last.times < 100


class Compared(float):
    """A time that counts how often it is compared."""

    times = 0

    def _counting(self, method, other):
        self.times += 1
        return method(float(self), other)

    __hash__ = float.__hash__
    __eq__ = partialmethod(_counting, operator.eq)
    __lt__ = partialmethod(_counting, operator.lt)
    __le__ = partialmethod(_counting, operator.le)
    __gt__ = partialmethod(_counting, operator.gt)
    __ge__ = partialmethod(_counting, operator.ge)


class TestATextStoreOfACaller(StoreContract):
    @pytest.fixture
    def store(self):
        return TextStore()


class TestAnAwaitedTextStoreOfACaller(StoreContract):
    @pytest.fixture
    def store(self):
        return Settled(AwaitedTextStore())
