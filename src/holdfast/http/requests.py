"""Requests: their format, their sender and conversation, their budget, and their bodies."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, Literal, NamedTuple, TypedDict, cast
from urllib.parse import unquote

import msgspec

from holdfast.formats.payloads import Object, is_object
from holdfast.kernel.budget import Budget, BudgetLike, is_whole, tokens_in
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.registry import imported
from holdfast.names import ToolProvider
from holdfast.text.visible import fault_line
from holdfast.tokens import counter_for, window_of
from holdfast.tokens.families import GUESSED

Vendor = Literal["openai", "anthropic", "google"]

_WIRES: Mapping[str, ToolProvider] = {
    r"/chat/completions": "openai_chat",
    r"/responses(?P<asks>/input_tokens|/compact)?": "openai_responses",
    r"/messages(?P<asks>/count_tokens)?": "anthropic",
    r"/models/(?P<model>[^/:]+):(?:(?:stream)?[gG]enerateContent|(?P<asks>countTokens))": "gemini",
}
"""The paths with conversations, by their ends, and the format of their bodies."""

# OpenAI has messages too, of threads and of stored answers, and colons in names of tuned models
_ANTHROPIC = re.compile(r"(?:^|/v\d+)/messages(?:/|$)")
_GOOGLE = re.compile(r"/v1(?:alpha|beta)\d*/|/[^/:]+:\w+$")


class Endpoint(NamedTuple):
    """An endpoint for conversations: the format of its body, and the model if the path names it.

    ``asks``: it counts or compacts a conversation, and so needs it unchanged.
    """

    format: ToolProvider
    model: str = ""
    asks: bool = False


@lru_cache(maxsize=256)
def endpoint_of(path: str) -> Endpoint | None:
    """The endpoint of a path; None if its requests have no conversation."""
    for pattern, form in _WIRES.items():
        if found := re.search(rf"{pattern}/?$", path):
            parts = found.groupdict()
            return Endpoint(form, unquote(parts.get("model") or ""), asks=bool(parts.get("asks")))
    return None


def vendor_of(path: str, headers: Container[str]) -> Vendor:
    """The vendor to whose API the path belongs; if several have such a path, by the headers."""
    if _ANTHROPIC.search(path) or "anthropic-version" in headers:
        return "anthropic"
    if _GOOGLE.search(path) or "x-goog-api-key" in headers:
        return "google"
    return "openai"


OWN = "x-holdfast-"
"""The beginning of the names of Holdfast's own headers."""
HEADER = f"{OWN}thread"
"""The header with which any client may name the conversation; it is not forwarded."""

_SESSIONS = ("x-claude-code-session-id", "session_id", "session-id", "conversation_id")
"""Headers in which Claude Code and Codex name their sessions."""

_IN_USER = re.compile(r"session[\w\"' :]*?([0-9a-f]{8}-[0-9a-f-]{27})")
"""Claude Code's session id within ``metadata.user_id``."""

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


class Origin(TypedDict):
    """The origin of a request, as arguments of ``Fitter.fit``."""

    thread: str
    owner: str


def origin_of(headers: Mapping[str, str], address: str = "") -> Origin:
    """The name of the conversation in the headers, and a hash that identifies the client.

    It is of the client and its API key, or of its address where it has no key.
    """
    named = (value for name in (HEADER, *_SESSIONS) if (value := headers.get(name, "")))
    keys = [headers.get(name, "") for name in _CREDENTIALS]
    who = "\0".join([*keys, headers.get("user-agent", ""), "" if any(keys) else address])
    owner = sha256(who.encode("utf-8", "surrogateescape")).hexdigest()
    return Origin(thread=next(named, ""), owner=owner)


def named_in_body(body: Mapping[str, Any]) -> str:
    """The name of the conversation in a body of Claude Code or Codex, or an empty text."""
    metadata, key = body.get("metadata"), body.get("prompt_cache_key")
    if is_object(metadata):
        found = _IN_USER.search(str(metadata.get("user_id") or ""))
        if found:
            return found[1]
    return key if isinstance(key, str) else ""


def thread_of(owner: str, name: str) -> str:
    """The name of an owner's conversation, different from those of all other owners."""
    return sha256(f"{owner}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


Size = BudgetLike
"""``32_000``, ``"32k"``, ``"80%"`` of the model's window, a Budget, or None for the whole
window.
"""

TARGET = 0.75
"""The share of the room besides the fixed parts (system messages, tools) that a new view fills.

The rest lets the view grow at its end for several requests, during which the provider's cache stays
valid. In sixty recorded runs a request in four has a new view, and .85 of what is used later is
kept; with 0.5, one in six and .78, and with 0.875 two in five and .89.
"""


@dataclass(frozen=True)
class Budgets:
    """Budgets by model name: that of the first matching pattern, else ``default``.

    ``target`` is a share like ``TARGET``, for budgets that have none. If a model's tokens can only
    be estimated, the error of the estimate is left free, unless a budget states a headroom.
    ``beside`` is what sizes that are no Budget leave open: their headroom, their reserve unless the
    request names its answer, and when they are compressed.
    """

    default: Size = None
    by_model: Mapping[str, Size] = field(default_factory=dict[str, Size])
    target: float = TARGET
    beside: Budget = Budget()  # noqa: RUF009 - it is frozen

    def __post_init__(self) -> None:
        for size in (self.default, *self.by_model.values()):
            stated(size)

    def of(self, model: str, body: Object) -> Budget | None:
        """The budget of a request; None if none is given and the model's window is not known."""
        found = (
            size
            for pattern, size in self.by_model.items()
            if fnmatchcase(model.lower(), pattern.lower())
        )
        size = next(found, self.default)
        budget, answer = stated(size), 0
        if not isinstance(budget, Budget):
            window = window_of(model)
            if window is None:
                return None
            answer = min(answer_of(body), window // 2) if budget is None else 0
            budget = Budget(limit=int(window * (budget or 1)))
        if not isinstance(size, Budget):
            reserve = answer or self.beside.reserve
            budget = replace(self.beside, limit=budget.limit, reserve=reserve)
        if not budget.headroom and model:
            accuracy = counter_for(model).accuracy
            error = GUESSED.error if accuracy.kind == "unknown" else accuracy.error
            budget = replace(budget, headroom=error or 0.0)
        return budget


def stated(size: Size) -> Budget | float | None:
    """The budget of a size, or its share of the model's window; None for the whole window.

    Raises ConfigError for anything else.
    """
    if size is None:
        return None
    if isinstance(size, int | Budget):
        return Budget.of(size)
    given = cast("object", size)  # callers pass anything
    if isinstance(given, str):
        if limit := tokens_in(given):
            return Budget.of(limit)
        percent = re.fullmatch(r"\s*(\d+)%\s*", given)
        if percent and 0 < int(percent[1]) <= 100:
            return int(percent[1]) / 100
    raise ConfigError(
        f"{size!r:.40} is not a budget",
        place="budget",
        advice="give one such as 32k, or 80% of the model's window",
    )


ANSWERS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""The fields in which vendors have the most tokens of an answer."""


def answer_of(body: Object) -> int:
    """Tokens that the request reserves for the answer, under any vendor's field name."""
    config: object = body.get("generationConfig")
    named = {**config, **body} if is_object(config) else body
    for name in ANSWERS:
        value: object = named.get(name)
        if is_whole(value, 1):
            return value
    return 0


MOST = 64_000_000
"""Bytes of a decompressed body that are read: some ten times the largest context window."""


_CODINGS = ("", "identity", "gzip", "x-gzip", "deflate", "zstd")


def readable_of(accepted: str) -> str:
    """The content codings that a client accepts, without those that ``plain`` does not read."""
    each = accepted.lower().split(",")
    return ",".join(c for c in each if c.partition(";")[0].strip() in _CODINGS) or "identity"


def plain(raw: bytes, encoding: str = "") -> bytes:
    """The body without its content coding (gzip, deflate or zstd).

    Raises InputError for another coding, for damaged data, and for more than ``MOST`` bytes.
    """
    coding = encoding.strip().lower()
    if coding not in _CODINGS:
        raise InputError(f"the content coding {coding[:20]!r} is not known", place="body")
    text = raw
    try:
        if coding == "zstd":  # few clients need the package
            opened = imported("zstandard:ZstdDecompressor")()
            text = opened.stream_reader(raw, read_across_frames=True).read(MOST + 1)
        elif coding not in ("", "identity"):
            text = _inflated(raw)
    except Exception as fault:
        raise InputError(f"this is not {coding} ({fault})", place="body") from fault
    if len(text) > MOST:
        raise InputError(f"it is longer than {MOST:,} bytes", place="body")
    return text


def _inflated(raw: bytes) -> bytes:
    """The beginning of gzip or deflate data, whose header some clients leave out."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw, MOST + 1)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, MOST + 1)


def read_object(text: bytes) -> Object:
    """The body as a JSON object. Raises InputError for anything else."""
    try:
        found: object = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        try:  # the standard library also accepts lone surrogates
            found = json.loads(text, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError) as fault:
            raise InputError(f"it is not JSON ({fault_line(fault):.80})", place="body") from fault
    if not is_object(found):
        raise InputError("it is not a JSON object", place="body")
    return found


def _finite(number: str) -> float:
    """The number. Raises ValueError for one that JSON could not be written with again."""
    if not isfinite(found := float(number)):
        raise ValueError(f"{number:.20} is no number that can be sent on")
    return found


def written(body: Object) -> bytes:
    """The body as JSON."""
    try:
        return msgspec.json.encode(body)
    except (ValueError, TypeError):
        return json.dumps(body, separators=(",", ":")).encode()


class _Piece(msgspec.Struct):
    """A message, an item of Responses, or a part of one, with text only."""

    type: Literal[
        "text",
        "refusal",
        "function",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "message",
        "input_text",
        "output_text",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "additional_tools",
    ] = "text"
    content: str | list[_Piece] | None = None
    output: str | list[_Piece] | None = None
    parts: list[_Piece] | None = None
    audio: None = None
    function_response: _Piece | None = None
    functionResponse: _Piece | None = None  # noqa: N815 - Gemini takes both
    inline_data: None = None
    inlineData: None = None  # noqa: N815
    file_data: None = None
    fileData: None = None  # noqa: N815


class _Text(msgspec.Struct):
    """A body whose conversation has text only, in any format."""

    model: str = ""
    messages: list[_Piece] | None = None
    input: str | list[_Piece] | None = None
    contents: list[_Piece] | None = None


_TEXT = msgspec.json.Decoder(_Text)


def model_of_text(text: bytes) -> str | None:
    """The model that the body names, empty without one; None unless the body surely has text only.

    Of text alone it is known that it has at most as many tokens as bytes: images and documents can
    be named by their address.
    """
    try:
        return _TEXT.decode(text).model
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
