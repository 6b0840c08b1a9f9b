"""Fixed names as ``Literal`` types, so that a type checker finds a misspelt one.

Names that other packages bring by entry points are not listed: pass the object, or cast the name.
"""

from typing import Literal

PresetName = Literal[
    "anthropic_context_editing",
    "mofa_hierarchical",
    "mofa_hybrid",
    "mofa_semantic",
    "mofa_sliding_window",
    "mofa_summarizing",
    "slimcontext_summary",
    "slimcontext_trim",
]
"""Published strategies with their own settings."""

ProfileName = Literal[
    PresetName,
    "auto",
    "balanced",
    "cost_optimized",
    "economy",
    "fast",
    "four_step",
    "four_step_rolling",
    "quality",
    "tunacode",
]
"""The built-in profiles; pass a file of your own as a ``pathlib.Path``."""

FormatName = Literal[
    "anthropic",
    "bedrock",
    "converse",
    "gemini",
    "langchain",
    "openai_chat",
    "openai_responses",
    "plain",
    "pydantic_ai",
]
"""The formats of messages."""

ProviderName = Literal[
    FormatName, "azure", "bedrock_converse", "claude", "google", "openai", "responses", "vertex"
]
"""A provider or format whose rules apply."""

StrategyName = Literal[
    PresetName,
    "digest",
    "hierarchical",
    "hybrid",
    "llm4s",
    "llm4s_history",
    "pipeline",
    "prune",
    "rules",
    "select",
    "semantic",
    "shrink",
    "sliding_window",
    "squeeze",
    "summarize",
    "summarizing",
    "trim",
    "tunacode",
    "tunacode_history",
    "window",
]
"""The built-in strategies."""

ReportForm = Literal["html", "text"]
"""The forms of a report."""

ToolProvider = Literal[
    "anthropic",
    "bedrock",
    "converse",
    "gemini",
    "langchain",
    "openai",
    "openai_chat",
    "openai_responses",
    "pydantic_ai",
]
"""The providers whose form a tool schema can have."""
