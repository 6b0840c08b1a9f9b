"""What is exact in a history, by the eight kinds of the llm4s design."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from holdfast.compressors.summaries import body_of
from holdfast.compressors.verification import stands
from holdfast.kernel.messages import Message, ToolCall
from holdfast.text.identifiers import find
from holdfast.text.importance import FAILURE, signals
from holdfast.text.sentences import sentences

_READ = 20_000  # characters of one text in which exact things are looked for
_LONGEST = 200  # characters of a sentence that is taken as it is
_DIGITS = 5  # of a bare number that is a reference: shorter ones are amounts and years
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
    """What messages name and state, each once, in its own words and in the order of the messages."""

    identifiers: tuple[str, ...] = ()
    """Ids, keys, references, paths and other names that a machine made."""

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
        """What the messages name and state; of an earlier digest also what it lists."""
        found = _Found()
        for message in messages:
            body = body_of(message)
            if body is not None:
                found.read_digest(body)
                continue
            for part in message.parts:
                if isinstance(part, ToolCall):
                    found.tools[part.name] = None
                    found.read_names(part.arguments)
                else:
                    found.read(part.text)
        return cls(*(tuple(getattr(found, kind)) for kind in _LABELS))

    def told(self, beside: str, room: int, count: Callable[[str], int]) -> str:
        """What ``beside`` does not name, a line for each kind, in at most so many tokens.

        Of each kind the newest where not all fit.
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
"""The kinds in the order in which they are told."""

_LINE = re.compile(rf"^({'|'.join(_LABELS.values())}): (.+)$", re.MULTILINE)


def without_facts(body: str) -> str:
    """What a digest says but for the things that it lists by kind."""
    return _LINE.sub("", body).rstrip("\n")


class _Found:
    """The values so far, each in the order in which it was first said."""

    def __init__(self) -> None:
        for kind in _LABELS:
            setattr(self, kind, dict[str, None]())

    identifiers: dict[str, None]
    urls: dict[str, None]
    status_codes: dict[str, None]
    tools: dict[str, None]
    decisions: dict[str, None]
    constraints: dict[str, None]
    errors: dict[str, None]
    outcomes: dict[str, None]

    def read_digest(self, body: str) -> None:
        kinds = {label: kind for kind, label in _LABELS.items()}
        for line in _LINE.finditer(body):
            getattr(self, kinds[line[1]]).update(dict.fromkeys(line[2].split(_BETWEEN)))
        self.read_names(without_facts(body))

    def read_names(self, text: str) -> None:
        for one in find(text[:_READ]):
            if one.kind == "url":
                self.urls[one.text] = None
            elif one.kind in _NAMES or (one.kind == "number" and len(one.text) >= _DIGITS):
                self.identifiers[one.text] = None
            elif one.kind == "quoted":
                self.read_names(one.text)
        self.status_codes.update(dict.fromkeys(_STATUS.findall(text[:_READ])))

    def read(self, text: str) -> None:
        self.read_names(text)
        for sentence in sentences(text[:_READ]):
            said = " ".join(sentence.split())
            if not 0 < len(said) <= _LONGEST:
                continue
            tells = signals(said)
            if tells.decides:
                self.decisions[said] = None
            elif tells.constrains:
                self.constraints[said] = None
            elif tells.alarm >= FAILURE:
                self.errors[said] = None
            elif _OUTCOME.search(said):
                self.outcomes[said] = None
