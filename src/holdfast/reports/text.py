"""The report as lines for a terminal, a log or a mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from holdfast.kernel.edits import Drop, Edit, Insert, Offload
from holdfast.kernel.ports import Accuracy
from holdfast.result import CompressionResult, Step

from .account import Account, Entry
from .difference import Piece, difference, folded
from .visible import amount, clip, one_line, pad, plain, visible

WIDTH = 110
_LONGEST_NAME = 40  # cells of the name of a step
_LONGEST_DETAIL = 200
_SHORTEST = 20  # cells of a preview
_SIGNS = {"gone": "- ", "new": "+ ", "same": "  ", "left_out": "  ... "}


def text_report(account: Account, width: int = WIDTH) -> str:
    """Totals, steps, and a line a message with what changed in it; at most ``width`` cells wide."""
    lines = [*overview(account.result), "", *_messages(account, width), "", *_originals(account)]
    return "\n".join(lines) + "\n"


def overview(result: CompressionResult) -> Iterator[str]:
    """What came of it as a whole, and a line a step."""
    metrics, usage = result.metrics, result.usage
    tokens = _change(metrics.tokens_before, metrics.tokens_after)
    messages = _change(metrics.messages_before, metrics.messages_after)
    left = f"{metrics.compression_ratio:.0%} left"
    yield f"{one_line(result.strategy_name, _LONGEST_NAME)}: {tokens} tokens ({left}), {messages} messages"
    yield f"budget {usage.limit:,} tokens: {verdict(result)}"
    yield f"tokens are {trust(result.accuracy)}"
    if result.steps:
        yield ""
        yield from steps(result)


def steps(result: CompressionResult) -> Iterator[str]:
    """A line a step."""
    names = [one_line(step.name, _LONGEST_NAME) for step in result.steps]
    name = max(map(len, names), default=0)
    span = max((len(_span(step)) for step in result.steps), default=0)
    for shown, step in zip(names, result.steps, strict=True):
        yield f"  {shown:<{name}}  {_span(step):>{span}}  {told(step)}"


def verdict(result: CompressionResult) -> str:
    """Whether the budget is met, and what would do if not."""
    if not result.budget_met:
        least = f"; {result.smallest:,} would do" if result.smallest else ""
        return f"NOT met, {result.detail or result.reason}{least}"
    fits = "nothing had to go, " if result.reason == "within_budget" else ""
    degraded = "; a step failed and cheaper ones took over" if result.degraded else ""
    return f"met, {fits}{result.usage.utilization}% of it used{degraded}"


def trust(accuracy: Accuracy) -> str:
    """How far the counts can be trusted."""
    if accuracy.kind == "exact":
        return "counted exactly"
    if accuracy.kind == "unknown":
        return "an estimate whose error is not known"
    return "approximate" if accuracy.error is None else f"approximate, usually within {accuracy.error:.0%}"


def told(step: Step) -> str:
    """What a step did, in numbers and words."""
    words = one_line(step.detail or plain(step.reason), _LONGEST_DETAIL)
    if step.status == "failed":
        return f"failed: {words}"
    if not step.applied:
        return f"not applied: {words}"
    done = ", ".join(f"{number:,} {kind}" for kind, number in edits_by_kind(step).items())
    return f"{done} ({words})" if words else done


def spoken_for(first: int, last: int) -> str:
    """The messages that an inserted one speaks for."""
    return f"message {first}" if first == last else f"messages {first} to {last}"


def edits_by_kind(step: Step) -> dict[str, int]:
    """How many messages the step dropped, changed, offloaded and inserted; a kind that is absent is left out."""
    numbers: Counter[str] = Counter()
    met: set[tuple[str, int]] = set()
    for edit in step.edits:
        kind, places = _places(edit)
        numbers[kind] += len(places) if kind == "inserted" else len({(kind, i) for i in places} - met)
        met.update((kind, i) for i in places)
    return dict(numbers)


def _places(edit: Edit) -> tuple[str, tuple[int, ...]]:
    if isinstance(edit, Drop):
        return "dropped", edit.indices
    if isinstance(edit, Insert):
        return "inserted", (edit.at,)
    return ("offloaded" if isinstance(edit, Offload) else "changed"), (edit.index,)


def _span(step: Step) -> str:
    return _change(step.before, step.after) if step.applied else f"{step.before:,}"


def _change(before: int, after: int) -> str:
    return f"{before:,} -> {after:,}"


def _messages(account: Account, width: int) -> Iterator[str]:
    entries = account.entries
    size = max((len(_size(entry)) for entry in entries), default=0)
    why = max((len(entry.why) for entry in entries if entry.state == "dropped"), default=0)
    place = max(len(f"{len(entries)}"), 3)
    preview = max(width - place - 9 - 9 - size - why - 10, _SHORTEST)
    for entry in entries:
        position = "+" if entry.journey.before is None else f"{entry.journey.before}"
        start = f"{position:>{place}}  {entry.role:<9}  {entry.state:<9}  {_size(entry):>{size}}  "
        yield clip(f"{start}{_words(entry, preview, width)}", width)
        for line in _inside(entry, width - place - 8):
            yield f"{'':{place + 4}}{clip(line, width - place - 4)}"
    if account.beside is None:
        yield f"the messages are counted by {account.counter}, the totals above by another counter"
    elif account.beside:
        beside = f"{account.beside:>{size},}  system prompt, tools, overhead"
        yield f"{'':>{place}}  {'beside the messages':<20}  {beside}"


def _words(entry: Entry, preview: int, width: int) -> str:
    """What a kept message says; why another one is not what it was."""
    if entry.state == "kept":
        return one_line(entry.text_after, width)
    if entry.state == "dropped":
        return f"{pad(one_line(entry.text_before, preview), preview)}  {one_line(entry.why, width)}"
    return one_line(entry.why, width)


def _size(entry: Entry) -> str:
    if entry.state == "kept":
        return f"{entry.tokens_after:,}"
    return _change(entry.tokens_before, entry.tokens_after)


def _inside(entry: Entry, width: int) -> Iterator[str]:
    """What changed within a message: the lines that went and those that came, a few of each."""
    if entry.state == "inserted":
        if entry.journey.covers:
            yield f"stands for {spoken_for(*entry.journey.covers)}"
        yield from _marked([Piece("new", entry.text_after)], width)
    elif entry.state in ("changed", "offloaded"):
        yield from _marked(difference(entry.text_before, entry.text_after), width)
        touch = entry.journey.decided
        if touch is not None and touch.key:
            yield f"the original is kept under {visible(touch.key)}"


def _marked(pieces: list[Piece], width: int) -> Iterator[str]:
    for piece in folded(pieces, context=1, most=3, width=width):
        for line in visible(piece.text).split("\n"):
            yield f"{_SIGNS[piece.kind]}{line}"


def exactness(result: CompressionResult) -> str:
    """How what was taken out comes back."""
    masked = len(result.masked)
    return f"exactly, but for the secrets masked in {masked:,} of them" if masked else "exactly"


def _originals(account: Account) -> Iterator[str]:
    result, states = account.result, account.states
    yield ", ".join(f"{number:,} {state}" for state, number in states.items()) or "no messages"
    away = sum(number for state, number in states.items() if state in ("dropped", "changed", "offloaded"))
    if away:
        yield f"The originals of {amount(away, 'message')} are in the result, and come back {exactness(result)}:"
        yield "holdfast.restore(result), or `holdfast restore` on the file that `compress --result` writes."
