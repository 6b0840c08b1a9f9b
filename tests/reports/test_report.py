"""``report`` finds the form, the format and the counter."""

from __future__ import annotations

import pytest

import holdfast
from holdfast import CompressionResult
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.reports import account

from .results import assistant, user

TALK = [
    user("question " * 40),
    assistant("answer " * 40),
    user("more " * 40),
    assistant("fine"),
    user("and now?"),
]


def test_a_report_of_a_real_compression_agrees_with_its_totals():
    result = holdfast.compress(TALK, 80, strategy="trim")
    told = account(result)
    assert (
        sum(entry.tokens_before for entry in told.entries) + told.beside
        == result.metrics.tokens_before
    )
    assert (
        sum(entry.tokens_after for entry in told.entries) + told.beside
        == result.metrics.tokens_after
    )


def test_text_is_the_default_and_html_is_a_page():
    result = holdfast.compress(TALK, 80, strategy="trim")
    assert holdfast.report(result).startswith("trim: ")
    assert holdfast.report(result, "html").startswith("<!doctype html>")


def test_it_counts_with_the_counter_of_the_result_unless_another_is_given():
    result = holdfast.compress(TALK, 80, strategy="trim", counter="words")
    assert (
        account(result).counter
        == account(CompressionResult.from_json(result.to_json())).counter
        == "words"
    )
    assert account(result).beside is not None
    assert account(result, counter="floor4").counter == "floor4"
    assert account(result, model="gpt-4").counter == "cl100k_base"


def test_what_is_no_result_is_refused_in_one_line():
    with pytest.raises(InputError, match="int is not a result; give what compress returned"):
        holdfast.report(5)


def test_messages_that_fit_are_reported_as_kept():
    told = account(holdfast.compress(TALK, 10_000))
    assert {entry.state for entry in told.entries} == {"kept"}


def test_a_result_from_a_file_is_reported_as_the_result_itself():
    result = holdfast.compress(TALK, 80, strategy="trim")
    again = holdfast.CompressionResult.from_json(result.to_json())
    assert holdfast.report(again, "html") == holdfast.report(result, "html")


def test_an_unknown_form_names_the_known_ones():
    with pytest.raises(ConfigError, match="known are html, text"):
        holdfast.report(holdfast.compress(TALK, 80), "pdf")


def test_tool_results_are_a_tools_whatever_role_their_wire_gives_them():
    result = holdfast.compress(
        [
            user("look"),
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "what it says"}],
            },
            {"role": "assistant", "content": "done"},
        ],
        10_000,
        format="anthropic",
    )
    entries = account(result).entries
    assert [entry.role for entry in entries] == ["user", "assistant", "tool", "assistant"]
    assert entries[1].text_after == 'read({"path":"x"})'
