from __future__ import annotations

import pytest

from holdfast.formats import detect, named
from holdfast.kernel.errors import FormatError
from tests.contracts.format_contract import FormatContract


class TestPlain(FormatContract):
    @pytest.fixture
    def form(self):
        return named("plain")

    @pytest.fixture
    def messages(self):
        return [
            {"role": "system", "content": "Be brief."},
            {"role": "human", "content": "What is in the file?", "id": 7, "metadata": {"a": [1]}},
            {"role": "ai", "content": "Two lines."},
        ]


def test_it_has_no_vendors_rules():
    transcript = named("plain").read(
        [{"role": "assistant", "content": ""}, {"role": "assistant", "content": " "}]
    )
    assert transcript.rules == ()


def test_roles_of_other_houses_read_as_the_four():
    roles = [
        "system",
        "developer",
        "user",
        "human",
        "assistant",
        "ai",
        "tool",
        "function",
        "narrator",
    ]
    read = named("plain").read([{"role": role, "content": "x"} for role in roles]).messages
    assert [m.role for m in read] == [
        "system", "system", "user", "user", "assistant", "assistant", "tool", "tool", "user",
    ]  # fmt: skip


def test_content_that_is_no_text_is_refused_with_its_place():
    with pytest.raises(
        FormatError, match=r"^messages\[0\]\.content: a list does not belong here; give text"
    ):
        named("plain").read([{"role": "user", "content": ["hi"]}])


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": "x", "tool_call_id": "a"},
        {"role": "assistant", "content": "x", "tool_calls": []},
        {"role": "developer", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": None},
    ],
)
def test_what_belongs_to_a_vendor_is_not_plain(message):
    assert detect([{"role": "user", "content": "hi"}, message]).name == "openai_chat"
