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
    help="TOML or YAML with a table a model, before the list; by default HOLDFAST_PRICES names it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the prices as JSON.")
def command(model: str | None, file: str | None, *, as_json: bool) -> int:
    r"""Print what a million tokens of each model cost in US dollars, or what those of MODEL do.

    Input, output, and input that the vendor's prompt cache holds or is to hold. The exit code is 2
    where nobody knows the model.

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
        "US dollars for a million tokens: input, output, read from and written to the prompt cache.\n"
        f"From {known.source}, as of {known.date}.\n"
    )
    return 0
