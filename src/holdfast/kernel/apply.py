"""Applying edits to a transcript, and undoing them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .edits import Drop, Edit, Insert, Offload, Replace
from .errors import IntegrityError
from .messages import SUMMARY, Message, Text, Texts, ToolCall, ToolResult
from .transcript import Transcript, new_violation

_ROUNDS = 3  # repairing one rule may break another; generated conversations need 2


class Applied(NamedTuple):
    """The transcript after a batch of edits, and the originals that they removed."""

    before: Transcript
    transcript: Transcript
    edits: tuple[Edit, ...]
    taken: Mapping[int, object]
    """The caller's objects that were dropped or changed, by position in the transcript before."""

    origins: tuple[int | None, ...]
    """Position after -> position before, None for an inserted message."""


def apply(transcript: Transcript, edits: Sequence[Edit]) -> Applied:
    """Return the transcript after the edits. Raises IntegrityError if one of them breaks a rule."""
    if not edits:
        return Applied(transcript, transcript, (), {}, tuple(range(len(transcript))))
    edits = [_sealed(transcript, edit) for edit in edits]
    applied = mend(transcript, edits)
    for i in sorted(dropped_by(edits) & transcript.protected):
        raise IntegrityError("this message may not be dropped", rule="protected_stays", index=i)
    after = applied.transcript.messages
    # a new text breaks no rule unless it ends in white space
    if any(isinstance(edit, Drop | Insert) or not edit.text[-1:].strip() for edit in edits):
        broken = new_violation(transcript.rules, transcript.messages, after, applied.origins)
        if broken is not None:
            raise IntegrityError(broken.problem, rule=broken.rule, index=broken.index)
    return applied


def mend(transcript: Transcript, edits: Sequence[Edit]) -> Applied:
    """Return the transcript after a repair's edits, which may break other rules."""
    before = transcript.messages
    dropped, texts, inserts = _sorted(transcript, edits)
    said = list(before)
    for i, new in texts.items():
        said[i] = before[i].saying(new)
    left = [i for i in range(len(before)) if i not in dropped]
    origins: list[int | None] = [*left]
    messages = list(map(said.__getitem__, left))
    # from the end, so that the places of the others stay the same
    for at in sorted(inserts, reverse=True):
        place = at - sum(i < at for i in dropped)
        messages[place:place] = [_inserted(transcript, insert) for insert in inserts[at]]
        origins[place:place] = [None] * len(inserts[at])
    taken = {i: before[i].original for i in sorted([*dropped, *texts])}
    if dropped or inserts:
        pins = transcript.pinned
        pinned = frozenset([now for now, old in enumerate(origins) if old in pins] if pins else ())
        after = replace(transcript, messages=tuple(messages), pinned=pinned)
    else:
        after = transcript.reworded(tuple(messages))
    return Applied(transcript, after, tuple(edits), taken, tuple(origins))


def _inserted(transcript: Transcript, insert: Insert) -> Message:
    """The message of an insert, which is composed unless the edit has it."""
    wire, original, plain = transcript.wire, insert.original, None
    if original is None:
        original, plain = wire.compose(insert.role, insert.text), insert.text
    ours = insert.covers is not None and insert.text.startswith(SUMMARY)
    return Message(wire.role(original), original, wire, plain, ours=ours)


def repairs(transcript: Transcript) -> list[tuple[str, Applied]]:
    """Apply the repairs of the rules until all hold or nothing changes; each with its rule."""
    done: list[tuple[str, Applied]] = []
    for _ in range(_ROUNDS):
        before = transcript
        for rule in transcript.rules:
            if any(rule.violations(transcript.messages)):
                edits = rule.repair(transcript.messages)
                if edits:
                    applied = mend(transcript, edits)
                    transcript = applied.transcript
                    done.append((rule.name, applied))
        if transcript is before:
            break
    return done


def dropped_by(edits: Sequence[Edit]) -> set[int]:
    """The positions that these edits drop."""
    return {i for edit in edits if isinstance(edit, Drop) for i in edit.indices}


def undo(
    after: Sequence[object], edits: Sequence[Edit], taken: Mapping[int, object]
) -> list[object]:
    """The inverse of ``apply`` on the caller's objects."""
    inserts = Counter(edit.at for edit in edits if isinstance(edit, Insert))
    dropped = dropped_by(edits)
    length = len(after) - inserts.total() + len(dropped)
    before: list[object] = []
    position = 0
    for i in range(length):
        position += inserts[i]
        before.append(taken[i] if i in dropped else taken.get(i, after[position]))
        position += i not in dropped
    return before


def _sealed(transcript: Transcript, edit: Edit) -> Edit:
    """The edit with its text signed, if it is a note or a summary."""
    if transcript.seal is None or isinstance(edit, Drop | Offload):
        return edit
    if isinstance(edit, Insert):
        role = edit.role
    elif 0 <= edit.index < len(transcript) and transcript.messages[edit.index].ours:
        role = transcript.messages[edit.index].role
    else:
        return edit
    return replace(edit, text=transcript.seal.sealed(edit.text, role))


def _sorted(
    transcript: Transcript, edits: Sequence[Edit]
) -> tuple[set[int], Mapping[int, Texts], Mapping[int, Sequence[Insert]]]:
    """The dropped positions, the new texts by position and part, and the inserts by position."""
    dropped = dropped_by(edits)
    texts: dict[int, dict[int, str]] = {}
    inserts: dict[int, list[Insert]] = {}
    for edit in edits:
        if isinstance(edit, Insert):
            _within(edit.at, len(transcript) + 1)
            inserts.setdefault(edit.at, []).append(edit)
        elif not isinstance(edit, Drop):
            _check_text(transcript, edit)
            texts.setdefault(edit.index, {})[edit.part] = edit.text
    for i in (min(dropped), max(dropped)) if dropped else ():
        _within(i, len(transcript))
    for i in sorted(dropped & texts.keys()):
        raise IntegrityError(
            "one edit drops it and another changes it", rule="one_edit_a_message", index=i
        )
    return dropped, texts, inserts


def _within(index: int, stop: int) -> None:
    if not 0 <= index < stop:
        raise IntegrityError("there is no such message", rule="positions_exist", index=index)


def _check_text(transcript: Transcript, edit: Replace | Offload) -> None:
    """Only tool calls, results and assistant text may be reworded, unless the edit allows more."""
    _within(edit.index, len(transcript))
    message = transcript.messages[edit.index]
    if not 0 <= edit.part < len(message.parts):
        raise IntegrityError(
            f"it has no part {edit.part}", rule="positions_exist", index=edit.index
        )
    part = message.parts[edit.part]
    if isinstance(part, ToolCall | ToolResult):
        return
    asked = isinstance(edit, Replace) and edit.asked
    if isinstance(part, Text) and (asked or message.role in ("assistant", "tool")):
        return
    problem = f"the text of a {message.role} message is never reworded"
    if not isinstance(part, Text):
        problem = f"a part of type {type(part).__name__} is never changed"
    raise IntegrityError(problem, rule="words_are_kept", index=edit.index)
