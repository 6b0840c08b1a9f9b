"""What ``compress`` and ``explain`` are asked: the options that both have, and the run that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import update_wrapper
from pathlib import Path
from typing import Any, Literal, cast

import click

from holdfast.api import compress
from holdfast.cli.budgeting import LIMITS, PROFILE, REDACT, SOFT
from holdfast.cli.counting import counting_options, read_tools
from holdfast.cli.keeping import kept_in, store_options
from holdfast.cli.models import model_options
from holdfast.cli.options import having
from holdfast.cli.reading import Document, read_conversation, within
from holdfast.cli.terminal import waiting
from holdfast.cli.values import known, positions, share
from holdfast.compressors import COMPRESSORS
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.reports import Account, account, written
from holdfast.result import CompressionResult

Form = Literal["text", "html"]
_FORMS: Mapping[str, Form] = {".html": "html", ".htm": "html", ".txt": "text"}


@dataclass(frozen=True, slots=True)
class Request:
    """One conversation, one budget, and how it is to be met."""

    file: str
    budget: int | None
    window: int | None
    reserve: int
    headroom: float
    step: float | None
    soft: bool
    profile: str | None
    strategy: tuple[str, ...]
    query: str | None
    pin: list[int]
    store: str | None
    store_key: str | None
    redact: bool | None
    llm: str | None
    embedder: str | None
    thread: str | None
    model: str | None
    counter: str | None
    form: str | None
    tools: str | None

    def run(self, *, rehearsal: bool = False) -> tuple[Document, CompressionResult]:
        """Read, and fit; in a rehearsal nothing is put into the store.

        A budget that cannot be met is the caller's to refuse, with ``refuse_over``.
        """
        if self.profile and self.strategy:
            advice = "give the one or the other"
            raise ConfigError("a profile and strategies exclude each other", place="profile", advice=advice)
        budget = Budget(self.budget, self.window, reserve=self.reserve, headroom=self.headroom)
        document = read_conversation(self.file)
        tools = read_tools(self.tools)
        with waiting(len(document.text)), within(self.file, self.tools):
            result = compress(
                document.payload,
                budget,
                model=self.model,
                counter=self.counter,
                format=self.form,
                profile=self.profile or "balanced",
                strategy=self.strategy[0] if len(self.strategy) == 1 else self.strategy or None,
                query=self.query,
                tools=tools,
                pin=self.pin,
                step=self.step,
                store="memory://" if self.store and rehearsal else kept_in(self.store, self.store_key),
                redact=self.redact,
                llm=self.llm,
                embedder=self.embedder,
                thread=self.thread,
            )
        return document, result

    def accepts(self, result: CompressionResult) -> bool:
        """Whether the result fits, or need not."""
        return self.soft or result.budget_met

    def refuse_over(self, result: CompressionResult) -> None:
        """Raise BudgetError for a result that is not accepted."""
        if not self.accepts(result):
            before, smallest = result.metrics.tokens_before, result.smallest or result.usage.tokens
            raise BudgetError(limit=result.usage.limit, tokens=before, smallest=smallest, reason=result.detail)

    def account(self, result: CompressionResult) -> Account:
        """The result message by message, counted as it was."""
        return account(result, model=self.model, counter=self.counter)

    def report(self, result: CompressionResult, form: Form) -> str:
        """The report in this form."""
        return written(self.account(result), form)


def request_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a request; its first argument is the Request."""

    def asked(**given: Any) -> int:
        own = {field.name: given.pop(field.name) for field in fields(Request)}
        return command(Request(**own), **given)

    # click keeps what the options of the command itself have left on its function
    decorated = counting_options(cast("Callable[..., int]", update_wrapper(asked, command)))
    return having(*_OPTIONS)(model_options(store_options(decorated)))


def report_form(file: str | None) -> Form:
    """The form of report that the name of a file asks for. Raises ConfigError for a name that asks for none."""
    suffix = Path(file).suffix.lower() if file else ".txt"
    if suffix not in _FORMS:
        advice = f"let its name end in {' or '.join(_FORMS)}"
        raise ConfigError("the name says no form of report", place=f"--report {file}", advice=advice)
    return _FORMS[suffix]


_OPTIONS = (
    click.argument("file", metavar="FILE|-"),
    *LIMITS,
    click.option("--step", callback=share, metavar="X", help="Let go in steps of this share: prompt caches hold."),
    SOFT,
    PROFILE,
    click.option(
        "--strategy",
        callback=known(COMPRESSORS.load),
        multiple=True,
        metavar="S",
        help=f"Instead of a profile; again for the next ({', '.join(COMPRESSORS.table)}).",
    ),
    click.option("--query", metavar="Q", help="The question in view.  [default: the newest user message]"),
    click.option(
        "--pin", multiple=True, callback=positions, metavar="I", help="Messages that never leave: 0,3,-1."
    ),
    REDACT,
)
