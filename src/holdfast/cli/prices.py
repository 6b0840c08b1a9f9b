"""``holdfast prices``: the prices of models, with their source and date."""

from __future__ import annotations

from dataclasses import asdict

import click

from holdfast.cli.terminal import mention, say, say_json
from holdfast.kernel.errors import NotFoundError
from holdfast.providers.prices import Price, price_list, price_of

_NAME = 42  # cells


@click.command("prices")
@click.argument("model", required=False)
@click.option(
    "--file",
    metavar="FILE",
    help="Your own prices: TOML or YAML with a table for each model.  [default: HOLDFAST_PRICES]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the prices as JSON.")
def command(model: str | None, file: str | None, *, as_json: bool) -> int:
    r"""Print the prices of all models or of MODEL, in US dollars for a million tokens.

    The columns are input, output, and input that is read from or written to the vendor's prompt
    cache. The exit code is 2 for an unknown model.

    \b
    holdfast prices --json
    holdfast prices claude-sonnet-4-5
    """
    known = price_list(file)
    rows: dict[str, tuple[str, Price]] = {}
    for each in known.models:
        rows.setdefault(each.model, (each.vendor, each.price))
    if model is not None:
        price = price_of(None, model, known)
        if price is None:
            raise NotFoundError(model, where="the price list")
        rows = {model: ("", price)}
    if as_json:
        told = {name: {"vendor": vendor, **asdict(price)} for name, (vendor, price) in rows.items()}
        say_json({"source": known.source, "date": known.date, "models": told})
        return 0
    for name, (vendor, price) in rows.items():
        numbers = (price.input, price.output, price.cache_read, price.cache_write)
        cells = "".join(f"{'' if n is None else f'{n:g}':>9}" for n in numbers)
        say(f"{vendor:<10}{name:<{_NAME}}{cells}\n")
    mention(
        "US dollars for a million tokens: input, output, prompt cache read and prompt cache "
        "write.\n"
        f"From {known.source}, as of {known.date}.\n"
    )
    return 0
