"""Files that are written completely or not at all."""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
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
    staged: list[tuple[str, Path]] = []
    try:
        for file, content in contents.items():
            with as_input_errors(file, "written", "name another file"):
                if Path(file).exists() and not Path(file).is_file():
                    # a device or a pipe cannot be replaced
                    Path(file).write_bytes(content)
                else:
                    part = followed(file).with_name(f".holdfast-{os.getpid()}-{len(staged)}.part")
                    staged.append((file, part))
                    with part.open("wb") as stream:
                        stream.write(content)
                        stream.flush()
                        os.fsync(stream.fileno())
                    if followed(file).exists():  # the part gets its mode
                        part.chmod(S_IMODE(followed(file).stat().st_mode))
        for file, part in staged:
            with as_input_errors(file, "written", "name another file"):
                part.replace(followed(file))
    finally:
        for _, part in staged:
            part.unlink(missing_ok=True)


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of text to a file, completely or not at all, and flush it to the disk."""
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


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
