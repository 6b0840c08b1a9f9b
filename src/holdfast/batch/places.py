"""Where conversations are read and written: JSON lines and Parquet, in local files or buckets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from holdfast.files import as_input_errors, write_lines
from holdfast.formats.payloads import compact, is_object
from holdfast.kernel.errors import InputError
from holdfast.kernel.registry import imported

if TYPE_CHECKING:
    from . import Bad

_LINES = (".jsonl", ".ndjson")
_PARQUET = ".parquet"
_BUCKETS = ("s3://", "gs://", "az://")
_COLUMN = "messages"

PutBack = Callable[[Any], str]


def _tables() -> Any:
    return imported("holdfast.batch.tables")


def _buckets() -> Any:
    return imported("holdfast.batch.buckets")


@dataclass(frozen=True, slots=True)
class Record:
    """One input: the JSON of a list of messages, or of an object with ``messages``."""

    place: str
    text: str

    def conversation(self) -> tuple[Any, PutBack]:
        """The conversation, and a function that turns the fitted one into the output.

        Raises InputError for anything but a conversation.
        """
        value = _read(self.text, "this is not")
        if not is_object(value) or not isinstance(value.get(_COLUMN), str):
            return value, compact
        messages = _read(value[_COLUMN], "its messages are not")
        return messages, lambda found: compact({**value, _COLUMN: compact(found)})


def _read(text: str, problem: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{problem} JSON ({fault})") from fault


@dataclass(frozen=True, slots=True)
class Source:
    """A file of conversations; ``identity`` changes when it does."""

    name: str
    identity: str
    file: Path | None = None

    @classmethod
    def all_of(cls, names: Iterable[str]) -> list[Source]:
        """The files of the names and patterns; those of one pattern are sorted.

        Raises InputError if there are none.
        """
        found: list[Source] = []
        for name in names:
            some = cls._in_bucket(name) if name.startswith(_BUCKETS) else cls._here(name)
            if not some:
                raise InputError("there is no such file", place=name, advice="check the path")
            found += some
        for each in found:
            _form(each.name)
        return found

    @classmethod
    def _here(cls, name: str) -> list[Source]:
        # unlike Path.glob, this accepts absolute patterns
        paths = sorted(glob(name, recursive=True)) if has_magic(name) else [name]  # noqa: PTH207
        files = [Path(path) for path in paths if Path(path).is_file()]
        return [
            cls(str(file), f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}", file)
            for file in files
        ]

    @classmethod
    def _in_bucket(cls, name: str) -> list[Source]:
        return [cls(url, f"{url} {version}") for url, version in _buckets().matching(name)]

    def records(self) -> Iterator[Record]:
        """The inputs in order, without empty lines."""
        with _at_hand(self) as file:
            if _form(self.name) == _PARQUET:
                for number, row in enumerate(_tables().rows(file), 1):
                    yield Record(f"{self.name}: row {number}", json.dumps(row, default=str))
                return
            with (
                as_input_errors(self.name, "read", "check it"),
                file.open(encoding="utf-8-sig", errors="surrogateescape") as lines,
            ):
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        text = line.rstrip("\r\n").encode("utf-8", "replace").decode()
                        yield Record(f"{self.name}: line {number}", text)


@contextmanager
def _at_hand(source: Source) -> Generator[Path]:
    """The file of a source; one in a bucket is fetched into a temporary folder."""
    if source.file is not None:
        yield source.file
        return
    with TemporaryDirectory() as folder:
        file = Path(folder, "source").with_suffix(Path(source.name).suffix)
        _buckets().fetch(source.name, file)
        yield file


def _form(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix in _LINES or suffix == _PARQUET:
        return _PARQUET if suffix == _PARQUET else _LINES[0]
    raise InputError(
        "its name says neither JSON lines nor Parquet",
        place=name,
        advice=f"let it end in {_LINES[0]} or {_PARQUET}",
    )


@dataclass(frozen=True, slots=True)
class Target:
    """The file of all outputs, here or in a bucket."""

    name: str
    work: Path

    @classmethod
    def of(cls, name: str) -> Target:
        """Raises InputError if the target exists, or if its name has no known ending."""
        _form(name)
        remote = name.startswith(_BUCKETS)
        if _buckets().exists(name) if remote else Path(name).exists():
            raise InputError("it exists already", place=name, advice="name another file")
        if remote:
            return cls(name, Path(f".holdfast-{sha256(name.encode()).hexdigest()[:16]}.work"))
        return cls(name, Path(f"{name}.work"))

    def write(self, sources: Sequence[Source], outputs: Iterator[str], bad: Iterator[Bad]) -> None:
        """Write the file of bad inputs, then the outputs, each completely or not at all."""
        refused = [compact(asdict(each)) for each in bad]
        if refused:
            self._put(f"{self.name}.bad.jsonl", lambda file: write_lines(file, refused))
        if _form(self.name) == _PARQUET:
            files = [each.file for each in sources if each.file is not None]
            whole = len(files) == len(sources) and all(
                _form(each.name) == _PARQUET for each in sources
            )
            self._put(
                self.name, lambda file: _tables().write(files if whole else [], outputs, file)
            )
        else:
            self._put(self.name, lambda file: write_lines(file, filter(None, outputs)))

    def _put(self, name: str, write: Callable[[Path], None]) -> None:
        part = self.work / "output.part"
        with as_input_errors(name, "written", "name another file"):
            write(part)
            if name.startswith(_BUCKETS):
                _buckets().store(part, name)
                return
            with part.open("rb") as written:
                os.fsync(written.fileno())
            if part.stat().st_dev != Path(name).absolute().parent.stat().st_dev:
                beside = Path(f"{name}.part")
                beside.write_bytes(part.read_bytes())
                part = beside
            part.replace(name)
