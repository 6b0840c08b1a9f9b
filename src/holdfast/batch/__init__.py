"""Many conversations, from files to a file: on the processes of one machine, or on a cluster.

The files are JSON lines or Parquet, here or in a bucket.

The inputs are cut into chunks, the same ones in every run. An engine fits the chunks, and the
result of each is written to a file of its own in a work folder, completely or not at all. When all
are there, they become the output. So an interrupted run continues where it stopped, and the output
is complete or absent.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from glob import glob, has_magic
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from holdfast.api import compress, compress_many
from holdfast.engine import is_of_one, positions
from holdfast.files import as_input_errors, replacing, write_lines
from holdfast.formats.payloads import compact, is_object
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError, HoldfastError, InputError, LockedError
from holdfast.kernel.registry import Registry, imported
from holdfast.kernel.typed import Positive, attributes, check_type
from holdfast.options import Options
from holdfast.result import INVALID, CompressionResult
from holdfast.stores import Encrypted

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
_TABLES = "holdfast.batch.tables"
_PARTS = ".holdfast-*.part"
"""Files that an interrupted run may have left half written."""


def _buckets() -> Any:
    return imported("holdfast.batch.buckets")


class Record(NamedTuple):
    """One input: the JSON of a list of messages, or of an object with ``messages``."""

    place: str
    text: str


def _sendable(text: str) -> str:
    """The text with a question mark for each byte that was not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _read(text: str, problem: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{problem} JSON ({fault})") from fault


class Source(NamedTuple):
    """A file of conversations; ``identity`` changes when it does."""

    name: str
    identity: str
    file: Path | None = None

    def records(self) -> Iterator[Record]:
        """The inputs in order, without empty lines."""
        with _local_copy(self) as file:
            if _is_parquet(self.name):
                for number, row in enumerate(imported(_TABLES).rows(file), 1):
                    yield Record(f"{self.name}: row {number}", json.dumps(row, default=str))
                return
            with (
                as_input_errors(self.name, "read", "check it"),
                file.open(encoding="utf-8-sig", errors="surrogateescape") as lines,
            ):
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield Record(f"{self.name}: line {number}", line.rstrip("\r\n"))


def sources_of(names: Iterable[str]) -> list[Source]:
    """The files of the names and patterns; those of one pattern are sorted.

    Raises InputError if there are none.
    """
    found: list[Source] = []
    for name in names:
        if name.startswith(_BUCKETS):
            some = [Source(url, f"{url} {version}") for url, version in _buckets().matching(name)]
        else:
            some = list(_local_sources(name))
        if not some:
            raise InputError("there is no such file", place=name, advice="check the path")
        found += some
    for each in found:
        _is_parquet(each.name)
    return found


def _local_sources(name: str) -> Iterator[Source]:
    # unlike Path.glob, this accepts absolute patterns
    is_pattern = has_magic(name) and not Path(name).is_file()  # which may have brackets too
    paths = sorted(glob(name, recursive=True)) if is_pattern else [name]  # noqa: PTH207
    for file in map(Path, paths):
        if file.is_file():
            stat = file.stat()
            yield Source(str(file), f"{file} {stat.st_size} {stat.st_mtime_ns}", file)


@contextmanager
def _local_copy(source: Source) -> Generator[Path]:
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
        raise InputError(
            "its name says neither JSON lines nor Parquet",
            place=name,
            advice=f"let it end in {_LINES[0]} or {_PARQUET}",
        )
    return suffix == _PARQUET


class Engine(Protocol):
    """Does work on many pieces at once: in other processes, or on other machines."""

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R | None]]:
        """Yield each piece with its result, in any order; None if its process died repeatedly.

        Pieces are read as workers become free, and lost work is done again.
        """
        ...


ENGINES = Registry(
    "engine",
    "engines",
    """
        processes holdfast.batch.engines:Processes
        dask holdfast.batch.engines:Dask
        ray holdfast.batch.engines:Ray
    """,
)
"""The engines by URL scheme: ``processes://4``, ``dask://host:8786``, ``ray://host:10001``."""


def open_engine(spec: str | Engine | None) -> Engine:
    """The engine of a URL, or the given object; by default one process for each processor."""
    if not isinstance(spec, str | None):
        return spec
    url = spec or "processes://"
    engine: Engine = ENGINES.opened(url.partition("://")[0].lower(), url)
    return engine


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

    def add(self, other: "Summary") -> None:
        """Add the figures of another summary."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Done:
    """A chunk's outputs, one for each input and empty for a bad one, and its figures.

    ``bad`` has the place of each bad input, the reason, and its text.
    """

    def __init__(self) -> None:
        self.outputs: list[str] = []
        self.bad: list[Mapping[str, str]] = []
        self.summary = Summary()

    def refuse(self, record: Record, reason: str) -> None:
        """Count the input as bad."""
        self.outputs.append("")
        self.bad.append({"place": record.place, "reason": reason, "record": _sendable(record.text)})
        self.summary.inputs += 1
        self.summary.bad += 1


_unlocked = cache(Encrypted.opened)


def _opened(options: Options) -> Options:
    """The options with the encrypted store, which cannot be sent to another process open."""
    store = options.get("store")
    return {**options, "store": _unlocked(store)} if isinstance(store, Encrypted) else options


def fit_chunk(budget: int | Budget, options: Options, chunk: tuple[int, Sequence[Record]]) -> Done:
    """Fit each conversation of the chunk, which has a number, from 0, and its inputs."""
    done, begun = Done(), process_time()
    options = _opened(options)
    for record in chunk[1]:
        try:
            if record.text != _sendable(record.text):
                raise InputError("this is not UTF-8", advice="save the file as UTF-8")
            value = _read(record.text, "this is not")
            row = value if is_object(value) and isinstance(value.get(_COLUMN), str) else None
            messages = _read(row[_COLUMN], "its messages are not") if row else value
            result = compress(messages, budget, **options)
            if result.reason == INVALID:
                raise InputError(result.detail)
        except HoldfastError as fault:
            all_alike = isinstance(fault, ConfigError) and not is_of_one(fault, options)
            if all_alike or isinstance(fault, LockedError):
                raise
            done.refuse(record, str(fault))
        else:
            output = compact(result.messages)
            done.outputs.append(compact({**row, _COLUMN: output}) if row else output)
            fitted = Summary(
                inputs=1,
                fitted=1,
                untouched=result.status == "skipped",
                unmet=not result.budget_met,
                degraded=result.degraded,
                **attributes(result.metrics, "tokens_before tokens_after"),
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
    or the work folder has other files or belongs to other inputs or options.
    """
    begun = perf_counter()
    given = cast("Options", options)
    check_type(chunk, Positive, "chunk")
    # wrong options are reported before any work
    known = {name: value for name, value in _opened(given).items() if name != "pin"}
    compress([], budget, **cast("Options", known))
    if (pin := options.get("pin")) is not None and not callable(pin):
        positions(pin)
    sources = sources_of([source] if isinstance(source, str) else source)
    _is_parquet(target)
    if _buckets().exists(target) if target.startswith(_BUCKETS) else Path(target).exists():
        raise InputError("it exists already", place=target, advice="name another file")
    name = target
    if target.startswith(_BUCKETS):  # no folder can be beside it
        name = f".holdfast-{sha256(target.encode()).hexdigest()[:16]}"
    folder = Path(f"{name}.work" if work is None else work)
    # this text identifies work that an earlier version began; addresses differ in each process
    named = re.sub(r" at 0x[0-9a-fA-F]+", "", f"Task(budget={budget!r}, options={given!r})")
    task = sha256(named.encode()).hexdigest()
    run = {"inputs": [each.identity for each in sources], "task": task, "chunk": chunk}
    kept = _WorkFolder(folder, json.dumps(run))
    summary = Summary(resumed=kept.resumed)
    done = kept.resumed
    told: Progress = progress or (lambda _: None)
    told(done)
    records = chain.from_iterable(map(Source.records, sources))
    chunks = enumerate(iter(lambda: list(islice(records, chunk)), []))
    pieces = (piece for piece in chunks if piece[0] not in kept.done)
    for (number, some), found in open_engine(engine).map(partial(fit_chunk, budget, given), pieces):
        result = found or Done()
        for record in () if found else some:
            result.refuse(record, "the process that worked on it ended each time")
        kept.keep(number, result)
        done += len(some)
        told(done)
    for figures, _, _ in kept.read():
        summary.add(figures)
    if bad := [compact(each) for _, some, _ in kept.read() for each in some]:
        kept.put(f"{target}.bad.jsonl", lambda file: write_lines(file, bad))
    unread = summary.bad > 0 and not summary.fitted
    if not unread:
        kept.put(target, partial(_write, target, sources, kept.outputs))
    kept.remove()
    if unread:
        raise InputError(
            "no conversation could be read or fitted",
            place=target,
            advice=f"see {target}.bad.jsonl",
        )
    summary.elapsed = perf_counter() - begun
    return summary


def _write(
    target: str, sources: Sequence[Source], outputs: Callable[[], Iterator[str]], file: Path
) -> None:
    """Write the outputs to the file, in the form that the name of the target says."""
    if _is_parquet(target):
        files = [each.file for each in sources if each.file and _is_parquet(each.name)]
        imported(_TABLES).write(files if len(files) == len(sources) else [], outputs, file)
    else:
        write_lines(file, filter(None, outputs()))


class _WorkFolder:
    """The work folder: a file for each chunk, whose first line has its figures and bad inputs."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        told = folder / "run.json"
        with as_input_errors(str(folder), "written", "name another folder with --work"):
            folder.mkdir(parents=True, exist_ok=True)
            if not told.exists():
                if any(not file.match(_PARTS) for file in folder.iterdir()):
                    raise InputError(
                        "there are other files in it",
                        place=str(folder),
                        advice="name an empty folder with --work",
                    )
                write_lines(told, [run])
            if told.read_text().rstrip("\n") != run:
                raise InputError(
                    "it holds the work of other inputs or options",
                    place=str(folder),
                    advice="remove it to start again, or give the same inputs and options",
                )
        self.done = {int(file.stem) for file in folder.glob("[0-9]*.jsonl")}
        """The numbers of the chunks that are done."""

        self.resumed = sum(figures.inputs for figures, _, _ in self.read())

    def keep(self, number: int, done: Done) -> None:
        """Write the file of a finished chunk."""
        head = {"summary": asdict(done.summary), "bad": done.bad}
        write_lines(self._file(number), [json.dumps(head), *done.outputs])
        self.done.add(number)

    def read(self) -> Iterator[tuple[Summary, Sequence[Mapping[str, str]], Iterator[str]]]:
        """The figures and bad inputs of each chunk, and the lines with its outputs, in order."""
        for number in sorted(self.done):
            with self._file(number).open(encoding="utf-8", newline="\n") as lines:
                head = json.loads(next(lines))
                yield Summary(**head["summary"]), head["bad"], lines

    def outputs(self) -> Iterator[str]:
        """The output of each input in order; empty for a bad one."""
        return (line.rstrip("\n") for _, _, lines in self.read() for line in lines)

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        """Write a file, here or in a bucket, completely or not at all."""
        with as_input_errors(name, "written", "name another file"):
            if name.startswith(_BUCKETS):
                part = self._folder / "output.part"
                write(part)
                _buckets().store(part, name)
            else:
                with replacing(Path(name)) as part:
                    write(part)

    def remove(self) -> None:
        """Remove the work, after the output is written, and the folder if nothing else is in it."""
        own = [self._folder / "run.json", self._folder / "output.part"]
        with suppress(OSError):
            for file in (*own, *map(self._file, self.done), *self._folder.glob(_PARTS)):
                file.unlink(missing_ok=True)
            self._folder.rmdir()

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:08}.jsonl"


def _fitted_some(
    budget: int | Budget, options: Options, piece: tuple[int, Sequence[Any]]
) -> list[CompressionResult]:
    return compress_many(piece[1], budget, **options)


def compress_on(
    conversations: Iterable[Any],
    budget: int | Budget,
    engine: str | Engine,
    options: Options,
    progress: Callable[[int, int], object] | None = None,
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
        if progress is not None:
            progress(sum(map(len, results.values())), len(given))
    return [result for at in sorted(results) for result in results[at]]
