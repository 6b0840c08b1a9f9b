"""Files that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import cast

from holdfast.cli.reading import Document
from holdfast.kernel.errors import InputError

STDOUT = "-"


def like(document: Document, payload: object) -> bytes:
    """The payload as JSON, laid out like the document: one value a line, on one line, or indented."""
    if document.lines and isinstance(payload, list):
        return b"".join(json_bytes(value) for value in cast("list[object]", payload))
    return json_bytes(payload, indent=2 if document.indented else None)


def json_bytes(payload: object, indent: int | None = None) -> bytes:
    """The payload as JSON in UTF-8; a lone surrogate becomes its JSON escape."""
    return text_bytes(json.dumps(payload, ensure_ascii=False, indent=indent) + "\n")


def text_bytes(text: str) -> bytes:
    """The text in UTF-8; what UTF-8 cannot hold (a lone surrogate) as its escape."""
    return text.encode("utf-8", "backslashreplace")


def check_targets(targets: Mapping[str, str | None], source: str, *, onto_source: str = "") -> None:
    """Refuse, before any work is done, what could not be written: ``targets`` gives the file of each option.

    Only the option ``onto_source`` may name the source itself.
    """
    taken: dict[Path, str] = {}
    for option, file in targets.items():
        if file is None or file == STDOUT:
            continue
        path = _followed(file)
        problem, advice = obstacle(path)
        if path in taken:
            problem, advice = f"{taken[path]} names the same file", "name another"
        elif path == _followed(source) and option != onto_source:
            problem, advice = "this is the file that is read", "name another"
        if problem:
            raise InputError(problem, place=f"{option} {file}", advice=advice)
        taken[path] = option


def obstacle(path: Path) -> tuple[str, str]:
    """What stands in the way of writing there, and what to do; nothing if the way is free."""
    if path.is_dir():
        return "this is a directory", "name a file in it"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}", "make it first"
    needed = path if path.exists() else path.parent
    if not os.access(needed, os.W_OK):
        return f"{needed} may not be written to", "name another file"
    return "", ""


def write_all(contents: Mapping[str, bytes]) -> None:
    """Write every file, or none: each is written beside its place first, then all are moved into place."""
    staged: list[tuple[str, Path]] = []
    try:
        for file, content in contents.items():
            with _naming(file):
                if Path(file).exists() and not Path(file).is_file():
                    Path(file).write_bytes(content)  # a device or a pipe: there is nothing to keep whole
                else:
                    part = _followed(file).with_name(f".holdfast-{os.getpid()}-{len(staged)}.part")
                    staged.append((file, part))
                    _stage(part, content, _followed(file))
        for file, part in staged:
            with _naming(file):
                part.replace(_followed(file))
    finally:
        for _, part in staged:
            part.unlink(missing_ok=True)


def _stage(part: Path, content: bytes, path: Path) -> None:
    """Write the part, with the mode of the file that it will replace; then its bytes are on the disk."""
    with part.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    if path.exists():
        part.chmod(S_IMODE(path.stat().st_mode))


def _followed(file: str) -> Path:
    """Where the file really is: a link stays a link, and what it leads to is written."""
    return Path(os.path.realpath(file))


@contextmanager
def _naming(file: str) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        problem = f"it cannot be written ({fault.strerror or fault})"
        raise InputError(problem, place=file, advice="name another file") from fault
