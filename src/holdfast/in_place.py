"""Shortening old tool outputs in the caller's own list.

For agents that keep their history in one list. In a list of dictionaries, a new dictionary replaces
the old one; no dictionary is changed. In objects with ``parts`` whose entries have ``part_kind``
and ``content``, the ``content`` is set. Both can be undone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.calls.lineup import Lineup
from holdfast.compressors.prune import Prune
from holdfast.designs import tunacode
from holdfast.formats import named, read
from holdfast.kernel.apply import apply
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Attempt, run, run_batch
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import InputError
from holdfast.kernel.messages import Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import check_type
from holdfast.providers import ModelSpec
from holdfast.runtime import Runtime, answers
from holdfast.stores import open_store
from holdfast.stores.protocols import as_store_errors, check_unlocked
from holdfast.tokens import Counter, meter_for, window_of

_WINDOW = 200_000  # tokens: tunacode's window for a model that it does not know (T.4)


@dataclass(frozen=True, slots=True)
class Cleared:
    """One output that was cleared.

    ``before`` is the old message, or the old content of the object's part ``part``; that is None
    where the message was replaced.
    """

    index: int
    part: int | None
    before: Any


@dataclass(frozen=True, slots=True)
class Pruned:
    """The list, and the number of tokens that were removed; unpacks into these two."""

    messages: list[Any]
    reclaimed: int
    cleared: tuple[Cleared, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.messages, self.reclaimed))

    def undo(self) -> list[Any]:
        """Put everything back, and return the list."""
        for each in self.cleared:
            if each.part is None:
                self.messages[each.index] = each.before
            else:
                self.messages[each.index].parts[each.part].content = each.before
        return self.messages


def prune_old_tool_outputs(
    messages: list[Any],
    model: str | None = None,
    *,
    prune: Prune | None = None,
    counter: Counter = None,
    llm: ModelSpec | None = None,
    store: str | KeyValueStore | None = None,
) -> Pruned:
    """Clear old tool outputs in the list itself.

    ``prune`` sets the thresholds; by default they are those of tunacode. If it asks for summaries,
    ``llm`` writes them; with a ``store``, originals are kept and the texts name their keys. A part
    that cannot be set is left alone and counts 0. Raises InputError for messages of an unknown
    form.
    """
    _check(messages, prune)
    if not messages:
        return Pruned(messages, 0)
    meter = meter_for(model, counter)
    objects = all(map(_has_kinds, messages))
    transcript = _read_objects(messages) if objects else read(messages)[2]
    window = window_of(model) or _WINDOW
    lineup = Lineup.of(meter.text, llm)
    kept = None if store is None else open_store(store)
    if kept is not None:
        with as_store_errors():
            check_unlocked(kept)
    runtime = Runtime(lineup, kept)
    allowance = Allowance(
        window,
        window,
        window,
        meter,
        stored=store is not None,
        writer=lineup.writer,
        writer_window=lineup.writer_window,
    )
    (plan,) = run(
        run_batch([Attempt(prune or tunacode(), transcript, allowance)]),
        lambda asked: answers([(runtime, request) for _, request in asked]),
    )
    replaces = [edit for edit in plan.edits if isinstance(edit, Replace | Offload)]
    if objects:
        done, cleared = _clear_parts(messages, replaces)
    else:
        done, applied = replaces, apply(transcript, replaces)
        cleared = [Cleared(i, None, messages[i]) for i in applied.taken]
        for i in applied.taken:
            messages[i] = applied.transcript.messages[i].original
    reclaimed = sum(
        max(0, meter.part(transcript.messages[edit.index].parts[edit.part]) - meter.text(edit.text))
        for edit in done
    )
    return Pruned(messages, reclaimed, tuple(cleared))


def _check(messages: object, prune: object) -> None:
    if not isinstance(messages, list):
        raise InputError(
            f"only a list can be changed in place, not a {type(messages).__name__}",
            place="messages",
            advice="give the list that you hold, or use compress",
        )
    check_type(prune, Prune | None, "prune")


def _has_kinds(message: Any) -> bool:
    """Whether it is an object with parts that tell their kind; those of Google's package do not."""
    parts: Sequence[object] | None = getattr(message, "parts", None)
    return isinstance(parts, Sequence) and all(hasattr(part, "part_kind") for part in parts)


def _clear_parts(
    messages: list[Any], replaces: Sequence[Replace | Offload]
) -> tuple[list[Replace | Offload], list[Cleared]]:
    """Set the contents of parts; the edits that could be made, and what was there before."""
    cleared: list[Cleared] = []
    done: list[Replace | Offload] = []
    for edit in replaces:
        part = messages[edit.index].parts[edit.part]
        before = part.content
        try:
            part.content = edit.text
        # what frozen dataclasses, named tuples and models raise
        except (AttributeError, TypeError, ValueError):
            continue
        cleared.append(Cleared(edit.index, edit.part, before))
        done.append(edit)
    return done, cleared


def _read_objects(messages: Sequence[Any]) -> Transcript:
    """The objects as messages, which are never written."""
    wire = named("plain")
    return Transcript(
        tuple(
            Message(_role(each), each, wire, parts=tuple(map(_part, each.parts)), aside="")
            for each in messages
        ),
        wire,
    )


def _role(message: Any) -> Role:
    kinds = {getattr(part, "part_kind", "") for part in message.parts}
    if "user-prompt" in kinds:
        return "user"
    if "tool-return" in kinds:
        return "tool"
    return "system" if kinds == {"system-prompt"} else "assistant"


def _part(part: Any) -> Part:
    kind, content = getattr(part, "part_kind", ""), getattr(part, "content", None)
    call_id = str(getattr(part, "tool_call_id", None) or "unknown")
    if kind == "tool-return" and hasattr(part, "content"):
        return ToolResult(call_id, "" if content is None else str(content))
    if kind == "tool-call":
        return ToolCall(call_id, str(getattr(part, "tool_name", "")), "{}")
    return Text("")
