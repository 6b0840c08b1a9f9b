"""Tool outputs of a conversation, and shorter forms of them, of calls and of pasted texts."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import NamedTuple

from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.edits import Edit, Offload, Replace
from holdfast.kernel.messages import Media, Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Transcript
from holdfast.selection import until
from holdfast.text.fit import Count, choose, head_tail, water_level
from holdfast.text.json_values import dump, parse
from holdfast.text.memo import Memo
from holdfast.text.pieces import Reading, passages, writer
from holdfast.text.question import scores_of
from holdfast.text.visible import amount
from holdfast.text.words import passages_of

_MORE = 1.1  # times the mean score: what nearly all pieces have answers nothing; with 2, too few do
SHORTER_FORM = "the same value in a shorter form"
"""The reason for a lossless change."""


class Output(NamedTuple):
    """One tool output: its position, its tool, and its size in tokens."""

    position: int
    part: int
    tool: str
    text: str
    tokens: int

    @property
    def source(self) -> str:
        """What it is, such as ``output of grep``."""
        return f"output of {self.tool or 'a tool'}"

    def replaced(self, text: str, key: str = "", reason: str = "") -> Replace | Offload:
        """The edit that replaces the output, an Offload if the original has a key."""
        reason = reason or f"old {self.source}"
        if key:
            return Offload(self.position, self.part, text, key, reason)
        return Replace(self.position, self.part, text, reason)


def outputs(transcript: Transcript, allowance: Allowance, first: int = 0) -> list[Output]:
    """Every tool output from position ``first`` on."""
    called: dict[str, str] = {}  # some servers give the ids of calls out again
    found: list[Output] = []
    for i, message in enumerate(transcript.messages[first:], first):
        if message.is_speech:
            continue
        called |= {call.id: call.name for call in message.calls}
        if message.role not in ("tool", "user"):
            continue
        for at, part in enumerate(message.parts):
            name = called.get(part.call_id, "") if isinstance(part, ToolResult) else ""
            is_plain = message.role == "tool" and isinstance(part, Text)
            if isinstance(part, ToolResult) or is_plain:
                found.append(Output(i, at, name, part.text, allowance.meter.part(part)))
    return found


def texts(transcript: Transcript, allowance: Allowance) -> Iterator[Output]:
    """Every output without media, with the tokens of its text alone."""
    for output in outputs(transcript, allowance):
        message = transcript.messages[output.position]
        if role_of(message, message.parts[output.part]):
            yield output._replace(tokens=allowance.meter.text(output.text))


def role_of(message: Message, part: Part) -> Role | None:
    """The role of a part, None if it is not only text. Results may be in the user's role."""
    if isinstance(part, ToolResult):
        return None if part.media else "tool"
    return message.role if isinstance(part, Text) else None


def text_of(part: Part) -> str:
    """The text of a part that an edit may change; of a call, its arguments."""
    return part.arguments if isinstance(part, ToolCall) else part.text


_MOST_SAVED = 0.6  # share of outputs that lossless forms save at most; half and more kept as much


def without_loss(transcript: Transcript, allowance: Allowance) -> tuple[Edit, ...]:
    """Lossless shorter forms of outputs, the oldest first, if together they meet the target."""
    count = allowance.meter.text
    excess = allowance.meter.total(transcript) - allowance.target
    found = [one for one in texts(transcript, allowance) if one.position not in transcript.pinned]
    if excess > _MOST_SAVED * sum(output.tokens for output in found):
        return ()
    edits: list[Edit] = []
    for output in found:
        kind = recognise(output.text)
        short = kind.compact(output.text) or output.text
        saved = output.tokens - count(short)
        if saved > 0:
            edits.append(output.replaced(short, reason=f"{kind.name}: {SHORTER_FORM}"))
            excess -= saved
            if excess <= 0:
                return tuple(edits)
    return ()


def is_chosen(tool: str, wanted: Sequence[str], kept: Sequence[str]) -> bool:
    """Whether the shell patterns ``wanted`` (none means all) have the tool, and ``kept`` not."""
    is_wanted = any(fnmatchcase(tool, pattern) for pattern in wanted or ("*",))
    return is_wanted and not any(fnmatchcase(tool, pattern) for pattern in kept)


_SHORT = 4  # tokens; shorter values stay, since a mark in quotes takes as much


def brief(
    arguments: str, tokens: int, count: Count, least: int = _SHORT, reference: str = ""
) -> str:
    """The JSON object of a call's arguments with its longest values cut, under the same keys.

    Values of at most ``least`` tokens stay. A value that is not text is cut as its JSON. The
    reference is the last line of the longest value, if that is cut. Empty if the arguments are not
    a JSON object, or an empty one.
    """
    try:
        (values,) = parse(arguments)
    except ValueError:  # no JSON, or several
        return ""
    if not isinstance(values, dict) or not values:
        return ""
    lengths = {key: count(dump(value)) for key, value in values.items()}
    longest = max(lengths, key=lengths.__getitem__)

    def shortened_to(level: int) -> str:
        room = level if level > _SHORT else 0
        now = dict(values)
        for key, value in values.items():
            if lengths[key] > level:
                text = cut(value if isinstance(value, str) else dump(value), room, count)
                now[key] = f"{text}\n{reference}" if reference and key == longest else text
        return dump(now)

    # the first level whose object is too large follows the one that is wanted
    levels = range(least, max(tokens, least) + 1)
    more = bisect_right(levels[1:], tokens, key=lambda level: count(shortened_to(level)))
    return shortened_to(levels[more])


def cut(text: str, tokens: int, count: Count) -> str:
    """The start and end of the text around a mark, or the mark alone if no more fits.

    There is no white space at the end: some vendors refuse it in the last message.
    """
    short = head_tail(text, tokens, count) if tokens > 0 else ""
    return short.rstrip() if "…" in short or short == text else "…"


def cut_words(text: str, question: str, tokens: int, count: Count) -> str:
    """The start and end of a text with what answers the question between them.

    If nothing does, of each material in it if its words fit whole.
    """
    if answered := cut_around_answers(text, question, tokens, count):
        return answered
    said = passages_of(text)
    sizes = [count(passage) for is_material, passage in said if is_material]
    words = count(text) - sum(sizes)
    level = water_level(sizes, tokens - words - len(sizes))  # a token for each line break
    shown = [
        cut(passage, level, count) if is_material else passage for is_material, passage in said
    ]
    return head_tail("\n".join(shown) if words else text, tokens, count)


def left_out(media: Sequence[Media]) -> str:
    """The line in place of media that are left out of an output."""
    noun = "image" if all(medium.kind == "image" for medium in media) else "attachment"
    return f"[… {amount(len(media), noun)} left out …]"


def cut_around_answers(text: str, question: str, tokens: int, count: Count) -> str:
    """The start and end of a text, and pieces between them that answer the question.

    Answers have half of the tokens. Empty if there are none or they do not fit.
    """
    reading, best = _answers((text, question))
    if not best:
        return ""
    sizes = [piece.cost for piece in reading.pieces]
    room = sum(sizes) * tokens / count(text)
    places = range(len(sizes))
    inwards = [*chain.from_iterable(zip(places, reversed(places), strict=True))]
    order = dict.fromkeys([*inwards[:2], *until(room / 2, best, sizes), *inwards])
    write = writer(reading)
    chosen = choose(list(until(2 * room, order, sizes)), sizes, write, tokens, count)
    return write(chosen) if chosen else ""


@Memo  # since a text is cut to its share of the room, and again to what is left
def _answers(key: tuple[str, str]) -> tuple[Reading, list[int]]:
    """A text in pieces, and which of them answer the question, the best first."""
    text, question = key
    reading = passages(text, alone=True)
    scores = scores_of(question, [piece.text for piece in reading.pieces])
    usual = _MORE * sum(scores) / max(1, len(scores))
    answers = [place for place in range(1, len(scores) - 1) if scores[place] > usual]
    return reading, sorted(answers, key=lambda place: -scores[place])
