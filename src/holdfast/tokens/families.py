"""What is known of models by their names, and of the vocabularies that count for them.

A count is exact only for the models in the table of tiktoken 0.14 (``tiktoken/model.py``). Other
models are counted with the nearer of two vocabularies, and the usual relative error is stated.
Counts are never inflated: with ``Budget(headroom=error)``, a conversation that fits by this count
fits by the true one.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.kernel.ports import Accuracy

EXACT = Accuracy("exact", 0.0)  # the vocabulary of the model itself
STAND_INS = {
    "o200k_harmony": "o200k_base",  # the same tokens for text; only special tokens differ
    "p50k_base": "cl100k_base",
    "p50k_edit": "cl100k_base",
    "r50k_base": "cl100k_base",
}
"""Vocabularies that are not installed, and the one that is used instead."""


class Family(NamedTuple):
    """The vocabulary of a group of models, and how exact its counts are."""

    vocabulary: str
    accuracy: Accuracy
    own: str = ""
    """The counter in ``claude`` of the models' own vocabulary, used if its extra is installed."""


GUESSED = Accuracy("approximate", 0.2)
"""Of a model whose vocabulary is not known, as most open ones; llm4s has it for Ollama (L.2)."""
_LARGE = Family("o200k_base", GUESSED)
"""Of models with a vocabulary of 128,000 tokens and more, and where no model is named."""
_SMALL = Family("cl100k_base", GUESSED)


@cache
def _families(*groups: str) -> Sequence[tuple[str, Family]]:
    """The patterns of these tables with the family of each."""
    return [
        (pattern, Family(vocabulary, Accuracy("approximate", error) if error else EXACT, *own))
        for group in groups
        for pattern, (vocabulary, error, *own) in tables()[group].items()
    ]


_OPEN_HOSTS = re.compile(
    r"(?:ollama(?:_chat)?|groq|together(?:_ai)?|fireworks(?:_ai)?|huggingface|vllm)[/:]"
)


def family_of(model: str | None) -> Family:
    """The vocabulary of a model, and the accuracy of its counts.

    Case and prefixes are ignored. None is counted with o200k_base, approximately; an unknown name
    with cl100k_base, with unknown accuracy. A name that contains one of OpenAI's, such as a
    deployment's, is counted with its vocabulary, approximately.
    """
    if not model or not model.strip():
        return _LARGE
    plain = plain_name(model)
    for pattern, family in _families("openai", "openai_short", "others"):
        if re.match(pattern, plain):
            return _hosted(model, family)
    for pattern, family in _families("others", "openai"):
        if re.search(rf"(?<![a-z0-9])(?:{pattern})", model.lower()):
            accuracy = Accuracy("approximate", family.accuracy.error or 0.05)
            return _hosted(model, family._replace(accuracy=accuracy))
    if _OPEN_HOSTS.match(model.strip().lower()):
        return _SMALL
    return Family("cl100k_base", Accuracy("unknown"))


def _hosted(model: str, family: Family) -> Family:
    """Models of Ollama are counted with cl100k_base unless their vocabulary is known exactly."""
    if family == _LARGE and model.strip().lower().startswith("ollama"):
        return _SMALL
    return family


_PREFIX = re.compile(
    r"(?:(?:ft|openai|azure|azure_openai|anthropic|bedrock|bedrock_converse|google|google_genai"
    r"|vertex_ai"
    r"|google_vertexai|openrouter|groq|ollama|together|fireworks|huggingface|xai|litellm_proxy):"
    r"|(?:ai21|[a-z][a-z-]*)\.(?=[a-z]))"
)
"""A vendor before a colon, or a region or vendor before a dot, as in Amazon Bedrock."""


def plain_name(model: str) -> str:
    """The name in lower case, without a path, region, vendor or ``ft:`` before it."""
    name, start = model.strip().lower().rpartition("/")[2], 0
    while prefix := _PREFIX.match(name, start):
        start = prefix.end()
    return name[start:]


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """The tables of ``models.toml``, each with its patterns in order."""
    return tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))


def first(table: str, model: str | None) -> Any:
    """What the table has for the model, by the first pattern that matches; None without one."""
    name = plain_name(model or "")
    return next(
        (told for pattern, told in tables()[table].items() if re.match(pattern, name)), None
    )


@lru_cache(maxsize=256)
def window_of(model: str | None) -> int | None:
    """The context window of a model in tokens, input and output together; None if not known."""
    return first("windows", model) if model else None
