"""Colours and progress: the only module that imports rich."""

from contextlib import AbstractContextManager
from typing import TextIO

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.text import Text

_COLOURS = {
    "kept": "dim",
    "changed": "yellow",
    "offloaded": "magenta",
    "dropped": "red",
    "inserted": "green",
}
_STATES = "|".join(f"(?P<{colour}>{state})" for state, colour in _COLOURS.items())


class _Report(RegexHighlighter):
    """The colours of a report: states, removed and new lines, and the verdict."""

    highlights = (  # each group has the name of its style
        rf"(?m)^ *(?:\d+|\+)  \w+ +(?:{_STATES}) ",
        r"(?m)^ {7,}(?:(?P<red>- .*)|(?P<green>\+ .*)|(?P<dim>\.\.\. .*))$",
        r"(?m)^budget [\d,]+ tokens: (?:(?P<green>met)|(?P<red>NOT met))",
        r"\A(?P<bold>.*)",
    )


def coloured(text: str, stream: TextIO) -> str:
    """The report with the colours that the stream's terminal can show."""
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        console.print(_Report()(Text(text)), end="", soft_wrap=True)
    return captured.get()


def waiting(doing: str) -> AbstractContextManager[object]:
    """A spinner on standard error."""
    return Console(stderr=True).status(doing)
