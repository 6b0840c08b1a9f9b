"""Files of a batch in a bucket: fetched, and written completely or not at all."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast.kernel.errors import InputError, MissingExtraError
from holdfast.text.visible import fault_line

try:
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import from_url
except ImportError as missing:
    raise MissingExtraError("a file in a bucket", "objects") from missing

_objects: Any = obstore  # it may return tables of Arrow, for which it has no types


def matching(url: str) -> list[tuple[str, str]]:
    """The URLs that match the pattern, in order, each with its version."""
    parts = urlsplit(url)
    path = parts.path.lstrip("/")
    with _as_input_errors(url):
        if not has_magic(path):
            try:
                head = obstore.head(_bucket(url), path)
            except FileNotFoundError:
                return []
            return [(url, _version(head))]
        folder = path[: min(path.find(sign) for sign in "*?[" if sign in path)]
        found = [
            each
            for some in _objects.list(_bucket(url), prefix=folder.rpartition("/")[0] or None)
            for each in some
            if fnmatchcase(each["path"], path)
        ]
    stem = f"{parts.scheme}://{parts.netloc}/"
    return sorted((stem + each["path"], _version(each)) for each in found)


def fetch(url: str, file: Path) -> None:
    """Copy the object to the file."""
    with _as_input_errors(url), file.open("wb") as out:
        for part in obstore.get(_bucket(url), urlsplit(url).path.lstrip("/")):
            out.write(part)


def store(file: Path, url: str) -> None:
    """Copy the file to the object, which appears when it is complete."""
    with _as_input_errors(url):
        obstore.put(_bucket(url), urlsplit(url).path.lstrip("/"), file)


def exists(url: str) -> bool:
    """Whether the object is there."""
    with _as_input_errors(url):
        try:
            obstore.head(_bucket(url), urlsplit(url).path.lstrip("/"))
        except FileNotFoundError:
            return False
    return True


def _bucket(url: str) -> Any:
    parts = urlsplit(url)
    return from_url(f"{parts.scheme}://{parts.netloc}")


def _version(head: Any) -> str:
    return f"{head['size']} {head.get('e_tag') or head['last_modified']}"


@contextmanager
def _as_input_errors(url: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (BaseError, OSError) as fault:
        problem = fault_line(str(fault).partition("Debug source")[0])
        raise InputError(problem, place=url, advice="check the bucket and who asks") from fault
