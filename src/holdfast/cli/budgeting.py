"""What the messages may take, and how they are made to: the options of every command that fits a conversation."""

from __future__ import annotations

import click

from holdfast.cli.values import known, share, tokens
from holdfast.profiles import load_profile, profile_names

LIMITS = (
    click.option(
        "-b",
        "--budget",
        callback=tokens,
        metavar="N",
        help="Tokens that the conversation may take, such as 8000 or 8k.",
    ),
    click.option(
        "--window", callback=tokens, metavar="N", help="The model's context window, instead of --budget."
    ),
    click.option(
        "--reserve", default="0", callback=tokens, metavar="N", help="Of the window, kept for the answer."
    ),
    click.option(
        "--headroom", default="0", callback=share, metavar="X", help="Share kept free for counting errors."
    ),
)
SOFT = click.option("--soft", is_flag=True, help="Come as near as possible to a budget that cannot be met.")
PROFILE = click.option(
    "--profile",
    callback=known(load_profile),
    metavar="P",
    help=f"A named pipeline ({', '.join(profile_names())}), or a TOML file.  [default: balanced]",
)
REDACT = click.option("--redact/--no-redact", default=None, help="Mask secrets before anything is kept.")
