"""The report as text, and differences between two texts."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

from holdfast.formats.rules import longest_rising
from holdfast.kernel.edits import Insert
from holdfast.kernel.ports import Accuracy
from holdfast.reports import STATE_OF, Account, MessageAccount
from holdfast.result import CompressionResult, Net, Step, touched
from holdfast.text.visible import GLANCE, amount, clip, one_line, pad, plain, visible

Kind = Literal["same", "gone", "new", "left_out"]
# characters of a terminal's line, as the VT100 has; if less of one is unchanged, all of it is shown
# as changed
_WORTH_SHOWING = 80


class DiffPiece(NamedTuple):
    """A part of a difference.

    ``same`` and ``gone`` together make the old text, ``same`` and ``new`` the new one. A part that
    ``folded`` left out is represented by a note.
    """

    kind: Kind
    text: str


def difference(old: str, new: str) -> list[DiffPiece]:
    """The difference of two texts, by lines.

    Lines that both texts have exactly once anchor the comparison (Bram Cohen's patience diff, one
    level deep). Between anchors, equal beginnings and ends are matched to the character.
    """
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    pieces: list[DiffPiece] = []
    at_a = at_b = 0
    times_a, times_b = Counter(a), Counter(b)
    place = {line: i for i, line in enumerate(b) if times_b[line] == 1}
    pairs = [(i, place[line]) for i, line in enumerate(a) if times_a[line] == 1 and line in place]
    # the longest run in the order of both
    anchors = [pairs[n] for n in sorted(longest_rising([j for _, j in pairs]))]
    for anchor_a, anchor_b in [*anchors, (len(a), len(b))]:
        pieces += _between("".join(a[at_a:anchor_a]), "".join(b[at_b:anchor_b]))
        pieces += [DiffPiece("same", line) for line in a[anchor_a : anchor_a + 1]]
        at_a, at_b = anchor_a + 1, anchor_b + 1
    told = filter(attrgetter("text"), pieces)
    return [
        DiffPiece(kind, "".join(piece.text for piece in group))
        for kind, group in groupby(told, attrgetter("kind"))
    ]


def folded(
    pieces: Sequence[DiffPiece], context: int = 3, most: int = 24, width: int = 600
) -> Iterator[DiffPiece]:
    """The difference with ``context`` lines around changes, at most ``most`` lines of each change.

    Lines are cut to ``width`` characters.
    """
    for n, piece in enumerate(pieces):
        head, tail = most - most // 3, most // 3
        if piece.kind == "same":
            head, tail = context if n else 0, context if n < len(pieces) - 1 else 0
        lines = [_narrow(line, width) for line in piece.text.splitlines()]
        hidden = len(lines) - head - tail
        if hidden > 1:
            if head:
                yield DiffPiece(piece.kind, "\n".join(lines[:head]))
            what = "unchanged" if piece.kind == "same" else "more"
            yield DiffPiece("left_out", f"{hidden:,} {what} lines")
            lines = lines[len(lines) - tail :]
        if lines:
            yield DiffPiece(piece.kind, "\n".join(lines))


def _narrow(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    room = max(width - 28, 2)  # the note between takes 28
    end = room // 3
    return f"{line[: room - end]} … {len(line) - room:,} characters … {line[len(line) - end :]}"


def _between(old: str, new: str) -> Iterator[DiffPiece]:
    """An equal beginning, the removed part, the new part, an equal end."""
    start = _shared_start(old, new)
    line = old.rfind("\n", 0, start) + 1
    if start - line < _WORTH_SHOWING:
        start = line
    end = _shared_start(old[start:][::-1], new[start:][::-1])
    line = old.find("\n", len(old) - end) + 1 or len(old)
    if line - (len(old) - end) < _WORTH_SHOWING:
        end = len(old) - line
    yield DiffPiece("same", old[:start])
    yield DiffPiece("gone", old[start : len(old) - end])
    yield DiffPiece("new", new[start : len(new) - end])
    yield DiffPiece("same", old[len(old) - end :])


def _shared_start(a: str, b: str) -> int:
    """The length of the equal beginning, found by halving, since comparing slices is fast."""
    lengths = range(1, min(len(a), len(b)) + 1)
    return bisect_left(lengths, True, key=lambda length: a[:length] != b[:length])


# cells of a report that is not shown on a terminal: figures of a message take some 45, and the rest
# are for its words
WIDTH = 110
# cells of the name of a step, twice the longest of the library; callers' own may be longer
_LONGEST_NAME = 40
_SHORTEST = 20  # cells that a preview has at least, also on a narrow terminal: three words
_SIGNS = {"gone": "- ", "new": "+ ", "same": "  ", "left_out": "  ... "}


def text_report(account: Account, width: int = WIDTH) -> str:
    """Totals, steps, and a line for each message with its changes; at most ``width`` cells wide."""
    lines = [*overview(account.result), "", *_messages(account, width), "", *_originals(account)]
    return "\n".join(lines) + "\n"


def overview(result: CompressionResult) -> Iterator[str]:
    """The outcome, and a line for each step."""
    metrics = result.metrics
    tokens = _change(metrics.tokens_before, metrics.tokens_after)
    tokens += f" tokens ({metrics.compression_ratio:.0%} left)"
    messages = _change(metrics.messages_before, metrics.messages_after)
    yield f"{one_line(result.strategy_name, _LONGEST_NAME)}: {tokens}, {messages} messages"
    yield f"budget {result.limit:,} tokens: {verdict(result)}"
    yield f"tokens are {trust(result.accuracy)}"
    if result.net:
        yield worth(result.net)
    if result.steps:
        yield ""
        yield from steps(result)


def worth(net: Net) -> str:
    """What the compression gains."""
    less = f"cache lost {net.lost:,.4f}, models {net.spent:,.4f}"
    return f"${net.net:,.4f} net: saved {net.saved:,.4f}, {less}"


def steps(result: CompressionResult) -> Iterator[str]:
    """A line for each step."""
    names = [one_line(step.name, _LONGEST_NAME) for step in result.steps]
    name = max(map(len, names), default=0)
    spans = [
        _change(step.before, step.after) if step.applied else f"{step.before:,}"
        for step in result.steps
    ]
    span = max(map(len, spans), default=0)
    for shown, sizes, step in zip(names, spans, result.steps, strict=True):
        yield f"  {shown:<{name}}  {sizes:>{span}}  {outcome(step)}"


def verdict(result: CompressionResult) -> str:
    """Whether the budget is met, or which one could be."""
    if not result.budget_met:
        least = f"; {result.smallest:,} would do" if result.smallest else ""
        return f"NOT met, {result.detail or result.reason}{least}"
    fits = "nothing had to go, " if result.reason == "within_budget" else ""
    degraded = "; a step failed and cheaper ones took over" if result.degraded else ""
    return f"met, {fits}{result.utilization}% of it used{degraded}"


def trust(accuracy: Accuracy) -> str:
    """How exact the counts are."""
    if accuracy.kind == "exact":
        return "counted exactly"
    if accuracy.kind == "unknown":
        return "an estimate whose error is not known"
    if accuracy.error is None:
        return "approximate"
    return f"approximate, usually within {accuracy.error:.0%}"


def outcome(step: Step) -> str:
    """What a step did, in numbers and words."""
    words = one_line(step.detail or plain(step.reason), GLANCE)
    if not step.applied:
        return f"{'failed' if step.status == 'failed' else 'not applied'}: {words}"
    done = ", ".join(f"{number:,} {kind}" for kind, number in edits_by_kind(step).items())
    return f"{done} ({words})" if words else done


def spoken_for(first: int, last: int) -> str:
    """The range of messages that an inserted one represents."""
    return f"message {first}" if first == last else f"messages {first} to {last}"


def edits_by_kind(step: Step) -> dict[str, int]:
    """The numbers of messages that the step dropped, changed, offloaded and inserted.

    Kinds without a message are left out.
    """
    numbers: Counter[str] = Counter()
    met: set[tuple[str, int]] = set()
    for edit in step.edits:
        kind = STATE_OF[type(edit)]
        if isinstance(edit, Insert):
            numbers[kind] += 1
        else:
            places = {(kind, i) for i in touched(edit)}
            numbers[kind] += len(places - met)
            met |= places
    return dict(numbers)


def _change(before: int, after: int) -> str:
    return f"{before:,} -> {after:,}"


def _messages(account: Account, width: int) -> Iterator[str]:
    entries = account.entries
    sizes = [
        f"{entry.tokens_after:,}"
        if entry.state == "kept"
        else _change(entry.tokens_before, entry.tokens_after)
        for entry in entries
    ]
    size = max(map(len, sizes), default=0)
    why = max((len(entry.why) for entry in entries if entry.state == "dropped"), default=0)
    place = max(len(f"{len(entries)}"), 3)
    preview = max(width - place - 9 - 9 - size - why - 10, _SHORTEST)
    for entry, own in zip(entries, sizes, strict=True):
        start = f"{entry.position:>{place}}  {entry.role:<9}  {entry.state:<9}"
        yield clip(f"{start}  {own:>{size}}  {_words(entry, preview, width)}", width)
        for line in _inside(entry, width - place - 8):
            yield f"{'':{place + 4}}{clip(line, width - place - 4)}"
    if account.beside is None:
        yield f"the messages are counted by {account.counter}, the totals above by another counter"
    elif account.beside:
        beside = f"{account.beside:>{size},}  system prompt, tools, overhead"
        yield f"{'':>{place}}  {'beside the messages':<20}  {beside}"


def _words(entry: MessageAccount, preview: int, width: int) -> str:
    """The beginning of a kept message, or the reason for a change."""
    if entry.state == "kept":
        return one_line(entry.text_after, width)
    if entry.state == "dropped":
        return f"{pad(one_line(entry.text_before, preview), preview)}  {one_line(entry.why, width)}"
    return one_line(entry.why, width)


def _inside(entry: MessageAccount, width: int) -> Iterator[str]:
    """Some of the removed and new lines of a changed message."""
    if entry.state == "inserted":
        if entry.covers:
            yield f"replaces {spoken_for(*entry.covers)}"
        yield from _marked([DiffPiece("new", entry.text_after)], width)
    elif entry.state in ("changed", "offloaded"):
        yield from _marked(difference(entry.text_before, entry.text_after), width)
        touch = entry.decided
        if touch is not None and touch.key:
            yield f"the original is kept under {visible(touch.key)}"


def _marked(pieces: list[DiffPiece], width: int) -> Iterator[str]:
    for piece in folded(pieces, context=1, most=3, width=width):
        for line in visible(piece.text).split("\n"):
            yield f"{_SIGNS[piece.kind]}{line}"


def exactness(result: CompressionResult) -> str:
    """How exactly ``restore`` returns what was removed."""
    masked = len(result.masked)
    return f"exactly, but for the secrets masked in {masked:,} of them" if masked else "exactly"


def _originals(account: Account) -> Iterator[str]:
    states = [f"{number:,} {state}" for state, number in account.states.items()]
    yield ", ".join(states or ["no messages"])
    if account.restorable:
        originals = f"The originals of {amount(account.restorable, 'message')} are in the result"
        yield f"{originals}, and come back {exactness(account.result)}:"
        yield "holdfast.restore(result), or `holdfast restore` on the file of `compress --result`."
