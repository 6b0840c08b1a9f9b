"""Secrets in JSON are masked, and it stays JSON."""

import json

import pytest

from holdfast.text.secrets import redact, redact_any
from tests.text.adversarial import LARGE

KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"api_key": KEY, "n": 5}, {"api_key": "[redacted openai key]", "n": 5}),
        ({"password": 12345678}, {"password": "[redacted password]"}),
        ({"cmd": 'login password="hunter2x9"'}, {"cmd": 'login password="[redacted password]"'}),
        ({"url": "https://u:p4ssw0rdX@h/"}, {"url": "https://u:[redacted password]@h/"}),
        ({KEY: [1, {"a": KEY}]}, {"[redacted openai key]": [1, {"a": "[redacted openai key]"}]}),
        (
            {"key": "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----"},
            {"key": "[redacted private key]"},
        ),
        (
            [{"secret": {"id": 1}}, {"name": "x9f8e7d6c5b4a39281"}],
            [{"secret": {"id": 1}}, {"name": "x9f8e7d6c5b4a39281"}],
        ),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_what_strings_say_is_masked_and_all_else_stays(value, masked, indent):
    text, counts = redact_any(json.dumps(value, indent=indent))
    assert json.loads(text) == masked
    assert text == json.dumps(masked, indent=indent)
    assert bool(counts) is (value != masked)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": ', "[" * 50_000, f"{{not json {KEY}", f"plain {KEY}", '"' * 1_000]
)
def test_any_other_text_is_masked_as_text(text):
    assert redact_any(text) == redact(text)


def test_a_masked_text_has_nothing_left_to_mask():
    once, _ = redact_any(json.dumps({"api_key": KEY, "password": 12345678, "cmd": f'X="{KEY}"'}))
    assert redact_any(once) == (once, {})


def test_numbers_escapes_and_order_stay_as_they_are_written():
    text = (
        f'{{"z": 1.10, "big": 12345678901234567890123, "u": "\\u00e9\\/", "key": "{KEY}", "a": -0}}'
    )
    assert redact_any(text)[0] == text.replace(KEY, "[redacted openai key]")


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_no_text_makes_it_slow_inside_of_json_either(text):
    value = {"a": [text, {"password": text}]}
    masked, _ = redact_any(json.dumps(value))
    assert list(json.loads(masked)) == ["a"]


def test_an_escape_that_a_mask_would_cut_in_two_stays_whole():
    text = json.dumps({"cmd": 'password=abc" and more', "token": KEY})
    assert json.loads(redact_any(text)[0]) == {
        "cmd": 'password=abc" and more',
        "token": "[redacted openai key]",
    }
