"""YAML, read by PyYAML's safe loader: the extra ``yaml``."""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import needed_by

with needed_by("a YAML file", "yaml"):
    import yaml


class _Loader(yaml.SafeLoader):
    """A loader that refuses duplicate keys, keys that are not text, and nodes inside themselves."""

    def construct_document(self, node: Any) -> object:
        """The values of a document."""
        self.deep_construct = True  # PyYAML refuses a node inside itself only if it goes deep
        found: object = cast("Any", super()).construct_document(node)
        return found

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """The table of a node."""
        seen: set[str] = set()
        for inner, _ in node.value:
            key, place = inner.value, f"line {inner.start_mark.line + 1}"
            if inner.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
                raise ConfigError(
                    f"the key {key!r} is not text", place=place, advice="write it in quotes"
                )
            if key in seen:
                raise ConfigError(f"the key {key!r} appears twice", place=place, advice="keep one")
            seen.add(key)
        return super().construct_mapping(node, deep)


def read(text: str) -> tuple[dict[str, object], Callable[[], dict[str, int]]]:
    """Return the tables and a function for their lines. Raises ConfigError for invalid YAML."""
    try:
        found: object = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        said = getattr(fault, "problem", None) or " ".join(str(fault).split())
        raise ConfigError(
            f"this is not YAML ({said})", place=f"line {mark.line + 1}" if mark else ""
        ) from fault
    if found is not None and not isinstance(found, dict):
        raise ConfigError("there are no keys in it", advice="write key: value")
    tables = cast("dict[str, object]", found or {})
    return tables, lambda: dict(_lines(yaml.compose(text, _Loader), ""))


def _lines(node: Any, head: str) -> Iterator[tuple[str, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, inner in node.value:
            path = f"{head}.{key.value}" if head else key.value
            yield path, key.start_mark.line + 1
            yield from _lines(inner, path)
    elif isinstance(node, yaml.SequenceNode):
        for n, inner in enumerate(node.value):
            yield f"{head}[{n}]", inner.start_mark.line + 1
            yield from _lines(inner, f"{head}[{n}]")
