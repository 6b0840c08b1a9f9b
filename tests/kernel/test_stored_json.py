from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import CompressionResult, InputError, Session, compress
from holdfast.kernel.stored_json import BYTES, decoded, encoded, tagged

IMAGE = {"image": {"format": "png", "source": {"bytes": b"\x89PNG" * 50}}}
LOOKALIKE = {BYTES: "aGk=", "beside": {BYTES: "aGk="}, "within": {f"{BYTES}:": {BYTES: b""}}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": [{"text": "see " * 900}, IMAGE]},
    {
        "role": "assistant",
        "content": [
            {"text": "ok " * 300},
            {"toolUse": {"toolUseId": "a", "name": "put", "input": {BYTES: "aGk="}}},
        ],
    },
    {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "k"}]}}]},
    {"role": "assistant", "content": [{"text": "Stored."}]},
    {"role": "user", "content": [{"text": "end"}]},
]

keys = st.sampled_from([BYTES, f"{BYTES}:", f"{BYTES}::", "a"]) | st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
)


@given(values)
def test_whatever_is_stored_comes_back_as_it_was(value):
    encoder = json.JSONEncoder(default=tagged)
    assert decoded(encoded(value, encoder)) == value
    assert decoded(encoded(value, encoder).encode()) == value


def test_a_result_with_bytes_is_saved_and_restored(tmp_path):
    done = compress(TALK, 300)
    done.save(tmp_path / "result.json")
    back = CompressionResult.load(tmp_path / "result.json")
    assert back.messages == done.messages
    assert back.restore() == TALK


def test_a_session_gives_bytes_back(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=8_000) as session:
        session.append(*TALK)
        session.edit(4, {"role": "user", "content": [{"text": "look"}, IMAGE]}, reason="x")
    with Session("t", store=url, budget=8_000) as again:
        assert again.restore() == TALK
        assert again.fit().messages[-1]["content"][1] == IMAGE


def test_an_object_that_looks_like_stored_bytes_stays_what_it_is():
    asks = {"role": "user", "content": "x", "metadata": LOOKALIKE}
    with Session("t", budget=8_000) as session:
        session.append(asks)
        assert session.restore() == [asks]


def test_what_json_cannot_hold_is_still_refused():
    with pytest.raises(InputError, match=r"^messages\[0\]: it cannot be kept as JSON \(an object"):
        Session("t").append({"role": "user", "content": "x", "at": {1, 2}})
