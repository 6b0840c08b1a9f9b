"""Who completes and embeds, and what that took: the options of every command that may call a model."""

from __future__ import annotations

from collections.abc import Iterator

import click

from holdfast.cli.options import having
from holdfast.cli.values import known
from holdfast.providers import EMBEDDERS, MODELS, check_embedder, check_model
from holdfast.reports.visible import amount
from holdfast.usage import ModelUsage

LLM = click.option(
    "--llm",
    callback=known(check_model),
    metavar="V:NAME",
    help=f"The model that writes summaries ({', '.join(MODELS.table)}), such as openai:gpt-4o-mini.",
)

model_options = having(
    LLM,
    click.option(
        "--embedder",
        callback=known(check_embedder),
        metavar="V:NAME",
        help=f"What compares texts ({', '.join(EMBEDDERS.table)}).  [default: local or lexical]",
    ),
    click.option("--thread", metavar="ID", help="The conversation's name: its summaries are kept under it."),
)
"""Give a command the options ``llm``, ``embedder`` and ``thread``."""


def calls_told(usage: ModelUsage) -> Iterator[str]:
    """One line about the calls, where there were any."""
    if not usage.calls:
        return
    cost = "" if not usage.cost else f", about ${usage.cost:.4f}"
    failed = f", {amount(usage.failures, 'call')} without an answer" if usage.failures else ""
    tokens = f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
    yield f"Models: {amount(usage.requests, 'request')}, {tokens}{cost}{failed}."
