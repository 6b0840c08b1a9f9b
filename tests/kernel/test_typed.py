"""Reading JSON as a type."""

import pytest

from holdfast.kernel.typed import object_of, typed


def test_an_error_writes_only_the_beginning_of_a_large_value():
    with pytest.raises(ValueError, match="is no int") as fault:
        typed(list(range(100_000)), int)
    assert len(str(fault.value)) < 100


@pytest.mark.parametrize("text", ["", "[1]", "5", "{", "[" * 100_000, b"\xff"])
def test_what_is_no_object_is_none(text):
    assert object_of(text) is None


def test_an_object_is_read_from_text_and_bytes():
    assert object_of('{"a": [1]}') == object_of(b'{"a": [1]}') == {"a": [1]}
