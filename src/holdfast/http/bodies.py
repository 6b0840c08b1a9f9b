"""Request bodies: decompressed with a limit, read as JSON, and written again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, cast

import msgspec

from holdfast.formats.payloads import is_object
from holdfast.kernel.errors import InputError
from holdfast.kernel.registry import imported
from holdfast.text.visible import fault_line

MOST = 64_000_000
"""Bytes of a decompressed body that are read: some ten times the largest context window."""


class _Inflates(Protocol):
    def decompress(self, data: bytes, /, max_length: int = ...) -> bytes: ...


class _Zstd(Protocol):
    def stream_reader(self, source: bytes) -> _Reads: ...


class _Reads(Protocol):
    def read(self, size: int) -> bytes: ...


def plain(raw: bytes, encoding: str = "", most: int = MOST) -> bytes:
    """The body without its content coding (gzip, deflate or zstd).

    Raises InputError for another coding, for damaged data, and for more than ``most`` bytes.
    """
    coding = encoding.strip().lower()
    if coding in ("", "identity"):
        text = raw
    else:
        read = _CODINGS.get(coding)
        if read is None:
            raise InputError(f"the content coding {coding[:20]!r} is not known", place="body")
        try:
            text = read(raw, most + 1)
        except Exception as fault:
            raise InputError(f"this is not {coding} ({fault})", place="body") from fault
    if len(text) > most:
        raise InputError(f"it is longer than {most:,} bytes", place="body")
    return text


def _gzip(raw: bytes, most: int) -> bytes:
    return _whole(zlib.decompressobj(zlib.MAX_WBITS | 16), raw, most)


def _deflate(raw: bytes, most: int) -> bytes:
    try:
        return _whole(zlib.decompressobj(), raw, most)
    except zlib.error:  # some clients omit the header
        return _whole(zlib.decompressobj(-zlib.MAX_WBITS), raw, most)


def _whole(inflates: _Inflates, raw: bytes, most: int) -> bytes:
    return inflates.decompress(raw, most)


def _zstd(raw: bytes, most: int) -> bytes:
    opened: _Zstd = imported("zstandard:ZstdDecompressor")()  # few clients need it
    return opened.stream_reader(raw).read(most)


_CODINGS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}


def read_object(text: bytes) -> Mapping[str, Any]:
    """The body as a JSON object. Raises InputError for anything else."""
    try:
        found: object = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        found = _carefully(text)
    if not is_object(found):
        raise InputError("it is not a JSON object", place="body")
    return found


def _carefully(text: bytes) -> object:
    """Read JSON with the standard library, which also accepts lone surrogates."""
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError) as fault:
        line = fault_line(fault)
        raise InputError(f"it is not JSON ({line:.80})", place="body") from fault


def written(body: Mapping[str, Any]) -> bytes:
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
