"""What a refusal means, whatever vendor or server it comes from, and how long it asks to wait."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import process_time

import pytest

from holdfast.kernel.errors import ContextOverflowError
from holdfast.providers.vendor import TransientError, refusal, wait_told

TOO_LONG = [
    ("This model's maximum context length is 8192 tokens. However, your messages "
        "resulted in 9000 tokens.", 8192, 9000),
    ("This model's maximum context length is 4096 tokens. However, you requested 5000 "
        "tokens (4500 in the messages, "
     "500 in the completion).", 4096, 5000),
    ("Input tokens exceed the configured limit of 272,000 tokens. Your messages "
        "resulted in 300,123 tokens.",
     272_000, 300_123),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000),
    ("input length and `max_tokens` exceed context limit: 190000 "
        "+ 20000 > 200000, decrease input", 200_000, 190_000),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
     1_048_576, 1_200_000),
    ("request (9113 tokens) exceeds the available context size (8192 tokens)", 8192, 9113),
    ("context_length_exceeded", None, None),
    ("ValidationException: Input is too long for requested model.", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "limit", "size"), TOO_LONG)
def test_a_context_that_is_too_long_is_known_in_the_words_of_every_vendor(text, limit, size):
    told = refusal("somebody", 400, text, {})
    assert isinstance(told, ContextOverflowError)
    assert (told.limit, told.size) == (limit, size)


@pytest.mark.parametrize(
    ("status", "text", "passes"),
    [
        (429, "slow down", True),
        (500, "", True),
        (529, "overloaded", True),
        (503, "context window service is down", True),
        (429, "You exceeded your current quota: insufficient_quota", False),
        (400, "the tool is not known", False),
        (401, "wrong key", False),
        (404, "no such model", False),
    ],
)
def test_what_may_pass_is_told_from_what_will_not(status, text, passes):
    told = refusal("somebody", status, text, {})
    assert isinstance(told, TransientError) is passes
    assert not isinstance(told, ContextOverflowError)


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def in_seconds(seconds):
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": format_datetime(in_seconds(30), usegmt=True)}, 30),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_headers_say_how_long_to_wait(headers, wait):
    assert wait_told(headers, now=NOW) == (None if wait is None else pytest.approx(wait))


def test_google_says_it_in_the_text():
    assert wait_told({}, "{'@type': 'RetryInfo', 'retryDelay': '37s'}") == 37


@pytest.mark.parametrize("letter", ["1", "a", " ", "(", ":", "retryDelay", "context "])
def test_no_refusal_takes_long_to_read(letter):
    started = process_time()
    refusal("somebody", 400, letter * 200_000, {"retry-after": letter * 200_000})
    wait_told({"retry-after-ms": letter * 200_000}, letter * 2_000)
    assert process_time() - started < 1
