"""JSON values that preserve number texts, key order and repeated keys, and writing them."""

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from .memo import Memo

_BEGUN = re.compile(r"[^ \t\r\n]")  # the white space of JSON (RFC 8259)
_UNENDED_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_STRING = rf'{_UNENDED_STRING}"'
_TOKEN = re.compile(rf'{_STRING}|[^\s"]+', re.DOTALL)
# up to the next bracket or comma outside strings
_BRACKET = re.compile(rf'(?:{_STRING}|[^"\[\]{{}}]++)*+([\[\]{{}}])', re.DOTALL)
_COMMA_AHEAD = re.compile(rf'(?:{_STRING}|[^",]++)*+,', re.DOTALL)
_START = re.compile(r"^[ \t]*[\[{]|\{\s*\"|\[\s*[\[{]", re.MULTILINE)
"""Where a value may begin inside other text."""

_PRINTED = re.compile(
    r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|[A-Za-z_][\w.]*+(?:\([^()\n]*+\))?|,?\s*\)|\("""
)
_CONSTANTS = {"None": "null", "True": "true", "False": "false", "(": "["}

_REACH = 1_000  # characters of a value that are read first; then four times as many, and so on
_LONGEST = 16  # the words and escapes of JSON (RFC 8259) are shorter: a cut one is near the end
DEEPEST = 60  # levels that are read, each some calls of Python's 1,000; what lies deeper stays text
_OPEN = rf"\s*+(?:\[|\{{\s*+{_STRING}\s*+:)"
# A value is read only if one member of it is whole, its last string has no end, or it is deeper
# than any reader follows. In any other, the scanner would find nothing, and it takes ten times as
# long. No repetition gives back what it took, so that a text is read once.
_SAYS = re.compile(
    rf"(?:{_OPEN}){{{DEEPEST}}}"
    rf"|(?:{_OPEN})*+\s*+\{{?\s*+"
    rf"(?:(?:{_STRING}|[-+\w.]++)?\s*+[,\]}}]|{_UNENDED_STRING}\\?\Z)",
    re.DOTALL,
)
# how the scanner says that a string does not end, and from Python 3.13 on that it stops at a comma
# before a bracket
_UNENDED, _TRAILING = "Unterminated string", "Illegal trailing comma"


class Literal(str):
    """JSON kept as it was written: a number, or an object that repeats a key."""

    __slots__ = ()


MISSING = Literal("-")
"""The value of a key that a record does not have: this object, since it is no JSON."""

Value: TypeAlias = "Literal | str | bool | list[Value] | dict[str, Value] | None"
Member: TypeAlias = "tuple[str, Value]"
"""A key and its value."""


def record_of(members: Sequence[Member]) -> Value:
    """One record; several in sequence if a key is empty or comes back later."""
    record = dict(members)
    if len(record) == len(members) and "" not in record:
        return record
    return [{key: value} if key else value for key, value in members]


def object_of(pairs: list[Member]) -> Value:
    """The object of these members; with a repeated key it is kept as text."""
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    members = ",".join(f"{quote(key)}:{dump(value)}" for key, value in pairs)
    return Literal(f"{{{members}}}")


DECODER = json.JSONDecoder(
    parse_float=Literal, parse_int=Literal, parse_constant=Literal, object_pairs_hook=object_of
)
"""The standard library's scanner: these hooks cost 5 % of its speed, and it is within 2.5 ms of
msgspec's on 480 KB, which keeps neither repeated keys nor ``-0``, ``1.10``, ``NaN`` and lone
surrogates."""


_WRITER = json.JSONEncoder(ensure_ascii=False)
CHECKER = json.JSONDecoder(
    parse_float=len, parse_int=len, parse_constant=len, object_pairs_hook=len
)
"""Reads what ``DECODER`` reads without keeping it, in a third of the time."""


def parse(text: str, decoder: json.JSONDecoder = DECODER) -> list[Value]:
    """The JSON documents of the text, one or many (JSON lines), each an object or an array.

    Raises ValueError when the text is anything else, or is nested deeper than the scanner can
    follow.
    """
    text = text.removeprefix("\ufeff")
    found: list[Value] = []
    at = 0
    while begun := _BEGUN.search(text, at):
        if begun.group() not in "{[":
            raise ValueError("not a JSON object or array")
        try:
            value, at = decoder.raw_decode(text, begun.start())
        except RecursionError:
            raise ValueError("nested too deeply") from None
        found.append(value)
    if not found:
        raise ValueError("no JSON")
    return found


def values_in(text: str) -> Iterator[tuple[str, list[Value]]]:
    """The parts of a text, each with its JSON objects and arrays, or none.

    A broken or truncated value is read as far as possible.
    """
    for part, source in sources(text):
        try:
            values = parse(source)
        except ValueError:  # it has none, or they are too deep to be read here
            values = []
        yield part, values


@Memo  # since a text is recognised before it is read
def sources(text: str) -> Sequence[tuple[str, str]]:
    """The parts of a text, each with its objects and arrays as valid JSON, or nothing.

    Values that Python printed are read too, if the text has nothing else.
    """
    for written in (str, _from_python):
        source = written(text)
        try:
            parse(source, CHECKER)
        except ValueError:
            continue
        return ((text, source),)
    return tuple(_sources(text))


def _from_python(text: str) -> str:
    """A text that may consist of Python's lists, tuples and dictionaries, as JSON; else nothing."""
    bare = text.strip()
    if not bare.startswith(("[", "(", "{")) or not bare.endswith(("]", ")", "}")):
        return ""
    try:
        return _PRINTED.sub(_in_json, bare)
    except SyntaxError:  # an escape that Python does not know
        return ""


def _in_json(found: re.Match[str]) -> str:
    """A string, a word, a parenthesis or a call that Python printed, in JSON."""
    printed = found[0]
    if printed in _CONSTANTS:
        return _CONSTANTS[printed]
    if printed.endswith(")"):  # of a call or of a tuple
        return quote(printed) if printed[0].isidentifier() else "]"
    if printed[0] not in "\"'":
        return printed
    return quote(literal_eval(printed) if "\\" in printed else printed[1:-1])


def _sources(text: str) -> Iterator[tuple[str, str]]:
    told, at = 0, 0
    while found := _START.search(text, at):
        start = found.end() - 1 if found.group().lstrip() in ("{", "[") else found.start()
        source, end = _as_far_as_it_goes(text, start) if _SAYS.match(text, start) else ("", 0)
        if not source:  # nothing in what was read is a value: it is read once
            at = max(found.end(), end)
            continue
        yield text[told:start], ""
        yield text[start:end], source
        told = at = end
    yield text[told:], ""


def _as_far_as_it_goes(text: str, start: int) -> tuple[str, int]:
    """The value at the start without its broken end, or nothing; and the position after it.

    A string without an end has all that follows: no value begins in it. The part that is read grows
    until it is long enough, since an error counts all lines before it: with the whole text many
    errors would take quadratic time.
    """
    reach = _REACH
    while True:
        part = text[start : start + reach]
        try:
            size = CHECKER.raw_decode(part)[1]
        except RecursionError:  # too deep for any reader
            return "", start + reach
        except json.JSONDecodeError as error:
            stop, is_unended = max(error.pos, 1), error.msg.startswith(_UNENDED)
            stop += error.msg.startswith(_TRAILING)
        else:
            return part[:size], start + size
        if start + reach >= len(text) or not (is_unended or stop > reach - _LONGEST):
            break
        reach *= 4
    source = _mended(part, stop)
    try:
        says_something = CHECKER.raw_decode(source)[0]
    except (ValueError, RecursionError):
        says_something = False
    return source if says_something else "", len(text) if is_unended else start + stop


def _mended(part: str, stop: int) -> str:
    """The beginning of a value up to its last whole member before ``stop``, and closed there."""
    open_marks: list[str] = []
    whole = 0
    while mark := _BRACKET.match(part, whole, stop):
        sign, whole = mark[1], mark.end()
        if sign in "[{":
            open_marks.append("]" if sign == "[" else "}")
        elif open_marks:
            open_marks.pop()
    while comma := _COMMA_AHEAD.match(part, whole, stop):
        whole = comma.end()
    return part[:whole].rstrip(", \t\r\n") + "".join(open_marks[::-1])


def minified(text: str) -> str:
    """The JSON text without the white space between its tokens."""
    return "".join(_TOKEN.findall(text.removeprefix("\ufeff")))


def quote(text: str) -> str:
    """The string as JSON; only characters that UTF-8 cannot encode are escaped."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(text)
    return _WRITER.encode(text)


def dump(value: Value) -> str:
    """The value as minified JSON, at any depth."""
    pieces: list[str] = []
    todo: list[Value] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            pieces.append(node if isinstance(node, Literal) else quote(node))
        elif isinstance(node, dict):
            pieces.append("{")
            todo.append(_CLOSE_OBJECT)
            for key, child in reversed(node.items()):
                todo += (child, Literal(f"{quote(key)}:"), _COMMA)
            if node:  # no comma before the first
                todo.pop()
        elif isinstance(node, list):
            pieces.append("[")
            todo.append(_CLOSE_LIST)
            for child in reversed(node):
                todo += (child, _COMMA)
            if node:
                todo.pop()
        else:
            pieces.append(_WORDS[node])
    return "".join(pieces)


_COMMA, _CLOSE_OBJECT, _CLOSE_LIST = Literal(","), Literal("}"), Literal("]")
_WORDS = {None: "null", True: "true", False: "false"}
