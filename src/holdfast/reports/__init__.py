"""Reports on a result, message by message, as text or as a page."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.formats import named
from holdfast.kernel.registry import Registry, renamed_argument
from holdfast.names import ReportForm
from holdfast.reports.account import Account, account_of
from holdfast.result import CompressionResult, check_result
from holdfast.tokens import Counter, meter_for

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
    """Return a report of what was done to each message, as ``text`` or as one ``html`` page.

    Messages are counted again, with the counter of the result unless another is given. Raises
    ConfigError for an unknown form, and InputError for anything but a result.
    """
    return written(account(result, model=model, counter=counter), form)


def account(
    result: CompressionResult, *, model: str | None = None, counter: Counter = None
) -> Account:
    """The data of a report."""
    check_result(result)
    # the caller's function cannot be found by its name here; the name is tried as a model's
    again = model if model or counter is not None else result.counter
    return account_of(result, named(result.format), meter_for(again or None, counter))


def written(told: Account, form: str) -> str:
    """The report in this form."""
    write: Callable[[Account], str] = REPORTS.load(form)
    return write(told)


__all__ = ["REPORTS", "Account", "account", "report", "written"]
