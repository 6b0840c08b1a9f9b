from __future__ import annotations

import pytest

from holdfast.tokens import window_of

WINDOWS = {
    "gpt-4o": 128_000,
    "azure/gpt-4o-mini": 128_000,
    "gpt-4": 8_192,
    "gpt-4-0613": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106-preview": 128_000,
    "gpt-4.1-mini": 1_047_576,
    "gpt-3.5-turbo": 16_385,
    "gpt-5-mini": 400_000,
    "gpt-5-chat-latest": 128_000,
    "gpt-5.5": 1_050_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o3": 200_000,
    "ollama/gpt-oss:20b": 131_072,
    "claude-3-sonnet": 200_000,
    "claude-2.1": 200_000,
    "claude-2": 100_000,
    "claude-instant-1.2": 100_000,
    "claude-sonnet-4-20250514": 200_000,
    "us.anthropic.claude-haiku-4-5-20251001-v1:0": 200_000,
    "claude-opus-4-6": 1_000_000,
    "gemini/gemini-2.5-flash": 1_048_576,
    "gemini-1.5-pro-002": 2_097_152,
    "meta-llama/Meta-Llama-3.1-8B-Instruct": 131_072,
    "llama3.3:70b": 131_072,
    "llama3": 8_192,
    "meta.llama3-70b-instruct-v1:0": 8_192,
    "ollama/llama2": 4_096,
    "mistral": 32_768,
    "mistral-large-latest": 131_072,
    "open-mixtral-8x7b": 65_536,
    "mixtral-8x22b": 65_536,
    "qwen2.5:7b": 131_072,
    "deepseek-chat": 131_072,
    "grok-4": 256_000,
    "grok-4-fast-reasoning": 2_000_000,
    "command-r-plus": 128_000,
    "amazon.nova-micro-v1:0": 128_000,
    "kimi-k2-0905-preview": 262_144,
    "glm-4.6": 200_000,
    "ai21.jamba-1-5-mini-v1:0": 256_000,
    "phi4": 16_384,
}


@pytest.mark.parametrize("model", WINDOWS)
def test_a_known_model_has_its_published_window(model):
    assert window_of(model) == WINDOWS[model]
    assert window_of(model.upper()) == WINDOWS[model]


@pytest.mark.parametrize(
    "model", [None, "", "totally-made-up", "azure/production", "my-gpt-4o", "gpt-99", "\ud800" * 9]
)
def test_a_window_is_never_guessed(model):
    assert window_of(model) is None
