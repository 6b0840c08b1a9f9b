"""Which texts are made of lines."""

import textwrap

import pytest

from holdfast.text.sentences import is_of_lines

STATUS = (
    "On branch main\nChanges:\n\tmodified:   src/a.py\n"
    "\tmodified:   src/longer/name.py\n\nUntracked files:\n\tb/\n"
)
COLUMNS = "\n".join(
    f"ii  package-{n}{' ' * (9 + n % 7)}1.{n}    all    Something that is good for {n}."
    for n in range(40)
)
ACCOUNTS = "\n".join(f"user{n}:x:{n}:{n}:A person:/home/user{n}:/bin/sh" for n in range(30))
WORDS = (
    "The harbour was quiet when the last ferry came in and nobody was waiting for it on the quay. "
    * 20
)


@pytest.mark.parametrize("text", [STATUS, COLUMNS, ACCOUNTS, ACCOUNTS.replace("\n", "\r\n")])
def test_what_programs_print_is_made_of_lines(text):
    assert is_of_lines(text)


@pytest.mark.parametrize(
    "text",
    [
        WORDS,
        textwrap.fill(WORDS, 72),
        textwrap.fill(WORDS, 100),
        WORDS.replace(". ", ".\n"),
        "one\ntwo",
        "",
        "\n" * 99,
    ],
)
def test_written_language_is_not(text):
    assert not is_of_lines(text)
