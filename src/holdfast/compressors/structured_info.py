"""Exact things in a history, by the eight kinds of the llm4s design."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from holdfast.compressors.summaries import body_of
from holdfast.kernel.messages import Message, ToolCall
from holdfast.text.fit import Count
from holdfast.text.identifiers import find
from holdfast.text.importance import FAILURE, signals
from holdfast.text.sentences import sentences
from holdfast.text.words import stands

# Chosen by hand:
_READ = 20_000  # characters of one text that are searched for exact things
_LONGEST = 200  # characters of a sentence that is taken unchanged
_DIGITS = 5  # a bare number with so many digits is a reference; shorter ones are amounts and years
_NAMES = frozenset(("uuid", "hash", "name", "path", "email", "address", "env", "version"))
_STATUS = re.compile(
    r"(?:status|code|error|http(?:/\d(?:\.\d)?)?)(?: code)?(?:[:=\s]|was|is){1,5}(\d{3,4})(?!\w)",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:results?|outcomes?|conclusions?|success(?:ful(?:ly)?)?|succeeded|completed?|done)\b",
    re.IGNORECASE,
)
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class StructuredInfo:
    """The exact things in messages: each once, word for word, in the order of the messages."""

    identifiers: tuple[str, ...] = ()
    """Ids, keys, references, paths and other generated names."""

    urls: tuple[str, ...] = ()
    status_codes: tuple[str, ...] = ()

    tools: tuple[str, ...] = ()
    """Names of the tools that were called."""

    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()

    @classmethod
    def of(cls, messages: Iterable[Message]) -> StructuredInfo:
        """The exact things in the messages, and those that an earlier digest among them lists."""
        found: _Found = {kind: {} for kind in _LABELS}
        for message in messages:
            body = body_of(message)
            if body is not None:
                _read_digest(body, found)
                continue
            for part in message.parts:
                if isinstance(part, ToolCall):
                    found["tools"][part.name] = None
                    _read_names(part.arguments, found)
                else:
                    _read(part.text, found)
        return cls(**{kind: tuple(values) for kind, values in found.items()})

    def render(self, beside: str, room: int, count: Count) -> str:
        """The things that the text ``beside`` lacks, by kind, in at most ``room`` tokens.

        Each kind has a line. If not all its values fit, the newest are shown.
        """
        lines: list[str] = []
        for kind, label in _LABELS.items():
            values = [value for value in getattr(self, kind) if not stands(value, beside)]

            def line(most: int, label: str = label, values: Sequence[str] = values) -> str:
                return f"{label}: {_BETWEEN.join(values[len(values) - most :])}"

            def taken(most: int, tell: Callable[[int], str] = line) -> int:
                return count("\n".join([*lines, tell(most)]))

            most = bisect_right(range(1, len(values) + 1), room, key=taken)
            if most:
                lines.append(line(most))
        return "\n".join(lines)


_LABELS = {
    each.name: each.name.replace("_", " ").capitalize().replace("Urls", "URLs")
    for each in fields(StructuredInfo)
}
"""The labels of the kinds, in their order."""

_LINE = re.compile(rf"^({'|'.join(_LABELS.values())}): (.+)$", re.MULTILINE)


def without_facts(body: str) -> str:
    """A digest without the lines that list things by kind."""
    return _LINE.sub("", body).rstrip("\n")


_Found = Mapping[str, dict[str, None]]
"""The values of each kind so far, in order of first appearance."""


def _read_digest(body: str, found: _Found) -> None:
    kinds = {label: kind for kind, label in _LABELS.items()}
    for line in _LINE.finditer(body):
        found[kinds[line[1]]].update(dict.fromkeys(line[2].split(_BETWEEN)))
    _read_names(without_facts(body), found)


def _read_names(text: str, found: _Found) -> None:
    for one in find(text[:_READ]):
        if one.kind == "url":
            found["urls"][one.text] = None
        elif one.kind in _NAMES or (one.kind == "number" and len(one.text) >= _DIGITS):
            found["identifiers"][one.text] = None
        elif one.kind == "quoted":
            _read_names(one.text, found)
    found["status_codes"].update(dict.fromkeys(_STATUS.findall(text[:_READ])))


def _read(text: str, found: _Found) -> None:
    _read_names(text, found)
    for sentence in sentences(text[:_READ]):
        said = " ".join(sentence.split())
        if not 0 < len(said) <= _LONGEST:
            continue
        tells = signals(said)
        if tells.decides:
            found["decisions"][said] = None
        elif tells.constrains:
            found["constraints"][said] = None
        elif tells.alarm >= FAILURE:
            found["errors"][said] = None
        elif _OUTCOME.search(said):
            found["outcomes"][said] = None
