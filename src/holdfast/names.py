"""The names that are fixed, as types: a checker finds a slip before the program runs.

Packages that bring names of their own by entry points are asked for by object, or by a cast.
"""

from __future__ import annotations

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
"""Strategies of a published design with its numbers."""

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
"""A pipeline that comes with the package; a file of your own is given as a ``pathlib.Path``."""

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
"""The form in which messages are written."""

ProviderName = Literal[
    FormatName, "azure", "bedrock_converse", "claude", "google", "openai", "responses", "vertex"
]
"""Whose rules hold: the name of a form, or of a provider that takes it."""

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
    "stepwise",
    "summarize",
    "summarizing",
    "trim",
    "tunacode",
    "tunacode_history",
    "window",
]
"""A way of making a conversation smaller."""

ReportForm = Literal["html", "text"]
"""What a report is written as."""

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
"""Whose form the schema of a tool has."""
