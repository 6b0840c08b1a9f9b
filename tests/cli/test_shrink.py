"""``holdfast shrink`` takes any text through a pipe."""

from __future__ import annotations

import pytest

import holdfast
from tests.compressors.shrink.exchanges import log

URL = "sqlite:///kept.db"


def test_a_text_is_made_to_fit(run, folder):
    (folder / "app.log").write_text(log(900))
    ran = run("shrink", "app.log", "--tokens", "300", "--query", "What did worker 321 do?")
    assert ran.code == 0
    assert (
        ran.out
        == holdfast.shrink(log(900), 300, "What did worker 321 do?").text.rstrip("\n") + "\n"
    )
    assert "worker 321 finished" in ran.out
    assert ran.err == ""


@pytest.mark.parametrize("text", ["", "short", "short\n", "two\r\nlines\r\n", "é\n\n"])
def test_what_fits_goes_through_as_it_is(run, text):
    assert run("shrink", "-", "--tokens", "300", stdin=text.encode()).raw == text.encode()


def test_it_says_what_it_did_when_asked(run):
    ran = run("shrink", "-", "-t", "200", "-v", stdin=log(900).encode())
    first, second = ran.err.splitlines()
    assert first.startswith("log: ")
    assert first.endswith(" tokens")
    assert second.startswith("left out: ")
    whole = run("shrink", "-", "-t", "1k", "-v", stdin=b"word").err
    assert whole == "prose: 1 -> 1 token\nnothing is left out\n"


def test_with_a_store_the_original_can_be_had_back(run):
    ran = run("shrink", "-", "--tokens", "200", "--store", URL, "-v", stdin=log(900).encode())
    key = ran.out.rstrip().rpartition("[original: ")[2].partition(" ")[0]
    assert ran.err.splitlines()[-1] == f"the original: holdfast recall {key} --store {URL}"
    assert run("recall", key, "--store", URL).out == log(900)


def test_json_has_the_text_with_its_facts(run):
    facts = run(
        "shrink", "-", "--tokens", "200", "--store", URL, "--json", stdin=log(900).encode()
    ).json
    shrunk = holdfast.shrink(log(900), 200, store=URL)
    assert facts == {
        "text": shrunk.text,
        "kind": "log",
        "tokens_before": shrunk.tokens_before,
        "tokens_after": shrunk.tokens_after,
        "omitted": shrunk.omitted,
        "lossless": False,
        "key": shrunk.key,
        "redacted": {},
    }


def test_secrets_are_masked_when_asked(run):
    secret = "ghp_" + "a1B2c3D4e5" * 4
    ran = run("shrink", "-", "--tokens", "200", "--redact", "-v", stdin=f"token: {secret}".encode())
    assert ran.out == "token: [redacted github token]\n"
    assert "masked: 1 github token\n" in ran.err


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe" * 2_000,
        b"INFO start\n" * 200 + bytes(range(256)) * 4 + b"ERROR end\n",
        b"\xef\xbb\xbfINFO byte-order mark\n" * 300,
        b"x" * 300_000,
        b"[" * 50_000,
        b'{"a": NaN, "a": 1}' * 900,
    ],
)
def test_any_bytes_go_through(run, content):
    ran = run("shrink", "-", "--tokens", "80", stdin=content)
    assert ran.code == 0
    assert ran.out.strip()
    assert (
        holdfast.count([{"role": "user", "content": ran.out.rstrip("\n")}]).messages[0].tokens
        <= 80 + 4
    )


@pytest.mark.parametrize(
    ("arguments", "content", "complaint"),
    [
        (["-"], b"", "--tokens: it is missing"),
        (["-", "--tokens", "0"], b"text", "--tokens: '0' is not a positive number of tokens"),
        (["-", "--tokens", "few"], b"text", "--tokens: 'few' is not a positive number of tokens"),
        (["absent.txt", "--tokens", "5"], b"", "absent.txt: there is no such file"),
        (
            ["-", "--tokens", "5", "--kind", "jsn"],
            b"text",
            "--kind: there is no content kind named 'jsn'",
        ),
        (["-", "--tokens", "5", "--counter", "magic"], b"text", "--counter: "),
        (
            ["-", "--tokens", "5", "--store", URL],
            b"caf\xe9",
            "standard input: byte 3 (0xe9) is not UTF-8",
        ),
        (
            ["-", "--tokens", "5"],
            "é".encode("utf-16"),
            "standard input: byte 0 (0xff) is not UTF-8; save it as UTF-8",
        ),
        (
            ["-", "--tokens", "1", "--store", "sqlite:///no/kept.db"],
            b"text " * 90,
            "--store sqlite:///no/kept.db: there is no directory no; make it first",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run, arguments, content, complaint):
    ran = run("shrink", *arguments, stdin=content)
    assert ran.code == 2
    assert ran.complaint.startswith(complaint)


def test_a_text_without_room_for_the_key_of_its_original_is_told(run):
    told = "There was no room for the key of the original: give more --tokens, or keep it.\n"
    lines = log(900).encode()
    assert run("shrink", "-", "--tokens", "5", "--store", URL, stdin=lines).err == told
    assert run("shrink", "-", "--tokens", "500", "--store", URL, stdin=lines).err == ""
    assert run("shrink", "-", "--tokens", "5", "--store", URL, stdin=b"word").err == ""
