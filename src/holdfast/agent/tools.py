"""Tools for a model: plain functions with schemas, and Holdfast's own to remember and to search."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import (
    Annotated,
    Any,
    Generic,
    Protocol,
    TypeVar,
    cast,
    get_origin,
    get_type_hints,
    overload,
)

import msgspec

from holdfast.content import shrink
from holdfast.formats.convert import Turn, arguments_schema, described, tool_schema, written
from holdfast.formats.payloads import Object, compact, is_list, is_object, what_is
from holdfast.kernel.budget import is_whole
from holdfast.kernel.errors import ConfigError, FormatError, HoldfastError, InputError
from holdfast.kernel.messages import ToolCall, ToolResult
from holdfast.kernel.ports import Room
from holdfast.kernel.registry import renamed_argument
from holdfast.kernel.transcript import Format
from holdfast.kernel.typed import object_of
from holdfast.memory.times import day_name
from holdfast.names import ToolProvider
from holdfast.redact import concealing
from holdfast.session import Session
from holdfast.session.recall import WORTH
from holdfast.text.opaque import media_type
from holdfast.text.visible import amount

F = TypeVar("F", bound=Callable[..., Any])
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class PlainTool(Generic[F]):
    """A function that a model may call; ``function`` is the function itself."""

    schema: Object
    function: F
    arguments: type[msgspec.Struct]
    """The type into which the JSON of a call is decoded."""

    def __call__(self, arguments: object) -> Any:
        """Call the function with ``arguments``, an object or its JSON.

        Raises InputError, naming the argument, if they do not match the signature.
        """
        try:
            if isinstance(arguments, str | bytes):
                read = msgspec.json.decode(arguments or "{}", type=self.arguments)
            else:
                read = msgspec.convert(arguments, self.arguments)
        except (msgspec.DecodeError, UnicodeError) as fault:
            raise InputError(
                str(fault),
                place=self.arguments.__name__,
                advice="give the arguments that the schema of the tool describes",
            ) from fault
        names = self.arguments.__struct_encode_fields__
        return self.function(**dict(zip(names, msgspec.structs.astuple(read), strict=True)))


@overload
def tool(function: F) -> PlainTool[F]: ...
@overload
def tool(*, provider: ToolProvider = "openai") -> Callable[[F], PlainTool[F]]: ...
def tool(function: Callable[..., Any] | None = None, *, provider: ToolProvider = "openai") -> Any:
    """Make a tool of a function, synchronous or not, for ``AgentLoop`` or a request of your own.

    Its name and docstring tell the model its purpose, its annotations the arguments; a text in
    ``Annotated[int, "in days"]`` describes one argument. ``provider`` is the vendor whose form the
    schema has. The arguments of a call are checked against the annotations before the function
    runs.

    Raises ConfigError for anything but a function with a name, and for arguments that no schema can
    describe.
    """
    if function is None:
        return partial(_made, provider=provider)
    return _made(function, provider)


def _made(function: Callable[..., Any], provider: ToolProvider) -> PlainTool[Any]:
    name = getattr(function, "__name__", "")
    place = f"tool {name}".strip()
    wrong = ConfigError(
        "this is not a function with a name and arguments",
        place=place,
        advice="write it with def: its name and docstring tell the model what it does",
    )
    if not name.isidentifier():
        raise wrong
    try:
        hints = get_type_hints(function, include_extras=True)
        given = inspect.signature(function).parameters.values()
    except NameError as fault:
        raise ConfigError(
            f"a type is not known: {fault}",
            place=place,
            advice="define the type at the top of the module",
        ) from fault
    except (TypeError, ValueError) as fault:
        raise wrong from fault
    fields: list[tuple[str, Any, Any]] = []
    renamed: dict[str, str] = {}
    for n, each in enumerate(given):
        if each.kind not in _NAMED:
            raise ConfigError(
                f"a model cannot give {str(each)!r}",
                place=place,
                advice="give each argument a name",
            )
        default = msgspec.NODEFAULT if each.default is each.empty else each.default
        # a type has names of its own that begin so
        field = f"argument_{n}{each.name}" if each.name.startswith("__") else each.name
        renamed[field] = each.name
        fields.append((field, _described(hints.get(each.name, Any)), default))
    try:
        arguments = msgspec.defstruct(
            name, fields, kw_only=True, forbid_unknown_fields=True, rename=renamed
        )
        _, parts = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    except (TypeError, ValueError) as fault:
        raise ConfigError(
            str(fault).splitlines()[-1],
            place=place,
            advice="use types that JSON has, dataclasses or TypedDict",
        ) from fault
    parameters = parts.pop(name)
    parameters.pop("title", None)
    if parts:
        parameters["$defs"] = parts
    purpose = inspect.getdoc(function) or ""
    return PlainTool(tool_schema(provider, name, purpose, parameters), function, arguments)


def _described(kind: Any) -> Any:
    """The type; text in its ``Annotated`` becomes the description in the schema."""
    if get_origin(kind) is not Annotated:
        return kind
    told = [
        msgspec.Meta(description=note) if isinstance(note, str) else note
        for note in kind.__metadata__
    ]
    return cast("Any", Annotated)[(kind.__origin__, *told)]


_BYTES: tuple[type[Any], ...] = (bytes, bytearray, memoryview)
_REPLACED = "\ufffd"  # replaces bytes that are not UTF-8
_ADVICE = "decorate a function with @holdfast.tool, or give a FunctionTool"


class Tool(Protocol):
    """A function that the model may call, and its schema."""

    @property
    def schema(self) -> Object:
        """The schema in the form of the model's provider."""
        ...

    def __call__(self, arguments: object, /) -> Any:
        """Run the tool; the answer, or an awaitable of it, is text or a value that JSON can hold.

        ``arguments`` are those of the call, as JSON.
        """
        ...


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool that is a function of the call's JSON arguments.

    Raises ConfigError if ``run`` is not a function.
    """

    schema: Object
    run: Callable[[str], Any]

    def __post_init__(self) -> None:
        function: object = self.run
        if not callable(function):
            raise ConfigError(
                f"{what_is(function)} is not a function",
                place="FunctionTool.run",
                advice="give a function of the arguments' JSON",
            )

    def __call__(self, arguments: object) -> Any:
        """The function's answer."""
        return self.run(str(arguments))


def checked(session: object) -> Session:
    """The session. Raises ConfigError for anything else."""
    if not isinstance(session, Session):
        raise ConfigError(
            f"{what_is(session)} is not a session",
            place="session",
            advice="give holdfast.Session(thread, budget=...)",
        )
    return session


def by_name(tools: object) -> dict[str, Tool]:
    """The tools by the names in their schemas.

    Raises ConfigError for anything but a tool, and for two tools with one name.
    """
    if not is_list(tools):
        raise ConfigError(
            f"{what_is(tools)} is not a list of tools",
            place="tools",
            advice="give a list of FunctionTool",
        )
    found: dict[str, Tool] = {}
    for n, tool in enumerate(tools):
        place, schema = f"tools[{n}]", getattr(tool, "schema", None)
        if isinstance(tool, type) or not callable(tool) or not is_object(schema):
            raise ConfigError(f"{what_is(tool)} is not a tool", place=place, advice=_ADVICE)
        name = next((name for name, _, _ in described([schema])), "")
        if not name:
            raise ConfigError(
                "its schema has no name",
                place=place,
                advice="give one such as "
                '{"type": "function", "function": {"name": "read", "parameters": {...}}}',
            )
        if name in found:
            raise ConfigError(
                f"there is another tool named {name!r}", place=place, advice="rename one of them"
            )
        found[name] = cast("Tool", tool)
    return found


def as_text(output: object) -> str:
    """The output of a tool as text: text unchanged, bytes decoded, anything else as JSON."""
    if isinstance(output, (str, *_BYTES)):
        return _as_text(output)
    try:
        return compact(output, otherwise=_as_text)
    except (FormatError, TypeError):  # of a name that JSON has not, such as a tuple
        return str(output)


def _as_text(value: Any) -> str:
    """A value that JSON cannot hold, as text; for binary data a line with its type and size."""
    if not isinstance(value, _BYTES):
        return str(value)
    data = bytes(value)
    text = data.decode("utf-8", "replace")
    strange = sum(one == _REPLACED or not (one.isprintable() or one.isspace()) for one in text)
    if strange * 2 <= len(text) - bool(strange) and not media_type(data):
        return text
    return f"[{amount(len(data), 'byte')} of {media_type(data) or 'data that is not text'}]"


def results(form: Format, calls: Sequence[ToolCall], outputs: Sequence[str]) -> list[Any]:
    """The messages that return these outputs, in the conversation's format."""
    found = tuple(ToolResult(call.id, output) for call, output in zip(calls, outputs, strict=True))
    return written(form, [Turn("tool", found)], {call.id: call.name for call in calls})


_REMEMBERING = (
    "Keep something in mind for the rest of this conversation, however long it gets: "
    "a decision, a constraint or "
    "a fact that later steps depend on."
)
_SEARCHING = (
    "Find again what was said or what a tool gave earlier in this conversation, word for word. "
    "Of what is older only notes and excerpts stand here; "
    "look for the original before you ask for it again or do work twice."
)
_OPENING = (
    "Found earlier in this conversation, best first; to read one whole, give its number as message:"
)
KEPT_IN_MIND = "It is kept in mind."
"""The answer to a model that keeps a note."""
_SHORTENED = "\n[shortened; give lines or a pattern to read the rest]"
_NOTHING = "Nothing in this conversation answers it."
_WRONG = 'give an object such as {"query": "which port?"}, or {"message": 12} to read one whole'
# tokens of an excerpt at least; an answer has twice as many. Excerpts of an answer of the usual
# length are longer, so that half and double give the same
_LEAST = 40
_HITS = 6  # messages in one answer: of its 2,000 tokens each has some 300, an excerpt of ten lines
ANSWER = 2_000
"""Tokens of a tool's answer unless the caller gives a number: a quarter of a view of 8,000."""

_REMEMBERED = arguments_schema("text string one fact, decision or instruction, in full", "text")
_SOUGHT = arguments_schema("""
    query string what to search for, in words that were probably used
    message integer the number of a message that was found, to read it whole
    lines string of that message a range of lines such as 10:80, counted from 1
    pattern string of that message only the lines that match this (RE2)
""")


@renamed_argument("format", "provider")
def remember_tool(session: Session, provider: ToolProvider = "openai") -> FunctionTool:
    """Return a tool with which a model keeps a note in every later view.

    Raises ConfigError for an unknown provider.
    """
    checked(session)

    def run(arguments: str) -> str:
        text = (object_of(arguments) or {}).get("text")
        if not isinstance(text, str) or not text.strip():
            return 'error: give an object such as {"text": "what to keep in mind"}'
        session.remember(text, by="model")
        return KEPT_IN_MIND

    return FunctionTool(tool_schema(provider, "remember", _REMEMBERING, _REMEMBERED), run)


@renamed_argument("format", "provider")
def search_tool(
    session: Session, provider: ToolProvider = "openai", *, most: int = ANSWER
) -> FunctionTool:
    """The tool by which a model searches the whole thread, also beyond its view.

    It answers with the originals that match the query best, or with one message by its number, in
    at most ``most`` tokens; longer texts are shortened by their kind of content. Raises ConfigError
    for a provider whose form of tools is not known.
    """
    checked(session)
    if not is_whole(most, 2 * _LEAST):
        raise ConfigError(
            f"{most!r} is too little for an answer",
            place="most",
            advice=f"give {2 * _LEAST} or more",
        )

    def run(arguments: str) -> str:
        try:
            return found_again(session, object_of(arguments) or {}, most)
        except HoldfastError as fault:
            return f"error: {fault}"

    return FunctionTool(tool_schema(provider, "search_conversation", _SEARCHING, _SOUGHT), run)


def found_again(session: Session, asked: Object, most: int = ANSWER) -> str:
    """The answer to a call of the search tool. Raises the HoldfastError that prevents it."""
    query, place, count = asked.get("query"), asked.get("message"), session.meter.text
    if isinstance(place, int):  # one message, or the requested part of it
        found = session.recall(place, lines=asked.get("lines"), pattern=asked.get("pattern"))
        text = concealing(redacts=session.redacts)(found)
        if count(text) <= most:
            return text or "[nothing of the message matches]"
        return shrink(text, Room(most - count(_SHORTENED), count)).text + _SHORTENED
    if isinstance(query, str) and query.strip():
        return _search_answer(session, query, most)
    raise InputError(_WRONG)


def _search_answer(session: Session, query: str, most: int) -> str:
    """The best messages, each with its number; they share the remaining tokens equally."""
    count = session.meter.text
    found = (hit for hit in session.search(query, 2 * _HITS) if hit.score >= WORTH)
    # the results of earlier searches are left out
    hits = [hit for hit in found if not hit.text.startswith(_OPENING)][:_HITS]
    lines, left = [_OPENING], most - count(f"{_OPENING}\n")
    for n, hit in enumerate(hits):
        day = "" if hit.said is None else day_name(hit.said)
        head = f"[{', '.join(filter(None, (f'message {hit.position}', hit.role, day)))}] "
        share = left // (len(hits) - n) - count(head)
        if share >= _LEAST or not n:
            lines.append(head + shrink(hit.text, Room(max(1, share), count, query)).text)
            left -= count(f"{lines[-1]}\n")
    while count("\n".join(lines)) > most and len(lines) > 1:
        lines.pop()
    return "\n".join(lines) if len(lines) > 1 else _NOTHING
