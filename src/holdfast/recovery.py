"""Reading originals back: ``recall``, the model's tool for it, and deleting summaries."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from holdfast.compressors.summaries import message_key, messages_key, ranges_key, thread_prefix
from holdfast.compressors.summary_memory import ranges_of
from holdfast.engine import RECALL_TOOL
from holdfast.formats.convert import arguments_schema, tool_schema
from holdfast.kernel.budget import is_whole
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import renamed_argument
from holdfast.kernel.typed import Positive, check_type, is_list, is_object, kept_as, object_of
from holdfast.names import ToolProvider
from holdfast.result import ThreadId
from holdfast.stores import open_store
from holdfast.stores.artifacts import ArtifactStore, secret_of
from holdfast.stores.excerpts import TextExcerpt
from holdfast.stores.protocols import ListsKeys, as_store_errors, settled
from holdfast.text.keyed import of_thread

MOST = 20_000
"""The most characters that the tool returns at once: about 5,000 tokens, which a small view holds;
the model can ask for other lines.
"""

_PURPOSE = (
    "Give back the original of a text that was shortened to save context. "
    "Such a text ends with a line like [original: 38125504277140983120 (log, 12,410 tokens)]: "
    "pass that key. Ask for a range of lines, a pattern or a field "
    "rather than for the whole when the original is long."
)
_ARGUMENTS = """
    key string the key after 'original:'
    lines string a range of lines such as 10:80, counted from 1
    pattern string a regular expression (RE2); only lines that match come back
    field string a path into JSON, such as orders[3].status
    offset integer how many characters of a long answer to pass over
"""
_KEY = re.compile(r"[0-9a-f]{12,64}")
_RANGE = re.compile(r"\s*(\d{1,15})\s*(?:[:-]\s*(\d{1,15})\s*)?", re.ASCII)


def recall(
    key: str,
    *,
    store: str | KeyValueStore,
    lines: tuple[int, int] | str | None = None,
    pattern: str | None = None,
    field: str | None = None,
    thread: str = "",
    secret: str = "",
) -> str:
    """Return the original text that a reference names, or a part of it.

    ``key`` is the key after ``original:`` in a shortened text, or the whole reference. ``lines`` (a
    pair, or ``"10:80"``), ``pattern`` (RE2) and ``field`` (such as ``orders[3].status``) select a
    part. ``thread`` and ``secret`` must be those of the compression: a conversation has access to
    its own originals only.

    Raises NotFoundError for a key that the store does not hold for this thread, CorruptError for a
    damaged original, StoreError for a store that does not answer, and ConfigError for a malformed
    key, range, pattern or path.
    """
    kept = open_store(store)
    return excerpt_of(key, kept, thread, secret, lines=lines, pattern=pattern, field=field).text


def excerpt_of(
    key: object,
    store: KeyValueStore,
    thread: str = "",
    secret: str = "",
    *,
    lines: object = None,
    pattern: object = None,
    field: object = None,
) -> TextExcerpt:
    """Like ``recall``, with line numbers; the key and the part are not checked yet."""
    named = _text("key", key) or _refused("key", key, "give the key after 'original:'")
    known = _KEY.search(named.lower())  # people and models pass the whole reference too
    name, span = known.group() if known else named, line_range(lines)
    sought, path = _text("pattern", pattern), _text("field", field)
    with as_store_errors():
        own = of_thread(secret or secret_of(store, makes=False), thread)
        return ArtifactStore(store, own).read(name, lines=span, pattern=sought, field=path)


@dataclass(frozen=True, slots=True)
class RecallTool:
    """A tool schema to send with a request, and the function that answers its calls."""

    schema: Mapping[str, Any]
    run: Callable[[object], str]

    def __call__(self, arguments: object) -> str:
        """Answer a call; errors are returned as text, so that the model can correct its call."""
        return self.run(arguments)


@renamed_argument("format", "provider")
def recall_tool(
    store: str | KeyValueStore,
    provider: ToolProvider = "openai",
    *,
    most: int = MOST,
    thread: str = "",
    secret: str = "",
) -> RecallTool:
    """Return a tool that lets a model read originals, with its schema in the provider's form.

    Send ``tool.schema`` with your requests and pass it to ``compress(tools=...)``; call the tool
    with the arguments of the model, as an object or as JSON. It never raises. It returns at most
    ``most`` characters at once, with a note on how to get the rest, and only originals of
    ``thread``. Raises ConfigError for an unknown provider.
    """
    schema = tool_schema(provider, RECALL_TOOL, _PURPOSE, arguments_schema(_ARGUMENTS, "key"))
    check_type(most, Positive, "most")
    kept = open_store(store)

    def run(arguments: object) -> str:
        try:
            return recalled(arguments, kept, thread, secret, most)
        except HoldfastError as fault:
            return f"error: {fault}"

    return RecallTool(schema, run)


def recalled(
    arguments: object, store: KeyValueStore, thread: str = "", secret: str = "", most: int = MOST
) -> str:
    """The answer to a call of the recall tool, whose arguments are an object or its JSON.

    Raises the HoldfastError that prevents it.
    """
    asked = object_of(arguments) if isinstance(arguments, str | bytes) else arguments
    if not is_object(asked):
        raise ConfigError(
            "the arguments are not an object",
            place="arguments",
            advice='give an object such as {"key": "38125504277140983120"}',
        )
    part = {name: asked.get(name) for name in ("lines", "pattern", "field")}
    found = excerpt_of(asked.get("key"), store, thread, secret, **part)
    text = found.numbered() if part["lines"] or part["pattern"] else found.text
    return _answer(text, _offset(asked.get("offset")), most)


def line_range(lines: object) -> tuple[int, int] | None:
    """``10:80``, ``10-80`` or (10, 80) as (10, 80); ``10`` as (10, 10); None for nothing.

    Raises ConfigError for anything else.
    """
    if lines is None or lines == "":
        return None
    if is_list(lines) and len(lines) == 2 and all(map(is_whole, lines)):
        return lines[0], lines[1]
    found = _RANGE.fullmatch(str(lines)) if isinstance(lines, str | int) else None
    if found is None:
        raise ConfigError(
            f"{lines!r:.80} is not a range of lines", place="lines", advice="write it as 10:80"
        )
    return int(found[1]), int(found[2] or found[1])


def _answer(text: str, offset: int, most: int) -> str:
    """At most ``most`` characters of the part, ending at a line, and how to get the rest."""
    if not text:
        return "[nothing of the original matches]"
    if not offset and len(text) <= most:
        return text
    if offset >= len(text):
        return f"[the answer ends at character {len(text):,}]"
    part, rest = text[offset : offset + most], ""
    end = offset + len(part)
    if end < len(text):
        part = part[: part.rfind("\n", len(part) // 2) + 1] or part
        end = offset + len(part)
        rest = f"; for the next part give offset {end}, or narrow it by lines, pattern or field"
    return f"{part}\n[characters {offset:,} to {end:,} of {len(text):,}{rest}]"


def _offset(value: object) -> int:
    if value is None or value == "":
        return 0
    number = (
        int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else value
    )
    if not is_whole(number, 0):
        _refused("offset", value, "give a number of characters")
    return number


def _text(name: str, value: object) -> str | None:
    """The value as text, or None if it was left out; numbers are converted."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        _refused(name, value, "give text")
    return str(value)


def _refused(name: str, value: object, advice: str) -> NoReturn:
    raise ConfigError(f"{value!r:.80} does not belong here", place=name, advice=advice)


def delete_summaries(thread: str, *, store: str | KeyValueStore) -> int:
    """Delete the summaries of a thread from the store and return the number of deleted keys.

    Summaries that were kept without a thread are not deleted. Raises StoreError for a store that
    does not answer.
    """
    check_type(thread, ThreadId, "thread")
    kept = open_store(store)
    with as_store_errors():
        if isinstance(kept, ListsKeys):
            keys = list(settled(kept.keys(thread_prefix(thread))))
        else:  # the thread's indexes name the others
            named = [ranges_key(thread), messages_key(thread)]
            numbers = kept_as(settled(kept.get(named[1])), list[int]) or []
            named += [found.key for found in ranges_of(settled(kept.get(named[0])))]
            named += [message_key(thread, index) for index in numbers]
            keys = [key for key in named if settled(kept.get(key)) is not None]
        for key in keys:
            settled(kept.delete(key))
        return len(keys)
