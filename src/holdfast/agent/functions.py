"""Plain Python functions as tools: the schema is made from the signature and the docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Generic,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import msgspec

from holdfast.formats.convert import tool_schema
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.names import ToolProvider

F = TypeVar("F", bound=Callable[..., Any])
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class PlainTool(Generic[F]):
    """A function that a model may call; ``function`` is the function itself."""

    schema: Mapping[str, Any]
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
            advice = "give the arguments that the schema of the tool describes"
            raise InputError(str(fault), place=self.arguments.__name__, advice=advice) from fault
        named = {name: getattr(read, name) for name in self.arguments.__struct_fields__}
        return self.function(**named)


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

    def made(given: Callable[..., Any]) -> PlainTool[Any]:
        return _made(given, provider)

    return made if function is None else made(function)


def _made(function: Callable[..., Any], provider: ToolProvider) -> PlainTool[Any]:
    name = getattr(function, "__name__", "")
    place = f"tool {name}".strip()
    hints: dict[str, Any] = {}
    try:
        hints = get_type_hints(function, include_extras=True)
        given = inspect.signature(function).parameters if name.isidentifier() else None
    except (TypeError, ValueError):
        given = None
    except NameError as fault:
        advice = "define the type at the top of the module"
        raise ConfigError(f"a type is not known: {fault}", place=place, advice=advice) from fault
    if given is None:
        problem = "this is not a function with a name and arguments"
        advice = "write it with def: its name and docstring tell the model what it does"
        raise ConfigError(problem, place=place, advice=advice)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in given.values():
        if parameter.kind not in _NAMED:
            advice = "give each argument a name"
            problem = f"a model cannot give {str(parameter)!r}"
            raise ConfigError(problem, place=place, advice=advice)
        kind = _described(hints.get(parameter.name, Any))
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    try:
        arguments = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
        _, parts = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    except (TypeError, ValueError) as fault:
        advice = "use types that JSON has, dataclasses or TypedDict"
        problem = str(fault).splitlines()[-1]
        raise ConfigError(problem, place=place, advice=advice) from fault
    parameters = {key: value for key, value in parts.pop(name).items() if key != "title"}
    if parts:
        parameters["$defs"] = parts
    purpose = inspect.getdoc(function) or ""
    return PlainTool(tool_schema(provider, name, purpose, parameters), function, arguments)


def _described(kind: Any) -> Any:
    """The type; text in its ``Annotated`` becomes the description in the schema."""
    if get_origin(kind) is not Annotated:
        return kind
    inner, *notes = get_args(kind)
    told = [
        msgspec.Meta(description=note) if isinstance(note, str) else note
        for note in cast("list[object]", notes)
    ]
    return cast("Any", Annotated)[(inner, *told)]
