"""``holdfast recall``: an original, whole or in part."""

from __future__ import annotations

import click

from holdfast.cli.keeping import kept_in, store_options
from holdfast.cli.summary import printed
from holdfast.cli.terminal import mention, pour, say
from holdfast.kernel.errors import ConfigError
from holdfast.recalling import excerpt_of
from holdfast.stores.answers import opened


@click.command("recall", short_help="Give back the original that a shortened text names.")
@click.argument("key")
@store_options
@click.option("--lines", metavar="A:B", help="Only these lines, counted from 1.")
@click.option("--pattern", metavar="RE", help="Only lines that match this regular expression (RE2).")
@click.option("--field", metavar="PATH", help="Only this field of JSON, such as orders[3].status.")
@click.option("-n", "--numbers", is_flag=True, help="Put its number before each line.")
@click.option("--json", "as_json", is_flag=True, help="Print the text with the numbers of its lines as JSON.")
def command(
    key: str,
    store: str | None,
    store_key: str | None,
    lines: str | None,
    pattern: str | None,
    field: str | None,
    *,
    numbers: bool,
    as_json: bool,
) -> int:
    r"""Give back the original that a shortened text names: KEY is what stands after "original:" in its last line.

    With several of --field, --lines and --pattern, each chooses from what the one before it leaves, in this order.

    \b
    holdfast recall 3fa1c27b90de --store sqlite:///originals.db
    holdfast recall 3fa1c27b90de --store sqlite:///originals.db --pattern ERROR -n
    """
    place = kept_in(store, store_key, reading=True)
    if place is None:
        raise ConfigError("it is missing", place="--store", advice="give the one that compress or shrink had")
    found = excerpt_of(key, opened(place), lines=lines, pattern=pattern, field=field)
    if as_json:
        say(printed({"key": key, "text": found.text, "lines": list(found.numbers), "of": found.total}))
        return 0
    if not found.text:
        mention("Nothing of the original matches.\n")
    pour(found.numbered() if numbers else found.text)
    return 0
