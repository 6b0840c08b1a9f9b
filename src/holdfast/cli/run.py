"""``holdfast run -- COMMAND``: run a program with a proxy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import click

from holdfast.cli.serve import part, proxy_options, settings_of, upstreams_of
from holdfast.http.requests import Vendor
from holdfast.kernel.errors import InputError
from holdfast.proxy.settings import UPSTREAMS

_VARIABLES: Mapping[Vendor, tuple[tuple[str, str], ...]] = {
    "openai": (("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1")),
    "anthropic": (("ANTHROPIC_BASE_URL", ""),),
    "google": (("GOOGLE_GEMINI_BASE_URL", ""),),
}
"""The variables from which vendors' packages and most clients read their address."""


@click.command("run", context_settings={"ignore_unknown_options": True})
@proxy_options
@click.argument(
    "command_line", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND..."
)
def command(command_line: tuple[str, ...], **given: Any) -> int:
    r"""Start a proxy, run COMMAND with its base URLs set to it, and end the proxy with it.

    The proxy sends requests to the addresses that OPENAI_BASE_URL, ANTHROPIC_BASE_URL and
    GOOGLE_GEMINI_BASE_URL had before. The exit code is that of COMMAND.

    \b
    holdfast run -- claude
    holdfast run --budget 100k -- codex
    holdfast run -- python app.py
    """
    given["upstream"] = (*_named_before(os.environ), *given["upstream"])
    settings = settings_of(given, port=0)
    program = shutil.which(command_line[0])
    if program is None:
        raise InputError("there is no such program", place=command_line[0], advice="check its name")
    with part("serving")(settings) as address:
        arguments = [program, *_arguments(command_line, address)]
        return _run(arguments, {**os.environ, **_variables(address)})


def _named_before(environment: Mapping[str, str]) -> list[str]:
    """The addresses in the environment, as values of --upstream."""
    found: list[str] = []
    for vendor, variables in _VARIABLES.items():
        for name, end in variables:
            if url := environment.get(name):
                found.append(f"{vendor}={url.rstrip('/').removesuffix(end)}")
                break
    return [
        f"{vendor}={url}" for vendor, url in upstreams_of(found).items() if url != UPSTREAMS[vendor]
    ]


def _variables(address: str) -> dict[str, str]:
    return {name: f"{address}{end}" for variables in _VARIABLES.values() for name, end in variables}


def _arguments(command_line: Sequence[str], address: str) -> list[str]:
    """The arguments of the command; Codex reads its address from options, not variables."""
    first, *rest = command_line
    if PurePath(first).stem != "codex":
        return rest
    provider = {
        "name": '"Holdfast"',
        "base_url": f'"{address}/v1"',
        "env_key": '"OPENAI_API_KEY"',
        "wire_api": '"responses"',
    }
    settings = [f"model_providers.holdfast.{name}={value}" for name, value in provider.items()]
    told = [word for each in ('model_provider="holdfast"', *settings) for word in ("-c", each)]
    return [*told, *rest]


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
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
