"""Vectors by meaning without a network: the static vectors in the package wordllama.

Its files are read directly, because its own loader may download.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.registry import needed_by
from holdfast.text.visible import encodable

_NEED, _EXTRA = "local embeddings", "local"

with needed_by(_NEED, _EXTRA):
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer


_PACKAGE = "wordllama"
_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")

_TOKENS_AT_ONCE = 4_096  # of one text: their vectors of 256 numbers take 4 MB


class LocalEmbedder:
    """The mean of the static vectors of a text's tokens, in 256 dimensions.

    Measured: about 20,000 short texts a second.
    """

    name = "wordllama-l2-supercat-256"

    def __init__(self, name: str = "") -> None:
        del name  # there is only one
        _files()  # they are read at the first text, which many sessions never have

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; zeros for a text without tokens."""
        listed: list[list[float]] = self.rows(texts).tolist()
        return listed

    def rows(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of the texts as a matrix."""
        vectors = _vectors()
        found = np.zeros((len(texts), vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            # the tokenizer refuses lone surrogates
            ids = _tokenizer().encode(encodable(text), add_special_tokens=False).ids
            for at in range(0, len(ids), _TOKENS_AT_ONCE):
                some = vectors[ids[at : at + _TOKENS_AT_ONCE]]
                found[row] += some.sum(axis=0, dtype=np.float32)
            found[row] /= np.float32(max(1, len(ids)))
        return found


def _files() -> tuple[Path, Path]:
    """The files of the tokenizer and of the vectors. Raises MissingExtraError without them."""
    package = find_spec(_PACKAGE)
    home = Path(package.origin or "").parent if package else Path()
    files = home / _TOKENIZER, home / _WEIGHTS
    if package is None or not all(map(Path.is_file, files)):
        raise MissingExtraError(_NEED, _EXTRA)
    return files


_LOADING = brief_lock()
"""A child whose parent forks while another thread loads would wait for ever for its Rust locks."""


@cache
def _tokenizer() -> Any:
    path = str(_files()[0])
    with _LOADING:
        return Tokenizer.from_file(path)


@cache
def _vectors() -> npt.NDArray[np.float16]:
    """A vector for each token: the only matrix of a safetensors file.

    The file has the length of a JSON header in 8 bytes, the header, and the numbers.
    """
    path = _files()[1]
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        told = json.loads(file.read(length))["embedding.weight"]
    rows, columns = told["shape"]
    start = 8 + length + told["data_offsets"][0]
    # a view: a memmap indexes in Python
    return np.asarray(np.memmap(path, "<f2", "r", start, (rows, columns)))
