"""Many conversations, from files to a file: on the processes of one machine, or on a cluster.

The files are JSON lines or Parquet, here or in a bucket.

The inputs are cut into chunks, the same ones in every run. An engine fits the chunks, and the
result of each is written to a file of its own in a work folder, completely or not at all. When all
are there, they become the output. So an interrupted run continues where it stopped, and the output
is complete or absent.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from glob import glob, has_magic
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, Protocol, TypeVar, cast

from holdfast.api import compress, compress_many
from holdfast.files import as_input_errors, write_lines
from holdfast.formats.payloads import compact, is_object
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError, HoldfastError, InputError
from holdfast.kernel.registry import Registry, imported, rows
from holdfast.options import Options
from holdfast.result import CompressionResult

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 50
"""Conversations of one chunk. A fit takes some tenths of a second, so that an interrupted chunk,
which is done again, costs some seconds.
"""

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

    def records(self) -> Iterator[Record]:
        """The inputs in order, without empty lines."""
        with _at_hand(self) as file:
            if _is_parquet(self.name):
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


def sources_of(names: Iterable[str]) -> list[Source]:
    """The files of the names and patterns; those of one pattern are sorted.

    Raises InputError if there are none.
    """
    found: list[Source] = []
    for name in names:
        some = list(_in_bucket(name) if name.startswith(_BUCKETS) else _here(name))
        if not some:
            raise InputError("there is no such file", place=name, advice="check the path")
        found += some
    for each in found:
        _is_parquet(each.name)
    return found


def _here(name: str) -> Iterator[Source]:
    # unlike Path.glob, this accepts absolute patterns
    paths = sorted(glob(name, recursive=True)) if has_magic(name) else [name]  # noqa: PTH207
    for file in map(Path, paths):
        if file.is_file():
            stat = file.stat()
            yield Source(str(file), f"{file} {stat.st_size} {stat.st_mtime_ns}", file)


def _in_bucket(name: str) -> Iterator[Source]:
    for url, version in _buckets().matching(name):
        yield Source(url, f"{url} {version}")


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


def _is_parquet(name: str) -> bool:
    """Whether the file is Parquet, not JSON lines. Raises InputError if its name says neither."""
    suffix = Path(name).suffix.lower()
    if suffix not in (*_LINES, _PARQUET):
        problem = "its name says neither JSON lines nor Parquet"
        advice = f"let it end in {_LINES[0]} or {_PARQUET}"
        raise InputError(problem, place=name, advice=advice)
    return suffix == _PARQUET


@dataclass(frozen=True, slots=True)
class Target:
    """The file of all outputs, here or in a bucket."""

    name: str
    work: Path

    @classmethod
    def of(cls, name: str) -> Target:
        """Raises InputError if the target exists, or if its name has no known ending."""
        _is_parquet(name)
        remote = name.startswith(_BUCKETS)
        if _buckets().exists(name) if remote else Path(name).exists():
            raise InputError("it exists already", place=name, advice="name another file")
        if remote:
            return cls(name, Path(f".holdfast-{sha256(name.encode()).hexdigest()[:16]}.work"))
        return cls(name, Path(f"{name}.work"))

    def refuse(self, bad: Iterator[Bad]) -> None:
        """Write the file of bad inputs, completely or not at all."""
        refused = [compact(asdict(each)) for each in bad]
        if refused:
            self._put(f"{self.name}.bad.jsonl", lambda file: write_lines(file, refused))

    def write(self, sources: Sequence[Source], outputs: Iterator[str]) -> None:
        """Write the outputs, completely or not at all."""
        if _is_parquet(self.name):
            files = [each.file for each in sources if each.file and _is_parquet(each.name)]
            filled = files if len(files) == len(sources) else []
            self._put(self.name, lambda file: _tables().write(filled, outputs, file))
        else:
            self._put(self.name, lambda file: write_lines(file, filter(None, outputs)))

    def _put(self, name: str, write: Callable[[Path], None]) -> None:
        remote = name.startswith(_BUCKETS)
        part = self.work / "output.part" if remote else Path(f"{name}.part")
        with as_input_errors(name, "written", "name another file"):
            write(part)
            if remote:
                _buckets().store(part, name)
                return
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.replace(name)


class Engine(Protocol):
    """Does work on many pieces at once: in other processes, or on other machines."""

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result, in any order; None if its process died repeatedly.

        Pieces are read as workers become free, and lost work is done again.
        """
        ...


ENGINES = Registry(
    noun="engine",
    group="engines",
    table=rows("""
        processes holdfast.batch.engines:Processes
        dask holdfast.batch.engines:Dask
        ray holdfast.batch.engines:Ray
    """),
)
"""The engines by URL scheme: ``processes://4``, ``dask://host:8786``, ``ray://host:10001``."""


def open_engine(spec: str | Engine | None) -> Engine:
    """The engine of a URL, or the given object; by default one process for each processor."""
    if not isinstance(spec, str | None):
        return spec
    url = spec or "processes://"
    engine: Engine = ENGINES.opened(url.partition("://")[0].lower(), url)
    return engine


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some of the inputs, in order; chunks are numbered from 0."""

    number: int
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class Bad:
    """An input without output: its place, the problem, and its text."""

    place: str
    reason: str
    record: str


@dataclass(slots=True)
class Summary:
    """Figures of a run. Tokens are those of ``compress``, ``cost`` is in US dollars.

    ``fitted`` counts the inputs with an output; of these, ``untouched`` were not changed and
    ``unmet`` are over the budget. ``seconds`` is processor time, ``elapsed`` the duration of the
    run in seconds.
    """

    inputs: int = 0
    fitted: int = 0
    untouched: int = 0
    unmet: int = 0
    degraded: int = 0
    bad: int = 0
    resumed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    requests: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    elapsed: float = 0.0

    def add(self, other: Summary) -> None:
        """Add the figures of another summary."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(slots=True)
class Done:
    """A chunk's outputs, one for each input and empty for a bad one, and its figures."""

    outputs: list[str]
    bad: list[Bad] = field(default_factory=list[Bad])
    summary: Summary = field(default_factory=Summary)

    def refuse(self, record: Record, reason: str) -> None:
        """Count the input as bad."""
        self.outputs.append("")
        self.bad.append(Bad(record.place, reason, record.text))
        self.summary.add(Summary(inputs=1, bad=1))


def fit_chunk(budget: int | Budget, options: Options, chunk: Chunk) -> Done:
    """Fit each conversation of the chunk."""
    done, begun = Done([]), process_time()
    for record in chunk.records:
        try:
            value, put_back = record.conversation()
            result = compress(value, budget, **options)
            if result.reason == "invalid_input":
                raise InputError(result.detail)
        except ConfigError:
            raise  # of all alike
        except HoldfastError as fault:
            done.refuse(record, str(fault))
        else:
            done.outputs.append(put_back(result.messages))
            fitted = Summary(
                inputs=1,
                fitted=1,
                untouched=result.status == "skipped",
                unmet=not result.budget_met,
                degraded=result.degraded,
                tokens_before=result.metrics.tokens_before,
                tokens_after=result.metrics.tokens_after,
                requests=result.model_usage.requests,
                cost=result.model_usage.cost or 0.0,
            )
            done.summary.add(fitted)
    done.summary.seconds = process_time() - begun
    return done


Progress = Callable[[int], object]


def batch(
    source: str | Sequence[str],
    target: str,
    budget: int | Budget,
    *,
    engine: str | Engine | None = None,
    work: str | Path | None = None,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    **options: Any,
) -> Summary:
    """Fit every conversation of the sources to the budget, and write them to the target in order.

    A source is a file of JSON lines (a list of messages or a request body each) or of Parquet (a
    column ``messages``), a pattern such as ``logs/*.jsonl``, or either under ``s3://bucket/``. The
    ending of the target's name decides its format. Conversations that cannot be read or fitted go
    to ``TARGET.bad.jsonl`` with their place and the reason. ``work`` is the folder for finished
    chunks, by default beside the target: the same call continues an interrupted run. ``progress``
    is called with the number of inputs that are done. The options are those of ``compress``.

    Raises InputError if there is nothing to read, no conversation could be read, the target exists,
    or the work folder belongs to other inputs or options.
    """
    begun = perf_counter()
    given = cast("Options", options)
    compress([], budget, **options)  # wrong options are reported before any work
    sources = sources_of([source] if isinstance(source, str) else source)
    out = Target.of(target)
    folder = Path(work) if work is not None else out.work
    # this text identifies work that an earlier version began
    task = sha256(f"Task(budget={budget!r}, options={given!r})".encode()).hexdigest()
    inputs = [each.identity for each in sources]
    kept = _WorkFolder(folder, json.dumps({"inputs": inputs, "task": task, "chunk": chunk}))
    summary = Summary(resumed=kept.resumed)
    if progress is not None:
        progress(kept.resumed)
    done = kept.resumed
    records = chain.from_iterable(map(Source.records, sources))
    chunks = enumerate(iter(lambda: list(islice(records, chunk)), []))
    pieces = (Chunk(number, some) for number, some in chunks if not kept.has(number))
    for piece, found in open_engine(engine).map(partial(fit_chunk, budget, given), pieces):
        result = found or Done([])
        for record in () if found else piece.records:
            result.refuse(record, "the process that worked on it ended each time")
        kept.keep(piece, result)
        done += len(piece.records)
        if progress is not None:
            progress(done)
    for each in kept.headers():
        summary.add(each)
    out.refuse(kept.bad())
    unread = summary.bad > 0 and not summary.fitted
    if not unread:
        out.write(sources, kept.outputs())
    kept.remove()
    if unread:
        problem = "no conversation could be read or fitted"
        raise InputError(problem, place=target, advice=f"see {target}.bad.jsonl")
    summary.elapsed = perf_counter() - begun
    return summary


class _WorkFolder:
    """The work folder: a file for each chunk, whose first line has its figures and bad inputs."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        told = folder / "run.json"
        with as_input_errors(str(folder), "written", "name another folder with --work"):
            folder.mkdir(parents=True, exist_ok=True)
            if not told.exists():
                write_lines(told, [run])
            if told.read_text().rstrip("\n") != run:
                raise InputError(
                    "it holds the work of other inputs or options",
                    place=str(folder),
                    advice="remove it to start again, or give the same inputs and options",
                )
        self._done = {int(file.stem) for file in folder.glob("[0-9]*.jsonl")}
        self.resumed = sum(each.inputs for each in self.headers())

    def has(self, number: int) -> bool:
        """Whether the chunk is done."""
        return number in self._done

    def keep(self, piece: Chunk, done: Done) -> None:
        """Write the file of a finished chunk."""
        head = {"summary": asdict(done.summary), "bad": [asdict(each) for each in done.bad]}
        write_lines(self._file(piece.number), [json.dumps(head), *done.outputs])
        self._done.add(piece.number)

    def headers(self) -> Iterator[Summary]:
        """The figures of each chunk."""
        for head, _ in self._read():
            yield Summary(**head["summary"])

    def bad(self) -> Iterator[Bad]:
        """The inputs without output, in order."""
        for head, _ in self._read():
            yield from (Bad(**each) for each in head["bad"])

    def outputs(self) -> Iterator[str]:
        """The outputs in order, one for each input."""
        for _, lines in self._read():
            yield from (line.rstrip("\n") for line in lines)

    def remove(self) -> None:
        """Remove the folder, after the output is written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self) -> Iterator[tuple[Mapping[str, Any], Iterator[str]]]:
        """The figures and bad inputs of each chunk, and the lines with its outputs."""
        for number in sorted(self._done):
            with self._file(number).open(encoding="utf-8", newline="\n") as lines:
                yield json.loads(next(lines)), lines

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:08}.jsonl"


def _fitted_some(
    budget: int | Budget, options: Options, piece: tuple[int, Sequence[Any]]
) -> list[CompressionResult]:
    return compress_many(piece[1], budget, **options)


def compress_on(
    conversations: Iterable[Any], budget: int | Budget, engine: str | Engine, options: Options
) -> list[CompressionResult]:
    """Run ``compress_many`` on an engine; the results are in the order of the conversations."""
    given = list(conversations)
    pieces = [(at, given[at : at + CHUNK]) for at in range(0, len(given), CHUNK)]
    results: dict[int, list[CompressionResult]] = {}
    work = partial(_fitted_some, budget, options)
    for (at, some), found in open_engine(engine).map(work, pieces):
        if found is None:
            raise HoldfastError(
                f"the process that worked on conversations {at} to {at + len(some) - 1} ended "
                "each time; give fewer, or those that are smaller"
            )
        results[at] = found
    return [result for at in sorted(results) for result in results[at]]
