"""The vocabulary that counts for a model, and how exact it is.

A count is exact only for the models in the table of tiktoken 0.14 (``tiktoken/model.py``). Other
models are counted with the nearer of two vocabularies, and the usual relative error is stated.
Counts are never inflated: with ``Budget(headroom=error)``, a conversation that fits by this count
fits by the true one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from holdfast.kernel.ports import Accuracy

from .names import plain_name

EXACT = Accuracy("exact", 0.0)  # the vocabulary of the model itself
STAND_INS = {
    "o200k_harmony": "o200k_base",  # the same tokens for text; only special tokens differ
    "p50k_base": "cl100k_base",
    "p50k_edit": "cl100k_base",
    "r50k_base": "cl100k_base",
}
"""Vocabularies that are not installed, and the one that is used instead."""


@dataclass(frozen=True, slots=True)
class Family:
    """The vocabulary of a group of models, and how exact its counts are."""

    vocabulary: str
    accuracy: Accuracy
    own: str = ""
    """The counter in ``claude`` of the models' own vocabulary, used if its extra is installed."""


def _approximate(vocabulary: str, error: float, own: str = "") -> Family:
    return Family(vocabulary, Accuracy("approximate", error), own)


# documented: 20 to 30 % more than cl100k
_OLDER_CLAUDE = _approximate("cl100k_base", 0.25, "CLAUDE_3")
# "approximately 30 percent more tokens than on earlier models" (Anthropic, Token counting): 1.3 /
# 0.75 = 1 / 0.58
_CLAUDE_4_7 = _approximate("cl100k_base", 0.42, "CLAUDE_4_7")
_NEWER_CLAUDE = _approximate("cl100k_base", 0.42, "CLAUDE_4_8")
_LARGE = _approximate("o200k_base", 0.2)  # 128,000 tokens and more, made for many languages
_SMALL = _approximate(
    "cl100k_base", 0.2
)  # smaller, or grown out of cl100k itself, as Llama 3 and Qwen are

_OPENAI: tuple[tuple[str, Family], ...] = (
    (r"gpt-(?:4o|4\.1|4\.5|5)|chatgpt-4o", Family("o200k_base", EXACT)),
    (r"gpt-oss|o200k_harmony", Family("o200k_harmony", EXACT)),
    (r"gpt-(?:4|3\.5|35)(?![\w.])|text-embedding-(?:3|ada-002)", Family("cl100k_base", EXACT)),
    (
        r"gpt-(?:[6-9]|audio|realtime)",
        _approximate("o200k_base", 0.05),
    ),  # not named by tiktoken 0.14
    (r"gpt-3(?![\w.])", _approximate("r50k_base", 0.25)),
)
_OPENAI_SHORT: tuple[tuple[str, Family], ...] = (
    (r"o[134](?![a-z0-9])", Family("o200k_base", EXACT)),
    (r"(?:davinci|babbage)-002", Family("cl100k_base", EXACT)),
    (r"(?:codex-mini|computer-use)", _approximate("o200k_base", 0.05)),
    (r"p50k_edit", _approximate("p50k_edit", 0.25)),
    (
        r"p50k_base|text-davinci-00[23]|code-(?:davinci|cushman)|(?:davinci|cushman)-codex",
        _approximate("p50k_base", 0.25),
    ),
    (
        r"r50k_base|gpt-?2|(?:text-)?(?:davinci|curie|babbage|ada)(?![a-z])",
        _approximate("r50k_base", 0.25),
    ),
)
"""Names that are too short to be searched inside other names."""

_OTHERS: tuple[tuple[str, Family], ...] = (
    (r"claude-(?:[a-z]+-)?4[.-]7(?!\d)", _CLAUDE_4_7),
    (r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])(?!\d)|claude-mythos", _NEWER_CLAUDE),
    (r"claude|anthropic", _OLDER_CLAUDE),
    (
        r"phi-?4-(?:mini|multimodal)",
        _approximate("o200k_base", 0.05),
    ),  # OpenAI's vocabulary by Phi-4's report
    (r"phi-?4|dbrx", _approximate("cl100k_base", 0.05)),  # as above; DBRX by its model card
    (r"llama-?4|gemini|gemma|command|c4ai|aya-|cohere|embed-", _LARGE),
    (
        (
            r"deepseek|kimi|moonshot|glm|minimax|grok|nova-|titan|ministral|mistral-(?:nemo|small"
            r"|medium|large)"
        ),
        _LARGE,
    ),
    (
        (
            r"pixtral|devstral|magistral|jamba|ernie|hunyuan|doubao|seed-|step-|mimo|longcat|olmo"
            r"|exaone|solar"
        ),
        _LARGE,
    ),
    (
        r"(?:code-?)?llama|mistral|mixtral|codestral|mathstral|qwen|qwq|qvq|yi-|internlm|baichuan",
        _SMALL,
    ),
    (
        (
            r"phi-?\d|granite|falcon|nemotron|hermes|vicuna|starcoder|stablelm|smollm|sonar|palmyra"
            r"|reka|zephyr"
        ),
        _SMALL,
    ),
)
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
    for pattern, family in _OPENAI + _OPENAI_SHORT + _OTHERS:
        if re.match(pattern, plain):
            return _hosted(model, family)
    for pattern, family in _OTHERS + _OPENAI:
        if re.search(rf"(?<![a-z0-9])(?:{pattern})", model.lower()):
            accuracy = Accuracy("approximate", family.accuracy.error or 0.05)
            return _hosted(model, replace(family, accuracy=accuracy))
    if _OPEN_HOSTS.match(model.strip().lower()):
        return _SMALL
    return Family("cl100k_base", Accuracy("unknown"))


def _hosted(model: str, family: Family) -> Family:
    """Models of Ollama are counted with cl100k_base unless their vocabulary is known exactly."""
    if family == _LARGE and model.strip().lower().startswith("ollama"):
        return _SMALL
    return family
