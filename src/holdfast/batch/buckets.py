"""Files of a batch in a bucket: fetched, and written completely or not at all."""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import Any

from holdfast.kernel.errors import InputError
from holdfast.kernel.registry import needed_by
from holdfast.stores.objects import problem_line

with needed_by("a file in a bucket", "objects"):
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import from_url

_objects: Any = obstore  # it may return tables of Arrow, for which it has no types


def matching(url: str) -> list[tuple[str, str]]:
    """The URLs that match the pattern, in order, each with its version."""
    with _as_input_errors(url):
        bucket, path = _place(url)
        if not has_magic(path):
            head = _head(url)
            return [(url, _version(head))] if head else []
        folder = re.split(r"[*?\[]", path)[0].rpartition("/")[0]
        found = chain.from_iterable(_objects.list(bucket, prefix=folder or None))
        return sorted(
            (url.partition(path)[0] + each["path"], _version(each))
            for each in found
            if fnmatchcase(each["path"], path)
        )


def fetch(url: str, file: Path) -> None:
    """Copy the object to the file."""
    with _as_input_errors(url), file.open("wb") as out:
        for part in obstore.get(*_place(url)):
            out.write(part)


def store(file: Path, url: str) -> None:
    """Copy the file to the object, which appears when it is complete."""
    with _as_input_errors(url):
        obstore.put(*_place(url), file)


def exists(url: str) -> bool:
    """Whether the object is there."""
    return _head(url) is not None


def _head(url: str) -> Any:
    """The facts of the object; None if there is none."""
    with suppress(FileNotFoundError), _as_input_errors(url):
        return obstore.head(*_place(url))
    return None


def _place(url: str) -> tuple[Any, str]:
    """The bucket, and the path of the object in it."""
    scheme, _, place = url.partition("://")
    bucket, _, path = place.partition("/")  # in which ? and # are signs like others
    return from_url(f"{scheme}://{bucket}"), path.lstrip("/")


def _version(head: Any) -> str:
    return f"{head['size']} {head.get('e_tag') or head['last_modified']}"


@contextmanager
def _as_input_errors(url: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (BaseError, OSError) as fault:
        raise InputError(
            problem_line(fault), place=url, advice="check the bucket and who asks"
        ) from fault
