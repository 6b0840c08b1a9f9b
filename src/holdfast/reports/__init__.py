"""What was done to a conversation, message by message, for people: one file a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from holdfast.formats import named
from holdfast.kernel.errors import InputError
from holdfast.kernel.registry import Registry
from holdfast.meter import Counter, meter_for
from holdfast.names import ReportForm
from holdfast.renamed import renamed_argument
from holdfast.reports.account import Account, account_of
from holdfast.result import CompressionResult

REPORTS = Registry(
    "form of report",
    "reports",
    {"text": "holdfast.reports.text:text_report", "html": "holdfast.reports.html:html_report"},
)


@renamed_argument("format", "form")
def report(
    result: CompressionResult,
    form: ReportForm = "text",
    *,
    model: str | None = None,
    counter: Counter = None,
) -> str:
    """What was done to each message and why, as ``text`` or as one self-contained ``html`` page.

    The messages are counted again, with the counter that the result names unless another is given.
    Raises ConfigError for a form that is not known, and InputError for what is no result.
    """
    return written(account(result, model=model, counter=counter), form)


def account(
    result: CompressionResult, *, model: str | None = None, counter: Counter = None
) -> Account:
    """What a report is written from."""
    if not isinstance(cast("object", result), CompressionResult):
        raise InputError(
            f"{type(result).__name__} is no result", advice="give what compress returned"
        )
    # the name may be that of a function of the caller, which nothing here can find: it counts as
    # that of a model
    again = model if model or counter is not None else result.counter
    return account_of(result, named(result.format), meter_for(again or None, counter))


def written(told: Account, form: str) -> str:
    """The report in this form."""
    write = cast("Callable[[Account], str]", REPORTS.load(form))
    return write(told)


__all__ = ["REPORTS", "Account", "account", "report", "written"]
