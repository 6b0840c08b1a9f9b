"""What commands read and write: files, standard streams and the terminal.

Errors name the place. Results go to standard output, everything else to standard error. On a
terminal, reports have colours and long work shows its progress.
"""

import errno
import io
import json
import math
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple, NoReturn, TextIO

import click

from holdfast.files import as_input_errors, followed, read_whole, write_all
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.registry import imported
from holdfast.kernel.stored_json import BYTES, tagged
from holdfast.kernel.typed import is_list, is_object, walked
from holdfast.names import ReportForm
from holdfast.result import report_form
from holdfast.text.visible import visible

STDIN = "-"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LINE_SUFFIXES = (".jsonl", ".ndjson")


class Document(NamedTuple):
    """The content of a file; ``lines`` if it is one JSON value a line."""

    name: str
    text: str
    payload: Any
    lines: bool = False


@contextmanager
def within(name: str) -> Generator[None]:
    """Add the name of the file to an InputError that is raised inside."""
    try:
        yield
    except ConfigError:
        raise
    except InputError as fault:
        file = shown(name)
        raise fault.at(f"{file}: {fault.place}" if fault.place else file) from fault
    except RecursionError as fault:
        raise InputError(
            "it is nested too deeply",
            place=shown(name),
            advice="give a conversation with fewer levels of objects inside each other",
        ) from fault


def shown(file: str) -> str:
    """The name of a file in errors."""
    return "standard input" if file == STDIN else file


def read_text(file: str, errors: Literal["strict", "replace"] = "strict") -> str:
    """The text of a file or of standard input, without a byte-order mark."""
    if file == STDIN:
        with as_input_errors(shown(file), "read", "name a file, or send one in by a pipe"):
            raw = sys.stdin.buffer.read()
    else:
        raw = read_whole(file)
    try:
        return raw.decode("utf-8-sig", "strict" if raw[:2] in _UTF16 else errors)
    except UnicodeDecodeError as fault:
        advice = "save it as UTF-8"
        if raw[:2] in _UTF16:
            advice += ": it looks like UTF-16, as PowerShell writes it"
        raise InputError(
            f"byte {fault.start:,} (0x{raw[fault.start]:02x}) is not UTF-8",
            place=shown(file),
            advice=advice,
        ) from fault


def read_conversation(file: str) -> Document:
    """Read a list of messages, a request body, or one message a line."""
    document = read_json(file)
    problem = advice = ""
    if "holdfast" in object_in(document):
        problem = "this is a result, not a conversation"
        advice = "get the messages out of it with `holdfast restore`"
    elif document.lines and any("messages" in line for line in document.payload if is_object(line)):
        problem, advice = "each line is a conversation of its own", "give them one at a time"
    if problem:
        raise InputError(problem, place=document.name, advice=advice)
    return document


def object_in(document: Document) -> Mapping[str, object]:
    """The document if it is an object, else an empty one."""
    return document.payload if is_object(document.payload) else {}


def read_json(file: str) -> Document:
    """Read JSON. Raises InputError, with line and column, for invalid or ambiguous JSON."""
    text = read_text(file)
    name = shown(file)
    if not text.strip():
        raise InputError(
            "it is empty", place=name, advice="give a JSON list of messages, or a request body"
        )
    with within(file):
        if file.endswith(_LINE_SUFFIXES):
            return Document(name, text, _parse_lines(text), lines=True)
        try:
            return Document(name, text, _parse(text))
        except json.JSONDecodeError as fault:
            first = text[: fault.pos]  # a first value of exactly one line is one of several
            if fault.msg != "Extra data" or "\n" in first.strip() or "\n" not in first:
                raise _not_json(text, fault, fault.lineno) from fault
        return Document(name, text, _parse_lines(text), lines=True)


def _parse_lines(text: str) -> list[object]:
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(_parse(line, f"line {number:,}"))
            except json.JSONDecodeError as fault:
                raise _not_json(line, fault, number) from fault
    return values


def _not_json(text: str, fault: json.JSONDecodeError, line: int) -> InputError:
    near = text[fault.pos : fault.pos + 20].partition("\n")[0]
    whole = len(text[: fault.pos].rstrip(", \t\r\n"))  # where the last value ends
    rest = text[whole:].lstrip()
    is_trailing = rest.startswith(",") and rest[1:].lstrip().startswith(("}", "]"))
    advice = "correct it there"
    if near.startswith("'"):
        advice = "write names and texts in double quotes"
    elif is_trailing and near.startswith((",", "}", "]")):  # Python 3.13 names the comma
        advice = "remove the comma before the bracket"
    found = f" at {near!r}" if near.strip() else ""
    problem = f"this is not JSON ({fault.msg[0].lower()}{fault.msg[1:].removesuffix(' at')}{found})"
    return InputError(problem, place=f"line {line:,}, column {fault.colno:,}", advice=advice)


def _parse(text: str, line: str = "") -> object:
    """The value of a text or a line. Raises InputError for values that cannot be written again."""
    flaws: list[InputError] = []  # each stands in the value until its place is known

    def flaw(problem: str, advice: str) -> InputError:
        flaws.append(InputError(problem, advice=advice))
        return flaws[-1]

    def unique(pairs: list[tuple[str, object]]) -> object:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        keys = [key for key, _ in pairs]
        twice = next(key for n, key in enumerate(keys) if key in keys[:n])
        return flaw(f"the key {twice!r} appears twice", "keep one of them")

    def finite(number: str) -> object:
        value = float(number)
        if math.isfinite(value):
            return value
        return flaw(f"{number} is too large a number", "write it as text")

    def integer(number: str) -> object:
        try:
            return int(number)
        except ValueError:  # Python reads no more digits than sys.get_int_max_str_digits() allows
            return flaw(f"a number of {len(number):,} digits is too long", "write it as text")

    value: object = json.loads(
        text,
        object_pairs_hook=unique,
        parse_float=finite,
        parse_constant=lambda name: flaw(f"{name} is not JSON", "write null, or a text"),
        parse_int=integer,
    )
    if flaws:
        places = walked(value, "messages" if is_list(value) else line)
        raise next(each.at(place) for place, each in places if isinstance(each, InputError))
    return value


STDOUT = "-"


def like(document: Document, payload: object) -> bytes:
    """The payload as JSON in the layout of the document: by line, on one line, or indented."""
    if document.lines and is_list(payload):
        return b"".join(map(json_bytes, payload))
    is_flat = document.lines or "\n" not in document.text.strip()
    return json_bytes(payload, indent=None if is_flat else 2)


def json_bytes(payload: object, indent: int | None = None) -> bytes:
    """The payload as JSON in UTF-8; a lone surrogate becomes an escape, and bytes their base64.

    Bytes are as JSON has them on AWS's wire. Raises TypeError for anything else.
    """
    text = json.dumps(
        payload, ensure_ascii=False, indent=indent, default=lambda value: tagged(value)[BYTES]
    )
    return text_bytes(text + "\n")


def text_bytes(text: str) -> bytes:
    """The text in UTF-8; a lone surrogate becomes an escape."""
    return text.encode("utf-8", "backslashreplace")


FILE_URL = "sqlite:///"

_WRITTEN = {"output": "-o", "result_file": "--result", "report_file": "--report"}
_READ = ("file", "before", "after", "store")
_REWRITING = ("compress", "validate")
"""Commands whose -o may name the FILE that they read."""


class Command(click.Command):
    """A command that starts only if the files of its options can be written."""

    def invoke(self, ctx: click.Context) -> object:
        """Run it. Raises InputError, before any work, for what cannot or must not be written."""
        given = ctx.params
        if given.get("as_json") and given.get("output") == STDOUT:
            raise ConfigError(
                "--json and the messages cannot both go to standard output",
                place="-o",
                advice="name a file for the messages",
            )
        taken: dict[Path, str] = {}
        read = [followed(given[name].removeprefix(FILE_URL)) for name in _READ if given.get(name)]
        rewritten = read[:1] if self.name in _REWRITING else []
        for name, option in _WRITTEN.items():
            file: str | None = given.get(name)
            if file is None or file == STDOUT:
                continue
            path = followed(file)
            problem, advice = obstacle(path)
            if path in taken:
                problem, advice = f"{taken[path]} names the same file", "name another"
            elif path in read and not (option == "-o" and path in rewritten):
                problem, advice = "this is the file that is read", "name another"
            if problem:
                raise InputError(problem, place=f"{option} {file}", advice=advice)
            taken[path] = option
        report_form(given.get("report_file"), "--report")
        return super().invoke(ctx)


def obstacle(path: Path) -> tuple[str, str]:
    """Why the path cannot be written, and what to do; two empty texts if it can."""
    try:
        is_folder = path.is_dir()
    except OSError as fault:  # as of a name that is too long
        return str(fault.strerror).lower(), "name another file"
    if is_folder:
        return "this is a directory", "name a file in it"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}", "make it first"
    needed = path if path.exists() else path.parent
    if not os.access(needed, os.W_OK):
        return f"{needed} is not writable", "name another file"
    return "", ""


SCREEN = "holdfast.cli.screen"
"""The module that draws with rich, which takes 60 ms to import and is needed by few runs."""

_LONG_WORK = 2_000_000  # characters of input; to fit so many took 3 s
_PAUSE = 1.0  # seconds between two lines of progress, as in git's


def write(content: str | bytes) -> None:
    """Write to standard output; on a terminal a text has no control characters, and ends its line.

    Raises OSError if standard output is closed or full.
    """
    if isinstance(content, str):
        if content and sys.stdout.isatty():
            content = visible(content).removesuffix("\n") + "\n"
        content = text_bytes(content)
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write JSON to standard output."""
    write(json.dumps(value, indent=2) + "\n")


def write_to(output: str | None, content: bytes) -> bool:
    """Write to the file ``output``, or to standard output for None and ``-``.

    Returns whether it was a file. Raises InputError for a file that cannot be written.
    """
    if output is None or output == STDOUT:
        write(content)
        return False
    write_all({output: content})
    return True


def write_report(file: str | None, told: Callable[[ReportForm], str]) -> None:
    """Write what ``told`` returns in the form that the name of the file says, if one is given."""
    if file is not None:
        write_all({file: text_bytes(told(report_form(file)))})
        note(f"The report is in {file}.\n")


def note(text: str) -> None:
    """Write to standard error; an error there does not change the exit code."""
    try:
        sys.stderr.write(text.encode("utf-8", "backslashreplace").decode())
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def confirm(what: str) -> None:
    """Ask whether to erase it. Raises ConfigError if there is no terminal, and Abort for a no."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "this cannot be undone, and there is no terminal to ask", advice="give --yes"
        )
    click.confirm(f"Erase {what}?", abort=True, err=True)


def report(text: str, stream: TextIO) -> None:
    """Write a report to standard output or standard error, in colour on a terminal."""
    if stream.isatty():
        text = imported(f"{SCREEN}:coloured")(text, stream)
    if stream is sys.stderr:
        note(text)
    else:
        write(text_bytes(text))


def waiting(size: int) -> AbstractContextManager[object]:
    """A spinner on standard error during work on a large input, if that is a terminal."""
    if size < _LONG_WORK or not sys.stderr.isatty():
        return nullcontext()
    spinner: AbstractContextManager[object] = imported(f"{SCREEN}:waiting")(
        f"working on {size / 1_000_000:,.1f} million characters"
    )
    return spinner


def progress(line: Callable[[int], str]) -> Callable[[int], None] | None:
    """A function that shows ``line(done)`` at most once a second; None without a terminal."""
    if not sys.stderr.isatty():
        return None
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        now = monotonic()
        if now - last > _PAUSE:
            last = now
            note(f"{line(done)}\n")

    return report


class Closed(io.TextIOBase):
    """Replaces a closed standard stream; reading and writing raise OSError."""

    encoding = "utf-8"

    @property
    def buffer(self) -> "Closed":
        """The same for bytes."""
        return self

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Raise OSError."""
        raise OSError(errno.EBADF, "it is closed")

    def write(self, text: object, /) -> NoReturn:
        """Raise OSError."""
        self.read()


def stand_in() -> None:
    """Replace closed streams, and reserve their numbers, so that no file gets them later.

    Output to a closed standard error is lost.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # that of standard error
        pass
    os.close(number)
    for name in ("stdin", "stdout"):
        if getattr(sys, name) is None:
            setattr(sys, name, Closed())
    if sys.stderr is None:
        sys.stderr = io.StringIO()


def let_go(stream: TextIO) -> None:
    """Discard the buffer, which Python would try to write again when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
