"""``holdfast recall`` gives originals back, in a process that never saw them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.sqlite import SqliteStore

URL = "sqlite:///kept.db"
LINES = "".join(f"line {i}\n" for i in range(1, 101))


@pytest.fixture
def key(folder) -> str:
    """Of the hundred lines in kept.db."""
    with SqliteStore(folder / "kept.db") as store:
        return ArtifactStore(store).put(LINES).reference


def test_a_compressed_conversation_names_what_recall_gives_back(run, talk, folder):
    assert (
        run(
            "compress", "chat.json", "--budget", "500", "--store", URL, "-o", "short.json", "-q"
        ).code
        == 0
    )
    named = re.search(r"\[original: ([0-9a-f]{20}) ", (folder / "short.json").read_text())
    assert run("recall", named[1], "--store", URL).out == talk[3]["content"]


def test_a_store_is_a_file_or_a_url(run, key):
    assert run("recall", key, "--store", "kept.db").out == LINES


def test_in_another_process(key, folder):
    command = [sys.executable, "-m", "holdfast", "recall", key, "--store", URL, "--lines", "2:3"]
    assert (
        subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
        == b"line 2\nline 3\n"
    )


@pytest.mark.parametrize(
    ("options", "out"),
    [
        ([], LINES),
        (["--lines", "9:10"], "line 9\nline 10\n"),
        (["--lines", "7"], "line 7\n"),
        (["--pattern", "line 1$"], "line 1\n"),
        (["--pattern", "00", "--numbers"], "100:line 100\n"),
        (["--lines", "40:60", "--pattern", "9"], "line 49\nline 59\n"),
    ],
)
def test_whole_or_in_part(run, key, options, out):
    ran = run("recall", key, "--store", URL, *options)
    assert (ran.code, ran.out, ran.err) == (0, out, "")


def test_a_field_of_json(run, folder):
    with SqliteStore(folder / "kept.db") as store:
        key = ArtifactStore(store).put('{"a": [{"id": 12345678901234567890}]}').reference
    assert run("recall", key, "--store", URL, "--field", "a[0].id").out == "12345678901234567890"


def test_json_has_the_numbers_of_the_lines(run, key):
    facts = run(
        "recall", key, "--store", URL, "--pattern", "line 5", "--lines", "5:50", "--json"
    ).json
    assert facts == {"key": key, "text": "line 5\nline 50\n", "lines": [5, 50], "of": 100}


def test_what_matches_nothing_is_no_error_and_says_so(run, key):
    ran = run("recall", key, "--store", URL, "--pattern", "absent")
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing matches.\n")


def test_a_text_of_any_characters_comes_back_byte_by_byte(run, folder):
    text = "CRLF\r\n\x00\x1b[31m é 世 🙂 no end"
    with SqliteStore(folder / "kept.db") as store:
        key = ArtifactStore(store).put(text).reference
    assert run("recall", key, "--store", URL).raw == text.encode()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ["--store", URL, "--lines", "ten"],
            "--lines: 'ten' is not a range of lines; write it as 10:80",
        ),
        (["--store", URL, "--lines", "9:2"], "--lines: 9:2 is not a range; "),
        (["--store", URL, "--pattern", "("], "pattern '(': missing ): (; "),
        (["--store", URL, "--field", "a"], "field 'a': the text is not JSON"),
        (
            ["--store", "sqlite:///other.db"],
            "--store sqlite:///other.db: there is no such file; check the path",
        ),
        (["--store", "mongo://x"], "--store: there is no store named 'mongo'"),
        ([], "--store: it is missing; give the store of compress or shrink"),
        (
            ["--store-key", "key"],
            "--store-key: there is no store to open with it; give --store too",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run, key, folder, options, complaint):
    ran = run("recall", key, *options)
    assert ran.code == 2
    assert ran.complaint.startswith(complaint)
    assert not (folder / "other.db").exists()


@pytest.mark.parametrize("name", ["123456789abc", "nonsense", "content_" + "0" * 64])
def test_a_key_that_is_not_there_is_named(run, key, name):
    ran = run("recall", name, "--store", URL)
    assert ran.code == 2
    key = name.removeprefix("content_")
    assert ran.complaint == f"there is no {key!r} in this store; check the key and the thread"


def test_an_encrypted_store_opens_with_its_key_alone(run, folder, talk):
    (folder / "key").write_text("a passphrase of several words\n")
    (folder / "bytes").write_bytes(bytes(range(32)))
    (folder / "binary").write_bytes(b"\xff\xfe")
    asked = ["compress", "chat.json", "--budget", "500", "--store", URL, "--store-key", "key", "-q"]
    named = re.search(r"\[original: ([0-9a-f]{20}) ", run(*asked).out)[1]
    recalled = ["recall", named, "--store", URL]
    assert run(*recalled, "--store-key", "key").out == talk[3]["content"]
    sealed = (folder / "kept.db").read_bytes()
    unlocked = "this store is encrypted; give its key: --store-key FILE, or EncryptedStore.unlock"
    for bare in (recalled, asked[:-3], ["session", "list", "--store", URL]):
        assert run(*bare).complaint == unlocked
    assert (folder / "kept.db").read_bytes() == sealed
    assert "another key" in run(*recalled, "--store-key", "bytes").complaint
    assert "it is not text" in run(*recalled, "--store-key", "binary").complaint
    assert "No such file" in run(*recalled, "--store-key", "absent").complaint
    assert b"line 7 of the file" not in (folder / "kept.db").read_bytes()


def test_compress_masks_secrets_when_asked(run, folder):
    secret = "ghp_" + "a1B2c3D4e5" * 4
    chat = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": f"The token is {secret}."},
        {"role": "user", "content": "word " * 200},
    ]
    (folder / "chat.json").write_text(json.dumps(chat))
    facts = run(
        "compress",
        "chat.json",
        "--budget",
        "215",
        "--redact",
        "--result",
        "all.json",
        "--json",
        "-q",
    ).json
    assert (facts["masked"], facts["redacted"]) == ([1], {"github token": 1})
    assert secret not in (folder / "all.json").read_text()
    assert run("restore", "all.json").json[1]["content"] == "The token is [redacted github token]."
