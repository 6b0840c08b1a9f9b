"""The design of llm4s: the size of a tool's output decides what is done to it.

Every output is treated, the newest too. Where the implementation of llm4s deviates from its design,
the design is followed: a text never grows, a stray word does not make it binary, YAML or an error,
numbers and keys stay as they are written, and what is called externalized can be recalled.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeVar

from holdfast.compressors.digest import Digest
from holdfast.compressors.summaries import WorkingStore
from holdfast.compressors.tool_outputs import texts
from holdfast.content import kind
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Configured, Flow, Plan
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import check_fields
from holdfast.text.json_values import DEEPEST, Value, dump, parse
from holdfast.text.keyed import digest

T = TypeVar("T")

_ERROR_SIGNS = ("ERROR:", "Exception", "Traceback")
_LOG_SIGNS = ("INFO ", "DEBUG ", "WARN ")
# L.12: characters of a text that stays whole; words at the ends of a longer one
_WHOLE, _HEAD, _TAIL = 1_000, 50, 20
_FIRST_LINE = 100  # characters of an error's first line that its summary shows (L.6)
_FRAME = re.compile(r"^[ \t]*at [^\s\d]|\.(?:java|scala):\d", re.MULTILINE)
_EMPTY_MEMBER = re.compile(r"^[ \t]*[\w.-]+:[ \t]*(?:null|~|\"\"|''|\[\])[ \t]*\n", re.MULTILINE)
_ITEM = re.compile(r"( *)- ")
_TEXT = re.compile(r"[:-] +[|>][+-]?\d?$")  # the lines under it are a block of text
# L.8: items of a list that stays whole; items at each end of a longer one
_LONGEST_LIST, _ENDS = 20, 10
# L.9: lines of a log that stays whole; lines at the ends of a longer one
_WHOLE_LOG, _LOG_HEAD, _LOG_TAIL = 120, 80, 40
_FRAMES = 10  # lines of a stack (L.10)
_FRAME_SIGNS = ("at ", ".java:", ".scala:")


def llm4s_history(keep_blocks: int = 5, max_tokens: Share = 400) -> Digest:
    """The history step of llm4s: the last blocks stay, and exact things are listed by kind.

    In llm4s the notes are a system message.
    """
    return Digest(keep_blocks, max_tokens, facts=0.5, heading="")


@dataclass(frozen=True, slots=True)
class SizeClasses(Configured):
    """Tool outputs by size: small ones stay, medium ones are compacted, others are moved out.

    Large and binary outputs are moved to the store, and a pointer with the key replaces them.
    Without a store the text says that the output is gone, and has no key.
    """

    inline_bytes: int = 2_048
    """Outputs of at most so many bytes (UTF-8) stay as they are."""

    external_bytes: int = 8_192
    """Larger outputs are moved out; those in between are compacted by type."""

    name = "llm4s"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.external_bytes < self.inline_bytes:
            raise ConfigError(
                f"{self.external_bytes} bytes are too few",
                place="external_bytes",
                advice="give no less than inline_bytes",
            )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """An edit for each output that becomes smaller; pinned and already marked ones stay."""
        edits: list[Replace | Offload] = []
        originals = WorkingStore(allowance.stored)
        for output in texts(transcript, allowance):
            text = output.text
            size = len(text.encode("utf-8", "surrogatepass"))
            if output.position in transcript.pinned or size <= self.inline_bytes:
                continue
            type_, key = type_of(text), ""
            if size <= self.external_bytes and type_ != "BINARY":
                said = _INLINE[type_](text)
            else:
                reference = yield from originals.save(text, type_.lower(), open=True)
                whole = digest("", text)  # which llm4s writes, and not its beginning
                if reference:
                    key = f"content_{whole if whole.startswith(reference) else reference}"
                said = _pointer(text, type_, size, key)
            if allowance.meter.text(said) < output.tokens:
                edits.append(output.replaced(said, key, f"{type_.lower()} of {size:,} bytes"))
        if not edits:
            return Plan.skip("nothing_to_shrink", "no tool output is large enough")
        detail = originals.detail(f"{len(edits)} tool outputs")
        return Plan(tuple(edits), reason="shrunk", detail=detail)


def type_of(text: str) -> str:
    """The type of an output, tried in the order of llm4s: JSON, YAML, error, log, binary, text."""
    bare = text.strip()
    if (bare[:1], bare[-1:]) in (("{", "}"), ("[", "]")):
        return "JSON"
    logs = any(sign in text for sign in _LOG_SIGNS)
    errors = any(sign in text for sign in _ERROR_SIGNS)
    if ("---" in text or not (logs or errors)) and kind("yaml").recognises(text):
        return "YAML"
    if errors and (not logs or _FRAME.search(text)):
        return "ERROR"
    if logs:
        return "LOG"
    return "BINARY" if kind("binary").recognises(text) else "TEXT"


def cleaned(text: str) -> str:
    """JSON without members that are null, "" or [], and without the middle of long lists, minified.

    Numbers and the order of keys stay. Raises ValueError if the text is not JSON.
    """
    return "\n".join(dump(_cleaned(value, 0)) for value in parse(text))


def _cleaned(value: Value, depth: int) -> Value:
    if depth > DEEPEST:
        return value
    if isinstance(value, dict):
        kept = {key: child for key, child in value.items() if child not in (None, "", [])}
        return {key: _cleaned(child, depth + 1) for key, child in kept.items()}
    if isinstance(value, list):
        items: list[Value] = value
        return [_cleaned(item, depth + 1) for item in _ends(items, "...[+{} items]...")]
    return value


def _ends(items: Sequence[T], told: str) -> list[T | str]:
    """The items; of a long list those at both ends around a line that counts the others.

    One item is not counted: that saves nothing, and a list that was cut would be cut again.
    """
    if len(items) <= _LONGEST_LIST + 1:
        return list(items)
    return [*items[:_ENDS], told.format(len(items) - 2 * _ENDS), *items[-_ENDS:]]


def _json(text: str) -> str:
    try:
        return cleaned(text)
    except ValueError:
        return _words(text)


def _lists_cut(lines: Sequence[str]) -> Iterator[str]:
    """The lines of YAML without the middle of long lists, nested ones too."""
    for margin, parts in groupby(_yaml_parts(lines), itemgetter(0)):
        if margin is None:
            yield from chain.from_iterable(part for _, part in parts)
            continue
        items = [[part[0], *_lists_cut(part[1:])] for _, part in parts]
        for item in _ends(items, f'{margin}- "...[+{{}} items]..."'):
            yield from [item] if isinstance(item, str) else item


def _yaml_parts(lines: Sequence[str]) -> Iterator[tuple[str | None, Sequence[str]]]:
    """Each item of a list with the lines under it, after its margin; each other line, after None.

    A block of text is not read as lines of YAML.
    """
    end = 0
    while end < len(lines):
        start, end = end, end + 1
        item = _ITEM.match(lines[start])
        if item or _TEXT.search(lines[start]):
            margin = _margin(lines[start])
            while end < len(lines) and (not lines[end].strip() or _margin(lines[end]) > margin):
                end += 1
        yield item and item[1], lines[start:end]


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def llm4s_log(text: str) -> str:
    """Up to 120 lines whole, else 80 and 40 around a marker; equal neighbours as ``line ×N``."""
    if text.count("\n") < _WHOLE_LOG:
        return text
    runs = ((line, len(list(run))) for line, run in groupby(text.split("\n")))
    lines = [f"{line} ×{count}" if count > 1 else line for line, count in runs]
    if len(lines) <= _WHOLE_LOG + 1:  # as above
        return "\n".join(lines)
    gone = len(lines) - _LOG_HEAD - _LOG_TAIL
    marker = f"... [collapsed {gone} repeated/verbose log lines] ..."
    return "\n".join([*lines[:_LOG_HEAD], marker, *lines[-_LOG_TAIL:]])


def llm4s_error(text: str) -> str:
    """All but the frames after the tenth, which a marker counts.

    The code of llm4s drops all other lines after the third too, causes and messages among them.
    """
    lines = text.split("\n")
    frames = [i for i, line in enumerate(lines) if any(sign in line for sign in _FRAME_SIGNS)]
    gone = frames[_FRAMES:]
    if gone:
        lines[gone[0]] = f"... [+{len(gone)} additional stack frames] ..."
    dropped = set(gone[1:])
    return "\n".join(line for i, line in enumerate(lines) if i not in dropped)


def _words(text: str) -> str:
    """Up to 1,000 characters whole; else the first 50 words and the last 20 around a marker."""
    words = text.split()
    marker = f"... [+{len(words) - _HEAD - _TAIL} words] ..."
    if len(text) <= _WHOLE or len(words) <= _HEAD + len(marker.split()) + _TAIL:  # as above
        return text
    return " ".join([*words[:_HEAD], marker, *words[-_TAIL:]])


_INLINE: Mapping[str, Callable[[str], str]] = {
    "JSON": _json,
    "YAML": lambda text: "\n".join(_lists_cut(_EMPTY_MEMBER.sub("", text).split("\n"))),
    "ERROR": lambda text: llm4s_error(text) if _FRAME.search(text) else text,
    "LOG": llm4s_log,
    "TEXT": _words,
}


def _pointer(text: str, type_: str, size: int, key: str) -> str:
    """The text that replaces an output that was moved out, or that is not kept anywhere."""
    if not key:
        return f"[LEFT OUT: {type_} | {_summary(text, type_)}, {size} bytes; it is not kept]"
    if type_ == "BINARY":
        return f"[BINARY CONTENT - {size} bytes - externalized: {key}]"
    return f"[EXTERNALIZED: {key} | {type_} | {_summary(text, type_)}, {size} bytes]"


def _summary(text: str, type_: str) -> str:
    if type_ == "LOG":
        return f"Log output with {len(text.splitlines())} lines"
    if type_ == "ERROR":
        return f"Error: {text.strip().partition(chr(10))[0][:_FIRST_LINE].strip()}"
    if type_ not in ("JSON", "YAML"):
        return f"{type_.capitalize()} content"
    with suppress(ValueError):
        (value,) = parse(text)
        if isinstance(value, dict):
            return f"JSON object with {len(value)} fields"
        if isinstance(value, list):
            return f"JSON array with {len(value)} items"
    return f"{type_} content"
