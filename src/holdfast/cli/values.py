"""Values on the command line, read with a complaint that says what to give."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import click

from holdfast.kernel.errors import ConfigError

_TOKENS = re.compile(r"(\d{1,3}(?:[,_]\d{3})*|\d{1,15}|\d{1,6}\.\d{1,6}(?=[km]))(k|m)?", re.ASCII | re.IGNORECASE)
_MOST = 10**15  # as Budget has it
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}

Named = str | tuple[str, ...] | None


def tokens(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A number of tokens: ``8000``, ``8_000``, ``8,000``, ``8k`` or ``8.5k``; 0 only where it is the default."""
    del ctx
    if value is None:
        return None
    found = _TOKENS.fullmatch(value.strip())
    number = int(Decimal(re.sub("[,_]", "", found[1])) * _SCALE[(found[2] or "").lower()]) if found else 0
    if not found or number > _MOST or (number == 0 and param.default != "0"):
        problem = "is more than any model takes" if number > _MOST else "is not a positive number of tokens"
        raise ConfigError(f"{value!r} {problem}", place=param.opts[-1], advice="give one such as 8000 or 8k")
    return number


def share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A share in [0, 1): ``0.05`` or ``5%``."""
    del ctx
    if value is None:
        return None
    try:
        found = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1:
        advice = "give one such as 0.05"
        raise ConfigError(f"{value!r} is not a share in [0, 1)", place=param.opts[-1], advice=advice)
    return found


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A time: ``2026-05-08``, ``2026-05-08T13:56`` or ``2026-05-08T13:56+02:00``; UTC where it says no zone."""
    del ctx
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError as fault:
        advice = "give one such as 2026-05-08T13:56 or 2026-05-08T13:56+02:00"
        raise ConfigError(f"{value!r} is no time", place=param.opts[-1], advice=advice) from fault
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def positions(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> list[int]:
    """Positions of messages: ``0``, ``-1`` or ``0,3,-1``, and more from each further use of the option."""
    del ctx
    found: list[int] = []
    for given in value:
        try:
            found += [int(number) for number in given.split(",")]
        except ValueError as fault:
            advice = "give a position such as 0, or several such as 0,3,-1"
            raise ConfigError(f"{given!r} names no messages", place=param.opts[-1], advice=advice) from fault
    return found


def known(look_up: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, Named], Named]:
    """One name, or several, that ``look_up`` knows; its complaint names the known ones."""

    def checked(ctx: click.Context, param: click.Parameter, value: Named) -> Named:
        del ctx
        for name in (value,) if isinstance(value, str) else value or ():
            try:
                look_up(name)
            except ConfigError as fault:
                option = param.opts[-1]
                place = option if fault.place in ("", param.name) else f"{option}: {fault.place}"
                raise ConfigError(fault.problem, place=place, advice=fault.advice) from fault
        return value

    return checked
