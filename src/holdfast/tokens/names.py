"""Names of models without the prefixes that hosts add.

``azure/GPT-4o``, ``openai:gpt-4o``, ``openrouter/openai/gpt-4o:free`` and
``ft:gpt-4o-2024-08-06:acme::1`` all become names that begin with ``gpt-4o``;
``us.anthropic.claude-3-5-sonnet-20241022-v2:0`` one with ``claude``.
"""

from __future__ import annotations

import re

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
