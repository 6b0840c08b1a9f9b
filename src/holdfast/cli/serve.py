"""``holdfast serve``, ``run`` and ``mcp``: the proxy, and the MCP server."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, cast

import click

from holdfast.http.requests import Budgets, Size, Vendor, stated
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.registry import imported
from holdfast.proxy import UPSTREAMS, Settings

from .files import note
from .options import (
    CONFIG,
    LLM,
    PROFILE,
    REDACT,
    Whole,
    configured,
    flag,
    having,
    kept_in,
    known,
    option,
    options_of,
    store_options,
)

proxy_options = having(
    option(
        "-b --budget",
        "N",
        "Tokens that a request may take: 32k, or 80% of the model's window.  [default: the "
        "window, less the request's own maximum for its answer]",
        callback=known(stated),
    ),
    option(
        "--budget-for",
        "MODEL=N",
        "The same for some models, such as 'gpt-4o*=64k'; may be repeated.",
        multiple=True,
    ),
    option(
        "--upstream",
        "[VENDOR=]URL",
        "Where requests are sent, for openai, anthropic or google, or for all.",
        multiple=True,
    ),
    flag("--recall recalls", "Offer the model a tool that reads originals, and answer its calls."),
    PROFILE,
    LLM,
    REDACT,
    store_options,
    CONFIG,
)
"""The options that ``settings_of`` reads."""


def settings_of(given: Mapping[str, Any], **more: Any) -> Settings:
    """The settings of these options, and of the configuration for the others."""
    options = options_of(given)
    # each request states these itself
    options.pop("model", None)
    options.pop("format", None)
    options.pop("thread", None)
    store = kept_in(given["store"], given["store_key"])
    if store is not None:
        options["store"] = store
    usual = configured().budget
    default = usual if usual.limit or usual.window else None
    beside = replace(usual, limit=None, window=None, hard=False)
    return Settings(
        upstreams=upstreams_of(given["upstream"]),
        budgets=Budgets(given["budget"] or default, _by_model(given["budget_for"]), beside=beside),
        options=options,
        recall=given["recalls"],
        **more,
    )


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


def _by_model(given: Sequence[str]) -> dict[str, Size]:
    found: dict[str, Size] = {}
    for each in given:
        model, equals, size = each.rpartition("=")
        if not equals:
            raise ConfigError(
                f"{each!r} names no model",
                place="--budget-for",
                advice="give one such as gpt-4o*=64k",
            )
        try:
            stated(size)
        except ConfigError as fault:
            raise fault.at("--budget-for") from fault
        found[model.lower()] = size
    return found


@click.command
@proxy_options
@click.option("--host", help="Where to listen.  [default: 127.0.0.1]")
@click.option("-p", "--port", type=Whole(0, 65535), help="Its port.  [default: 8400]")
@option(
    "--token",
    "T",
    "Protects the proxy's own pages; needed if other machines can reach it.",
    envvar="HOLDFAST_TOKEN",
)
@option(
    "--most-megabytes",
    "N",
    "The largest request body.  [default: 64]",
    type=Whole(1),
    default=64,
)
@option("--connections", "N", "The most connections at once.  [default: 1000]", type=Whole(1))
@option(
    "--grace",
    "S",
    "Seconds for running requests when it stops.  [default: 10]",
    type=Whole(1),
)
def serve(**given: Any) -> None:
    """Run a proxy that fits what agents send to their providers, until it is interrupted.

    Set the agent's base URL to its address; keys and headers are passed on. Requests that fit are
    not changed, and neither is any request if Holdfast fails. Its page is at /holdfast.

    \b
    holdfast serve --budget 80% --store originals.db --recall
    ANTHROPIC_BASE_URL=http://127.0.0.1:8400 claude
    """
    names = ("host", "port", "token", "connections", "grace")
    more = {name: given[name] for name in names if given[name] is not None}
    settings = settings_of(given, most_bytes=given["most_megabytes"] * 1_000_000, **more)

    def announce(address: str) -> None:
        note(f"Holdfast listens on {address}; its page is {address}/holdfast\n")

    imported("holdfast.proxy.server:serve")(settings, announce)


_VARIABLES: tuple[tuple[Vendor, str, str], ...] = (
    ("openai", "OPENAI_BASE_URL", "/v1"),
    ("openai", "OPENAI_API_BASE", "/v1"),
    ("anthropic", "ANTHROPIC_BASE_URL", ""),
    ("google", "GOOGLE_GEMINI_BASE_URL", ""),
)
"""The variables from which vendors' packages and most clients read their address, and its end."""


_DIRECT = ("no_proxy", "NO_PROXY")


def _directly() -> str:
    """The hosts that need no proxy of the environment, and this machine."""
    held = next(filter(None, map(os.environ.get, _DIRECT)), "")
    return held if held.strip() == "*" else ",".join(filter(None, (held, "127.0.0.1")))


@click.command("run", context_settings={"ignore_unknown_options": True})
@proxy_options
@click.argument(
    "command_line", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND..."
)
def run(command_line: tuple[str, ...], **given: Any) -> int:
    """Start a proxy, run COMMAND with its base URLs set to it, and end the proxy with it.

    The proxy sends requests to the addresses that OPENAI_BASE_URL, ANTHROPIC_BASE_URL and
    GOOGLE_GEMINI_BASE_URL had before. The exit code is that of COMMAND.

    \b
    holdfast run -- claude
    holdfast run --budget 100k -- codex
    holdfast run -- python app.py
    """
    before: dict[Vendor, str] = {}
    for vendor, name, end in _VARIABLES:
        if url := os.environ.get(name):
            before.setdefault(vendor, url.rstrip("/").removesuffix(end))
    named = [f"{vendor}={url}" for vendor, url in before.items() if url != UPSTREAMS[vendor]]
    given["upstream"] = (*named, *given["upstream"])
    settings = settings_of(given, port=0)
    program = shutil.which(command_line[0])
    if program is None:
        raise InputError("there is no such program", place=command_line[0], advice="check its name")
    with imported("holdfast.proxy.server:serving")(settings) as address:
        arguments = [program, *_arguments(command_line, address)]
        variables = {name: f"{address}{end}" for _, name, end in _VARIABLES}
        variables |= dict.fromkeys(_DIRECT, _directly())
        return _finished(arguments, {**os.environ, **variables})


def _arguments(command_line: Sequence[str], address: str) -> list[str]:
    """The arguments of the command; Codex reads its address from options, not variables."""
    first, *rest = command_line
    if PurePath(first).stem != "codex":
        return rest
    provider = "model_providers.holdfast"
    settings = (
        'model_provider="holdfast"',
        f'{provider}.name="Holdfast"',
        f'{provider}.base_url="{address}/v1"',
        f'{provider}.env_key="OPENAI_API_KEY"',
        f'{provider}.wire_api="responses"',
    )
    return [*(word for each in settings for word in ("-c", each)), *rest]


def _finished(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program to its end; an interrupt is left to the program."""
    with subprocess.Popen(arguments, env=environment) as running:  # noqa: S603 - typed by the user

        def end(number: int, frame: object) -> None:
            del number, frame
            running.terminate()

        before = signal.signal(signal.SIGTERM, end)
        try:
            while True:
                try:
                    code = running.wait()
                    break
                except KeyboardInterrupt:
                    continue
        finally:
            signal.signal(signal.SIGTERM, before)
    return code if code >= 0 else 128 - code


@click.command
@store_options
@option("--thread", "ID", "The only thread served; without it, each call names one.", default="")
@option(
    "--root",
    "DIR",
    "The folder whose files agents may read.  [default: the working directory]",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@option(
    "--http port",
    "PORT",
    "Serve streamable HTTP on 127.0.0.1 instead of standard input and output.",
    type=Whole(1, 65535),
)
def mcp(
    store: str | None, store_key: str | None, thread: str, root: Path, port: int | None
) -> None:
    """Offer an agent tools over MCP: recall, search, compress_file, stats and remember.

    \b
    holdfast mcp --store agent.db
    claude mcp add holdfast -- holdfast mcp --store agent.db
    """
    place = kept_in(store, store_key)
    if place is None:
        raise ConfigError("it is missing", place="--store", advice="name one, such as agent.db")
    imported("holdfast.mcp:serve")(place, thread, root, port)
