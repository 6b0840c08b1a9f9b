"""Rules on what a vendor publishes about messages: fields, kinds, roles and limits.

``tools/wire_schemas.py`` writes the schemas from the vendors' own packages; read here are the parts
of JSON Schema that their types use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from holdfast.formats.payloads import Object, compact, is_list, is_object, parsed_object, what_is
from holdfast.kernel.integrity import Problems, Rules
from holdfast.kernel.messages import Message, Messages
from holdfast.kernel.typed import typed

from . import MessageByMessage, RewritingRule, made, original
from .exchanges import ShortCallIds

Schema = Object
Flaw = tuple[str, str]
"""The place in the value, and what is wrong there."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": (str, bytes),  # which a vendor's package encodes when it sends them
    "object": Mapping,
    "array": (list, tuple),
    "boolean": bool,
}

_EMPTY = "the text is empty"
_BARE = "the object is empty"
_TEXT = "text"  # the ending of the types of text parts, in every format
_ARTICLES = {"string": "text", "array": "a list", "object": "an object"}


@cache
def published(name: str) -> WireSchema:
    """The published schema of this format's messages."""
    text = Path(__file__).parents[1].joinpath(f"published_{name}.json").read_text("utf-8")
    schema: WireSchema = typed(json.loads(text), WireSchema)
    return schema


@dataclass(frozen=True)
class WireSchema:
    """The schemas of one format.

    ``roles`` maps a role, or the type of an item, to the schema of its messages, and ``other`` to
    that of all others; ``beside`` has those of fields beside the messages, and ``limits`` what no
    schema can express. ``definitions`` are what the schemas refer to. ``nulls``: the vendor's
    package accepts null for a field that may be absent.
    """

    roles: Mapping[str, Schema]
    limits: Mapping[str, int]
    definitions: Mapping[str, Schema]
    beside: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    nulls: bool = True

    def flaws(self, value: object, schema: Schema, place: str) -> Iterator[Flaw]:
        """What is wrong with the value; null counts as absent if the vendor's package allows it."""
        if not schema:
            return
        branch, problem = self._branch(value, schema)
        known = branch.get("enum", [branch.get("const", value)])
        if problem:
            yield place, problem
        elif value not in known:
            yield place, f"{value!r:.40} is none of {', '.join(map(str, known))}"
        elif isinstance(value, str):
            yield from ((place, problem) for problem in _of_text(value, branch))
        elif is_list(value):
            most, least = branch.get("maxItems", len(value)), branch.get("minItems", 0)
            if not least <= len(value) <= most:
                told = f"{len(value)} of them, and {most} are the most"
                yield place, told if value else "the list is empty"
            for k, item in enumerate(value):
                yield from self.flaws(item, branch.get("items", {}), f"{place}[{k}]")
        elif is_object(value):
            yield from self._of_object(value, branch, place)

    def _of_object(self, value: Object, branch: Schema, place: str) -> Iterator[Flaw]:
        fields = branch.get("properties", {})
        told = [name for name, inner in value.items() if inner is not None]
        if len(told) < branch.get("minProperties", 0):
            yield place, _BARE
        elif len(told) > branch.get("maxProperties", len(told)):
            yield place, f"only one of {', '.join(told)} can be there"
        for name in branch.get("required", ()):
            if value.get(name) is None:
                yield place, f'"{name}" is null' if name in value else f'there is no "{name}"'
        for name, inner in value.items():
            if name in fields:
                if not (inner is None and (self.nulls or name in branch.get("required", ()))):
                    yield from self.flaws(inner, fields[name], f"{place}.{name}")
            elif _is_closed(branch):
                yield f"{place}.{name}", "there is no such field"
        if "if" in branch and not any(self.flaws(value, branch["if"], place)):
            yield from self.flaws(value, branch["then"], place)

    def mended(self, value: Any, schema: Schema) -> Any:
        """The value with the smallest repair; what only a person can know stays wrong.

        Unknown fields and empty texts are dropped. A missing type is filled in, an object becomes
        JSON text or the reverse if that is expected, and a part of unknown type becomes text.
        """
        if not schema or value is None:
            return value
        branch, problem = self._branch(value, schema)
        if problem:
            return self._recast(value, schema)
        if is_list(value):
            if not value and branch.get("minItems") and self._accepts("string", schema):
                return ""
            inner, nothing = branch.get("items", {}), {(".text", _EMPTY), ("", _BARE)}
            return [
                self.mended(item, inner)
                for item in value
                if nothing.isdisjoint(self.flaws(item, inner, ""))
            ]
        if not is_object(value):
            return value
        fields = branch.get("properties", {})
        kept = {
            name: self.mended(inner, fields.get(name, {}))
            for name, inner in value.items()
            if (name in fields or not _is_closed(branch)) and (inner is not None or self.nulls)
        }
        constants = {
            name: fields[name]["const"]
            for name in branch.get("required", ())
            if kept.get(name) is None and "const" in fields[name]
        }
        return {**constants, **kept, **constants}

    def _recast(self, value: Any, schema: Schema) -> Any:
        if is_object(value) or is_list(value):
            if self._accepts("string", schema):
                return compact(value)
            kinds = map(_type_of, self._leaves(schema))
            text = next((kind for kind in kinds if kind.endswith(_TEXT)), "")
            if text and is_object(value):
                kind, told = str(value.get("type")), value.get("text")
                if kind.endswith(_TEXT) or kind not in map(_type_of, self.definitions.values()):
                    return {"type": text, "text": told if isinstance(told, str) else compact(value)}
        if not is_object(value) and self._accepts("object", schema):
            return parsed_object(value if isinstance(value, str) else compact(value))
        return value

    def _branch(self, value: object, schema: Schema) -> tuple[Schema, str]:
        """The alternative of the schema that the value is meant to be, or why there is none."""
        leaves = list(self._leaves(schema))
        fitting = [
            leaf for leaf in leaves if "type" not in leaf or isinstance(value, _KINDS[leaf["type"]])
        ]
        if not fitting:
            kinds = {_ARTICLES.get(str(leaf["type"]), str(leaf["type"])) for leaf in leaves}
            return {}, f"{what_is(value)}, where {' or '.join(sorted(kinds))} belongs"
        types = {_type_of(leaf): leaf for leaf in fitting if _type_of(leaf)}
        if not types or not is_object(value):
            return fitting[0], ""
        if (kind := value.get("type")) is not None:
            if found := types.get(str(kind)):
                return found, ""
            return {}, f"{kind!r:.40} is none of the types {', '.join(sorted(types))}"
        needs = ((set(leaf["required"]) - {"type"}, leaf) for leaf in types.values())
        meant = [leaf for fields, leaf in needs if fields and fields <= value.keys()]
        if len(meant) == 1:
            return meant[0], ""
        return {}, f'there is no "type", such as {min(types)}'

    def _leaves(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            schema = self.definitions[schema["$ref"]]
        if "anyOf" in schema:
            for each in schema["anyOf"]:
                yield from self._leaves(each)
        else:
            yield schema

    def _accepts(self, kind: str, schema: Schema) -> bool:
        return any(leaf.get("type") == kind for leaf in self._leaves(schema))


def _type_of(leaf: Schema) -> str:
    """The required value of the field ``type``; empty if the schema has none."""
    return str(leaf.get("properties", {}).get("type", {}).get("const", ""))


def _is_closed(leaf: Schema) -> bool:
    """Whether objects may have only the named fields; a condition names just some of them."""
    return "properties" in leaf and "type" in leaf


def _of_text(value: str, leaf: Schema) -> Iterator[str]:
    if "pattern" in leaf and not re.fullmatch(leaf["pattern"], value):
        yield f"{value!r:.40} is not of the form {leaf['pattern']}"
    if len(value) > leaf.get("maxLength", len(value)):
        yield f"{len(value)} characters, and {leaf['maxLength']} are the most"
    if len(value) < leaf.get("minLength", 0):
        yield _EMPTY


def published_rules(wire: str, body: Object) -> Rules:
    """The rules on published fields, and on the length of call ids and on marks if limited."""
    limits = published(wire).limits
    rules: Rules = (AsPublished(wire, body),)
    if "call_id" in limits:
        rules += (ShortCallIds(limits["call_id"]),)
    if _CACHED in limits:
        rules += (CacheControls(limits[_CACHED], body.get("system"), body.get("tools")),)
    return rules


REQUEST = -1
"""The index of a violation outside the messages: no message has it."""
_CACHED = "cache_control"


class AsPublished(MessageByMessage):
    """Every message has only fields, kinds of parts and lengths that the vendor publishes.

    ``wire`` is the name of the published schema, and ``body`` the request, whose system prompt and
    tools are read too. Unknown roles are left to another rule.
    """

    name = "as_published"

    def __init__(self, wire: str, body: Object) -> None:
        self._published, self._body = published(wire), body

    def problems(self, messages: Messages) -> Problems:
        """One for each field beside the messages and each message, with all its problems."""
        for place, schema in self._published.beside.items():
            value = self._body.get(place)
            told = () if value is None else self._published.flaws(value, schema, place)
            if problem := _described(told):
                yield REQUEST, problem
        yield from super().problems(messages)

    def problem(self, message: Message) -> str:
        """The differences from the schema."""
        return _described(self._published.flaws(original(message), self._schema_of(message), ""))

    def mended(self, message: Message) -> Message:
        """The message with every unambiguous repair made."""
        value = original(message)
        now = self._published.mended(value, self._schema_of(message))
        return message if now == value else made(message.wire, now, message)

    def _schema_of(self, message: Message) -> Schema:
        """That of the role, or of the type of an item that has none."""
        roles, value = self._published.roles, original(message)
        kind = str(value.get("role", value.get("type")))
        return roles.get(kind, roles.get("other", {}))


def _described(problems: Iterable[Flaw]) -> str:
    """The problems on one line, each once."""
    told = (": ".join(filter(None, (place.lstrip("."), why))) for place, why in problems)
    return "; ".join(dict.fromkeys(told))


class CacheControls(RewritingRule):
    """A request has a limited number of blocks that are marked for the cache.

    ``most`` is the limit, and ``beside`` are fields of the request besides its messages, whose
    marks count too.
    """

    name = "cache_controls_limited"

    def __init__(self, most: int, *beside: object) -> None:
        self._most, self._left = most, most - sum(map(_marks, beside))

    def problems(self, messages: Messages) -> Problems:
        """The message with the first mark above the limit."""
        marks = 0
        for i, message in enumerate(messages):
            marks += _marks(original(message))
            if marks > self._left:
                yield i, f"more than {self._most} blocks of the request have {_CACHED}"
                return

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages with only the newest marks, since all before a mark is cached with it."""
        views = list(map(original, messages))
        going = sum(map(_marks, views)) - max(0, self._left)
        stays = chain(repeat(False, going), repeat(True))
        for message, view in zip(messages, views, strict=True):
            now = _kept(view, stays)
            yield message if now == view else made(message.wire, now, message)


def _marks(value: object) -> int:
    """The number of marks on the value and its content; tool inputs are not searched."""
    if is_list(value):
        return sum(map(_marks, value))
    if not is_object(value):
        return 0
    return bool(value.get(_CACHED)) + _marks(value.get("content"))


def _kept(value: Any, stays: Iterator[bool]) -> Any:
    """The value with the marks that stay; the mark of a block is after those in its content."""
    if not _marks(value):
        return value
    if is_list(value):
        return [_kept(block, stays) for block in value]
    now = {
        name: _kept(inner, stays) if name == "content" else inner for name, inner in value.items()
    }
    if now.get(_CACHED) and not next(stays):
        del now[_CACHED]
    return now
