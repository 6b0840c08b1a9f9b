"""Items of tools that a vendor runs itself, such as a web search: no format reads them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.kernel.messages import Opaque, Part

from .failures import reports_failure
from .json_values import Value, dump, parse
from .memo import Memo
from .opaque import elide

TIES = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})
"""Fields that tie a tool call to its result."""
_NAMES = ("name", "tool_name", "type", "part_kind")
"""Fields with the name of an item, the most specific first."""
_BESIDE = TIES.union(_NAMES)
_STATE = ("status", "error", "outcome")
"""Fields in which a vendor says whether its tool succeeded."""


class Item(NamedTuple):
    """An item: its name, its other fields as JSON, and the ids that it shares with its result."""

    name: str
    text: str
    ids: Sequence[str] = ()
    failed: bool = False
    """Whether it says that its tool failed."""

    @property
    def told(self) -> str:
        """Its name before its text."""
        return f"{self.name} {self.text}".strip()


def items_in(parts: Iterable[Part]) -> list[Item]:
    """The items among the parts of a message."""
    return [item_of(part.text) for part in parts if isinstance(part, Opaque)]


@Memo
def item_of(text: str) -> Item:
    """The item that is written as this JSON; encoded data is replaced by its description."""
    try:
        (value,) = parse(text)
    except ValueError:  # no JSON, or several
        return Item("", elide(text))
    name = ""
    if isinstance(value, dict) and len(value) == 1:  # ``{"executableCode": {"code": ...}}``
        ((name, value),) = value.items()
    if not isinstance(value, dict):
        return Item("", elide(text))
    ids = [each for field in sorted(TIES) if isinstance(each := value.get(field), str)]
    names = [each for field in _NAMES if isinstance(each := value.get(field), str)]
    told: dict[str, Value] = {  # the fields that say something
        field: each
        for field, each in value.items()
        if field not in _BESIDE and each not in (None, "", [], {})
    }
    only = next(iter(told.values())) if len(told) == 1 else None
    text = dump(only if isinstance(only, dict | list) else told)
    state = {field: value[field] for field in _STATE if field in value}
    failed = value.get("is_error") is True or reports_failure(dump(state))
    return Item(next(iter(names), name), elide(text), tuple(ids), failed)
