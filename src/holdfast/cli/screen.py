"""Tables, colours and progress: the only module that imports rich."""

from contextlib import AbstractContextManager
from typing import TextIO

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from holdfast.api import TokenBreakdown
from holdfast.reports import STATES
from holdfast.reports.text import WIDTH, trust
from holdfast.text.visible import one_line

_THEME = Theme(
    {
        "holdfast.kept": "dim",
        "holdfast.changed": "yellow",
        "holdfast.offloaded": "magenta",
        "holdfast.dropped": "red",
        "holdfast.inserted": "green",
        "holdfast.gone": "red",
        "holdfast.new": "green",
        "holdfast.quiet": "dim",
        "holdfast.met": "green",
        "holdfast.missed": "bold red",
        "holdfast.headline": "bold",
    }
)


class _Report(RegexHighlighter):
    """The colours of a report: states, removed and new lines, and the verdict."""

    base_style = "holdfast."
    highlights = (
        rf"(?m)^ *(?:\d+|\+)  \w+ +(?:{'|'.join(f'(?P<{state}>{state})' for state in STATES)}) ",
        r"(?m)^ {7,}(?:(?P<gone>- .*)|(?P<new>\+ .*)|(?P<quiet>\.\.\. .*))$",
        r"(?m)^budget [\d,]+ tokens: (?:(?P<met>met)|(?P<missed>NOT met))",
        r"\A(?P<headline>.*)",
    )


def coloured(text: str, stream: TextIO) -> str:
    """The report with the colours that the stream's terminal can show."""
    console = _console(stream)
    with console.capture() as captured:
        console.print(_Report()(Text(text)), end="", soft_wrap=True)
    return captured.get()


def breakdown(counted: TokenBreakdown, stream: TextIO) -> str:
    """A table of messages with their shares, and the total."""
    console = _console(stream)
    table = Table(box=None, header_style="holdfast.quiet", pad_edge=False, expand=stream.isatty())
    table.add_column("#", justify="right")
    table.add_column("role")
    table.add_column("tokens", justify="right")
    table.add_column("share", justify="right")
    table.add_column("", width=12)
    table.add_column("message", no_wrap=True, overflow="ellipsis", ratio=1)
    for i, message in enumerate(counted.messages):
        share = message.tokens / max(counted.total, 1)
        bar = ProgressBar(
            total=1.0, completed=share, width=12, complete_style="cyan", finished_style="cyan"
        )
        preview = Text(one_line(message.preview))
        table.add_row(f"{i}", message.role, f"{message.tokens:,}", f"{share:.1%}", bar, preview)
    with console.capture() as captured:
        console.print(table)
        console.print(
            f"\n{counted.total:,} tokens", style="holdfast.headline", end="", highlight=False
        )
        beside = f", {counted.overhead:,} of them beside the messages" if counted.overhead else ""
        console.print(
            f"{beside}, counted with {counted.counter}: {trust(counted.accuracy)}", highlight=False
        )
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def waiting(doing: str) -> AbstractContextManager[object]:
    """A spinner on standard error."""
    return Console(stderr=True).status(doing)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else WIDTH
    return Console(
        file=stream, theme=_THEME, width=width, highlight=False, emoji=False, markup=False
    )
