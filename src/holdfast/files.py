"""Files that are written completely or not at all."""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_IMODE

from holdfast.kernel.errors import InputError
from holdfast.kernel.typed import check_type


def name_of(path: str | os.PathLike[str], place: str = "path") -> str:
    """The path as text. Raises ConfigError, with this place, for anything else."""
    check_type(path, str | os.PathLike[str], place)
    return os.fspath(path)


def followed(file: str | os.PathLike[str]) -> Path:
    """Resolve a symbolic link, so that its target is written and the link stays."""
    return Path(os.path.realpath(file))


def write_all(contents: Mapping[str, bytes]) -> None:
    """Write all of the files, or none.

    Each is first written beside its target; then all are moved into place. Raises InputError for a
    file that cannot be written.
    """
    with ExitStack() as moved:
        for file, content in contents.items():
            moved.enter_context(as_input_errors(file, "written", "name another file"))
            target = Path(file)
            if target.exists() and not target.is_file():
                # a device or a pipe cannot be replaced
                target.write_bytes(content)
            else:
                part = moved.enter_context(replacing(target))
                part.write_bytes(content)
                _flush(part)


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of JSON to a file, completely or not at all, and flush it to the disk.

    A lone surrogate becomes an escape.
    """
    with (
        replacing(file) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out,
    ):
        out.writelines(f"{line}\n" for line in lines)


@contextmanager
def replacing(file: Path) -> Generator[Path]:
    """A path beside the file; what the block writes there replaces the file at its end."""
    target = followed(file)
    part = target.with_name(f".holdfast-{os.urandom(8).hex()}.part")
    try:
        yield part
        _flush(part)
        if target.exists():  # the part gets its mode
            part.chmod(S_IMODE(target.stat().st_mode))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _flush(file: Path) -> None:
    """Wait until the file is on the disk."""
    with file.open("rb+") as written:
        os.fsync(written.fileno())


def read_whole(file: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises InputError if it cannot be read."""
    advice = "check the file"
    try:
        return Path(file).read_bytes()
    except FileNotFoundError:
        problem, advice = "there is no such file", "check the path"
    except IsADirectoryError:
        problem, advice = "this is a directory", "name a file in it"
    except (OSError, ValueError) as fault:
        problem = f"it cannot be read ({getattr(fault, 'strerror', None) or fault})"
    raise InputError(problem, place=os.fspath(file), advice=advice)


@contextmanager
def as_input_errors(file: str, done: str, advice: str) -> Generator[None]:
    """Turn an error of the system into an InputError: the file cannot be ``done``."""
    try:
        yield
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        if isinstance(fault, UnicodeDecodeError):
            why = "it is not text"
        raise InputError(f"it cannot be {done} ({why})", place=file, advice=advice) from fault
