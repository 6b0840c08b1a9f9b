"""``holdfast serve``: the proxy, with the options that ``holdfast run`` has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import click

from holdfast.cli.options import (
    CONFIG,
    LLM,
    PROFILE,
    REDACT,
    configured,
    having,
    kept_in,
    options_of,
    store_options,
)
from holdfast.cli.terminal import mention
from holdfast.http.budgets import Budgets, Size, checked
from holdfast.http.requests import Vendor
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError, MissingExtraError
from holdfast.kernel.registry import imported
from holdfast.options import Options
from holdfast.proxy.settings import UPSTREAMS, Settings

_REQUESTS = frozenset({"model", "format", "thread"})
"""Options that each request states itself."""

_PACKAGES = ("aiohttp", "uvicorn", "prometheus_client")

proxy_options = having(
    click.option(
        "-b",
        "--budget",
        metavar="N",
        help="Tokens that a request may take: 32k, or 80% of the model's window.  [default: the "
        "window, less the request's own maximum for its answer]",
    ),
    click.option(
        "--budget-for",
        multiple=True,
        metavar="MODEL=N",
        help="The same for some models, such as 'gpt-4o*=64k'; may be repeated.",
    ),
    click.option(
        "--upstream",
        multiple=True,
        metavar="[VENDOR=]URL",
        help="Where requests are sent, for openai, anthropic or google, or for all.",
    ),
    click.option(
        "--recall",
        "recalls",
        is_flag=True,
        help="Offer the model a tool that reads originals, and answer its calls.",
    ),
    PROFILE,
    LLM,
    REDACT,
    store_options,
    CONFIG,
)
"""The options that ``settings_of`` reads."""


def settings_of(given: Mapping[str, Any], **more: Any) -> Settings:
    """The settings of these options, and of the configuration for the others."""
    said = options_of({"form": None, **given})
    options = cast(
        "Options", {name: value for name, value in said.items() if name not in _REQUESTS}
    )
    store = kept_in(given["store"], given["store_key"])
    if store is not None:
        options["store"] = store
    return Settings(
        upstreams=upstreams_of(given["upstream"]),
        budgets=Budgets(_size(given["budget"]) or _configured(), _by_model(given["budget_for"])),
        options=options,
        recall=given["recalls"],
        **more,
    )


def part(name: str) -> Any:
    """Import a part of the proxy. Raises MissingExtraError if the extra is not installed."""
    try:
        return imported(f"holdfast.proxy.server:{name}")
    except ModuleNotFoundError as fault:
        if fault.name in _PACKAGES:
            raise MissingExtraError("the proxy", "proxy") from fault
        raise


def upstreams_of(given: Sequence[str]) -> dict[Vendor, str]:
    """The address of each vendor."""
    found = dict(UPSTREAMS)
    for each in given:
        vendor, equals, url = each.partition("=")
        if equals and vendor in UPSTREAMS:
            found[cast("Vendor", vendor)] = url.rstrip("/")
        else:
            found = dict.fromkeys(UPSTREAMS, each.rstrip("/"))
    return found


def _configured() -> Budget | None:
    """The budget of the configuration, if it has one."""
    budget = configured().budget
    return budget if budget.limit or budget.window else None


def _size(given: str | None) -> Size:
    try:
        return checked(given)
    except ConfigError as fault:
        raise fault.at("--budget") from fault


def _by_model(given: Sequence[str]) -> dict[str, Size]:
    found: dict[str, Size] = {}
    for each in given:
        model, equals, size = each.rpartition("=")
        if not equals:
            advice = "give one such as gpt-4o*=64k"
            raise ConfigError(f"{each!r} names no model", place="--budget-for", advice=advice)
        try:
            found[model.lower()] = checked(size)
        except ConfigError as fault:
            raise fault.at("--budget-for") from fault
    return found


@click.command("serve")
@proxy_options
@click.option("--host", default="127.0.0.1", help="Where to listen.  [default: 127.0.0.1]")
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=8400, help="[default: 8400]")
@click.option(
    "--token",
    default="",
    envvar="HOLDFAST_TOKEN",
    metavar="T",
    help="Protects the proxy's own pages; needed if other machines can reach it.",
)
@click.option(
    "--most-megabytes",
    type=click.IntRange(1),
    default=64,
    metavar="N",
    help="The largest request body.  [default: 64]",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=1_000,
    metavar="N",
    help="The most connections at once.  [default: 1000]",
)
@click.option(
    "--grace",
    type=click.IntRange(1),
    default=10,
    metavar="S",
    help="Seconds for running requests when it stops.  [default: 10]",
)
def command(**given: Any) -> int:
    r"""Run a proxy that fits what agents send to their providers, until it is interrupted.

    Set the agent's base URL to its address; keys and headers are passed on. Requests that fit are
    not changed, and neither is any request if Holdfast fails. Its page is at /holdfast.

    \b
    holdfast serve --budget 80% --store originals.db --recall
    ANTHROPIC_BASE_URL=http://127.0.0.1:8400 claude
    """
    named = ("host", "port", "token", "connections", "grace")
    more = {name: given.pop(name) for name in named}
    most = given.pop("most_megabytes") * 1_000_000
    settings = settings_of(given, most_bytes=most, **more)
    part("serve")(settings, _announce)
    return 0


def _announce(address: str) -> None:
    mention(f"Holdfast listens on {address}; its page is {address}/holdfast\n")
