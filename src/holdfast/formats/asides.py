"""Text in fields of a message that belong to no part.

Counts should rather be too high than too low, so all of this text is counted, except: the data of
images and sounds, which ``tokens.media`` counts; signatures, which the vendor checks and removes;
citations, whose text, title and address are free according to Anthropic's guides; and the first 64
characters of labels and field names, since no vendor's ids, types and names are longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .values import is_list, is_object

_MEDIA = frozenset({"bytes", "data", "file_data", "image_url", "url"})
_UNREAD = frozenset({"signature", "thoughtSignature", "thought_signature"})
_SKIPPED = frozenset({"citations"})
_LABELS = frozenset(
    {
        "call_id",
        "detail",
        "file_id",
        "format",
        "id",
        "media_type",
        "mimeType",
        "mime_type",
        "phase",
        "role",
        "status",
        "tool_call_id",
        "toolUseId",
        "tool_use_id",
        "ttl",
        "type",
    }
)
LABEL = 64  # characters of a label that are not counted as text: longer than any role, type or id


def said(value: object, field: str = "") -> Iterator[str]:
    """All texts in the value of this field, at any depth."""
    if isinstance(value, str):
        text = value[LABEL:] if field in _LABELS else value
        if text and field not in _MEDIA and field not in _UNREAD:
            yield text
    elif is_object(value):
        for name, inner in value.items():
            if name not in _SKIPPED:
                if len(str(name)) > LABEL:  # dictionaries of others may have a number as a name
                    yield str(name)
                yield from said(inner, name)
    elif is_list(value):
        for item in value:
            yield from said(item, field)


def unread(holder: object, taken: frozenset[str]) -> Iterator[str]:
    """The texts in the object's fields that became no part."""
    if is_object(holder):
        for field, value in holder.items():
            if field in taken or field in _SKIPPED:
                continue
            if len(str(field)) > LABEL:
                yield str(field)
            is_label = field in _LABELS and type(value) is str and len(value) <= LABEL
            if not is_label:  # true of most
                yield from said(value, field)


def unread_in(content: object, taken: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """The texts outside the parts of a content.

    ``taken`` gives the fields that were read, for each type of part.
    """
    for part in content if is_list(content) else ():
        kind = part.get("type")
        if isinstance(kind, str) and kind in taken:
            yield from unread(part, taken[kind])
