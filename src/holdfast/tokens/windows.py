"""Context windows of common models in tokens, input and output together, as published.

A host may offer less, and some vendors charge more beyond a part of it: state a budget to use less.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .names import plain_name

_WINDOWS: tuple[tuple[str, int], ...] = (
    # OpenAI
    (r"gpt-5\.[4-9](?!.*-(?:mini|nano|chat))", 1_050_000),
    (r"gpt-5(?:\.\d)?-chat", 128_000),
    (r"gpt-5", 400_000),
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-4(?:o|\.5|-turbo|-1106|-0125|-vision)|chatgpt-4o", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4(?![\w.])", 8_192),
    (r"gpt-3\.?5-turbo-instruct", 4_096),
    (r"gpt-3\.?5", 16_385),
    (r"o1-(?:mini|preview)", 128_000),
    (r"o[134](?![a-z0-9])|codex-mini", 200_000),
    (r"gpt-oss", 131_072),
    (r"text-embedding-(?:3|ada-002)", 8_192),
    # Anthropic
    (
        (
            r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])(?!\d)|claude-(?:opus|sonnet)-4[.-]6"
            r"|claude-mythos"
        ),
        1_000_000,
    ),
    (r"claude-(?:instant|v?1|2[.-]0|2(?![.-]))", 100_000),
    (r"claude", 200_000),
    # Google
    (r"gemini-1[.-]5-pro", 2_097_152),
    (r"gemini-(?:1[.-]0|pro)|gemini-.*image", 32_768),
    (r"gemini-\d", 1_048_576),
    (r"gemma-?3n|gemma-?3[-:]1b", 32_768),
    (r"gemma-?[34]", 131_072),
    (r"gemma", 8_192),
    # Meta
    (r"(?:meta-)?llama-?4.*scout", 10_485_760),
    (r"(?:meta-)?llama-?4", 1_048_576),
    (r"(?:meta-)?llama-?v?3[.p-]?[123](?!\d)", 131_072),
    (r"(?:meta-)?llama-?v?3", 8_192),
    (r"(?:meta-)?llama-?v?2", 4_096),
    (r"code-?llama", 16_384),
    # Mistral
    (r"mistral-large-(?:3|2512)|codestral-(?:25|latest)|ministral-3", 262_144),
    (
        r"mistral-(?:large|small)-24(?:02|09)|codestral|mixtral-8x7b|(?:open-)?mistral(?:-7b|:|$)",
        32_768,
    ),
    (r"(?:open-)?mixtral", 65_536),
    (
        r"(?:open-)?mistral-(?:large|medium|small|nemo)|pixtral|ministral|devstral|magistral",
        131_072,
    ),
    # Alibaba
    (r"qwen-?3-(?:coder|max|next)|qwen-?3.*2507", 262_144),
    (r"qwen-?3(?![.\d])", 40_960),
    (r"qwen-?2[.-]5|qwen-(?:plus|turbo|flash)|qwq", 131_072),
    (r"qwen-?(?:2|max)", 32_768),
    # DeepSeek, Moonshot, Zhipu, MiniMax
    (r"deepseek-v4", 1_000_000),
    (r"deepseek-(?:chat|reasoner|r1|v3|v2|coder-v2)", 131_072),
    (r"kimi-k2-0711|moonshot-v1-128k", 131_072),
    (r"kimi-k2", 262_144),
    (r"moonshot-v1-32k", 32_768),
    (r"moonshot-v1-8k", 8_192),
    (r"glm-5[.-]2", 1_000_000),
    (r"glm-(?:5|4[.-][67])", 200_000),
    (r"glm-4", 131_072),
    (r"minimax-(?:m1|text)", 1_000_000),
    (r"minimax-m2", 196_608),
    # xAI
    (r"grok-4[.-]5", 500_000),
    (r"grok-4[.-](?:20|3)", 1_000_000),
    (r"grok-4(?:[.-]1)?-fast", 2_000_000),
    (r"grok-(?:4|code-fast)", 256_000),
    (r"grok-[23]", 131_072),
    # Cohere, Amazon, Microsoft, IBM, AI21
    (r"command-a", 256_000),
    (r"command-r", 128_000),
    (r"command", 4_096),
    (r"nova-(?:2|premier)", 1_000_000),
    (r"nova-(?:pro|lite)", 300_000),
    (r"nova-micro", 128_000),
    (r"phi-?4-(?:mini|multimodal)|phi-?3[.-]5|phi-?3.*128k", 131_072),
    (r"phi-?4", 16_384),
    (r"phi-?3", 4_096),
    (r"granite-?3[.-]0", 4_096),
    (r"granite-?[34]", 131_072),
    (r"jamba", 256_000),
)


@lru_cache(maxsize=256)
def window_of(model: str | None) -> int | None:
    """The context window of a model, or None for an unknown one; case and prefixes are ignored."""
    name = plain_name(model or "")
    return next((window for pattern, window in _WINDOWS if re.match(pattern, name)), None)
