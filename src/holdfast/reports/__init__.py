"""Reports on a result, message by message, as text or as a page, and the data of a report.

The data are each message before and after, its tokens, and its edits. Secrets are masked, even in
messages that keep them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from holdfast import tokens
from holdfast.formats import named
from holdfast.kernel.budget import Meter
from holdfast.kernel.edits import Drop, Edit, Insert, Offload, Replace
from holdfast.kernel.errors import InputError
from holdfast.kernel.messages import Media, Part, Reasoning, Role, ToolCall, ToolResult
from holdfast.kernel.registry import Registry, renamed_argument
from holdfast.kernel.transcript import Transcript
from holdfast.names import ReportForm
from holdfast.redact import redacted_text
from holdfast.result import INVALID, CompressionResult, Step, bare, check_result, restore, touched
from holdfast.text.visible import plain

REPORTS = Registry(
    "form of report",
    "reports",
    """
        text holdfast.reports.text:text_report
        html holdfast.reports.pages:html_report
    """,
)


@renamed_argument("format", "form")
def report(
    result: CompressionResult,
    form: ReportForm = "text",
    *,
    model: str | None = None,
    counter: tokens.Counter = None,
) -> str:
    """Return a report of what was done to each message, as ``text`` or as one ``html`` page.

    Messages are counted again, with the counter of the result unless another is given. Raises
    ConfigError for an unknown form, and InputError for anything but a result.
    """
    return written(account(result, model=model, counter=counter), form)


def written(told: "Account", form: str) -> str:
    """The report in this form."""
    write: Callable[[Account], str] = REPORTS.load(form)
    return write(told)


State = Literal["kept", "changed", "offloaded", "dropped", "inserted"]
STATES: tuple[State, ...] = get_args(State)


class Touch(NamedTuple):
    """An edit of a message: its step and its reason.

    ``key`` is the key of an offloaded original.
    """

    step: str
    state: State
    reason: str = ""
    key: str = ""


STATE_OF: Mapping[type[Edit], State] = {
    Drop: "dropped",
    Insert: "inserted",
    Offload: "offloaded",
    Replace: "changed",
}
"""The state of a message after an edit of this type; the first that it has met is its final one."""


@dataclass(slots=True)
class MessageAccount:
    """The history of one message; ``before`` and ``after`` are its positions.

    An inserted message has no ``before``, a dropped one no ``after``; its text there is empty and
    its tokens are 0. ``covers`` are the first and last original positions that an inserted message
    represents. ``role`` is tool for a message with tool results only, whatever its role in the
    format.
    """

    before: int | None
    after: int | None = None
    touches: list[Touch] = field(default_factory=list[Touch])
    covers: tuple[int, int] | None = None
    role: Role = "user"
    text_before: str = ""
    text_after: str = ""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def state(self) -> State:
        """Its final state; a message that was changed and then dropped is dropped."""
        met = {touch.state for touch in self.touches}
        for state in STATE_OF.values():
            if state in met:
                return state
        return "kept"

    @property
    def decided(self) -> Touch | None:
        """The last edit that led to the state; None for a kept message."""
        return next((touch for touch in reversed(self.touches) if touch.state == self.state), None)

    @property
    def position(self) -> str:
        """Its original position, or a plus sign for an inserted message."""
        return "+" if self.before is None else f"{self.before}"

    @property
    def why(self) -> str:
        """The deciding step, with its reason; empty for a kept message."""
        touch = self.decided
        if touch is None:
            return ""
        return f"{touch.step}: {plain(touch.reason)}" if touch.reason else touch.step


def journeys(result: CompressionResult) -> list[MessageAccount]:
    """Every original message and every inserted one that is left, in reading order.

    Dropped messages are listed at their original place. Texts and tokens are not filled in.
    """
    found = [MessageAccount(i) for i in range(result.metrics.messages_before)]
    for step in result.steps:
        _follow(step, found)
    for i, entry in enumerate([entry for entry in found if entry.state != "dropped"]):
        entry.after = i
    return [entry for entry in found if entry.before is not None or entry.after is not None]


def _follow(step: Step, entries: list[MessageAccount]) -> None:
    """Add the edits of a step to the messages that it met, and the messages that it inserted."""
    view = [entry for entry in entries if entry.state != "dropped"]
    for edit in step.edits:
        key = edit.key if isinstance(edit, Offload) else ""
        touch = Touch(step.name, STATE_OF[type(edit)], edit.reason, key)
        if isinstance(edit, Insert):
            made = MessageAccount(None, touches=[touch], covers=_covered(view, edit.covers))
            # by identity, since two inserted messages may be equal
            after = list(map(id, view[edit.at : edit.at + 1]))
            place = next((n for n, each in enumerate(entries) if id(each) in after), len(entries))
            entries.insert(place, made)
        else:
            for i in touched(edit):
                view[i].touches.append(touch)


def _covered(
    view: Sequence[MessageAccount], covers: tuple[int, int] | None
) -> tuple[int, int] | None:
    """The original positions of these messages, also of those that earlier inserts represent."""
    if covers is None:
        return None
    first, last = covers
    found: list[int] = []
    for entry in view[first : last + 1]:
        found += entry.covers or () if entry.before is None else (entry.before,)
    return (min(found), max(found)) if found else None


@dataclass(frozen=True, slots=True)
class Account:
    """A result, message by message; ``counter`` is the counter's name.

    ``beside`` is the number of tokens besides the messages (system prompt, tools, overhead); None
    if the messages were counted by another counter than the result's.
    """

    result: CompressionResult
    entries: tuple[MessageAccount, ...]
    counter: str
    beside: int | None

    @property
    def states(self) -> dict[State, int]:
        """The states of messages, with the number of messages in each."""
        found = Counter(entry.state for entry in self.entries)
        return {state: found[state] for state in STATES if state in found}

    @property
    def restorable(self) -> int:
        """The number of messages whose originals the result keeps."""
        return sum(entry.state not in ("kept", "inserted") for entry in self.entries)


def account(
    result: CompressionResult, *, model: str | None = None, counter: tokens.Counter = None
) -> Account:
    """The data of a report, counted as ``report`` does.

    Raises InputError for a result of messages that could not be read, or if it does not have the
    messages that its metrics count.
    """
    check_result(result)
    if result.reason == INVALID:
        raise InputError(f"there is nothing to report on: {result.detail}")
    # the caller's function cannot be found by its name here; the name is tried as a model's
    again = model if model or counter is not None else result.counter
    meter, form = tokens.meter_for(again or None, counter), named(result.format)
    before, after = (
        _counted(form.read(bare(each)), meter) for each in (restore(result), result.messages)
    )
    if len(before) != result.metrics.messages_before:
        raise InputError(
            "the result was changed",
            place="metrics.messages_before",
            advice="give it as --result or CompressionResult.to_json wrote it",
        )
    entries = journeys(result)
    for entry in entries:
        if entry.after is not None:
            entry.role, entry.text_after, entry.tokens_after = after[entry.after]
        if entry.before is not None:
            entry.role, entry.text_before, entry.tokens_before = before[entry.before]
    beside_before = result.metrics.tokens_before - sum(size for _, _, size in before)
    beside_after = result.metrics.tokens_after - sum(size for _, _, size in after)
    # masked messages do not have their original counts
    agreed = beside_before == beside_after or result.masked
    known = beside_after if agreed and beside_after >= 0 else None
    return Account(result, tuple(entries), meter.counter.name, known)


def _counted(read: Transcript, meter: Meter) -> list[tuple[Role, str, int]]:
    """The role of each message, its text without secrets, and its tokens."""
    return [
        (each.speaker, redacted_text("\n".join(map(_worded, each.parts)))[0], size)
        for each, size in zip(read.messages, meter.sizes(read), strict=True)
    ]


def _worded(part: Part) -> str:
    match part:
        case ToolCall():
            return f"{part.name}({part.arguments})"
        case Media():
            return f"[{' '.join(filter(None, (part.kind, part.media_type)))}]"
        case ToolResult():
            return "\n".join([part.text, *map(_worded, part.media)])
        case Reasoning():
            return f"[thinking] {part.text}"
        case _:
            return part.text
