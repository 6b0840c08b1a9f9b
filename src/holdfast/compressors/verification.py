"""Whether a model's reply is accepted as a summary, and which details it left out.

A reply that is empty, a placeholder, an apology or an error is refused. Exact things and
constraints of the source that a summary does not repeat are listed in the words of the source.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.kernel.errors import ModelError
from holdfast.kernel.messages import Message, Role
from holdfast.text.fit import Count, choose, fits
from holdfast.text.identifiers import Identifier, find
from holdfast.text.importance import signals
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences
from holdfast.text.visible import encodable
from holdfast.text.words import stands, terms

# Chosen by hand:
_SHORT = 400  # characters: apologies and error messages are not longer, summaries of errors are
_FAR_TOO_LONG = 8  # times the requested size
_PLACEHOLDER = re.compile(
    r"\[[^\]\n]{0,120}\]"
    r"|\W*(?:n/?a|none|null|nil|undefined|todo|tbd|(?:no )?summary|placeholder)?\W*",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"(?:i'?m sorry|i am sorry|sorry|i apologi[sz]e|i can(?:no|')t|i am (?:not able|unable)"
    r"|as an ai|error\b|exception\b|traceback\b|internal server error|service unavailable"
    r"|rate limit|\{\s*\"error\")",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"(?:too (?:long|large) to (?:be )?summari[sz]e|summary (?:is )?(?:un|not )available"
    r"|(?:unable|failed|cannot|could not) to? ?(?:be )?(?:generate|summari[sz]e|create))",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|all)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules|messages|directions|context)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*\[(?:HISTORY_SUMMARY|CONVERSATION_SUMMARY)\b")

# Chosen by hand:
_LONGEST = 200  # characters of a line of the list
_AROUND = 60  # characters shown on each side of an exact thing in a longer line
_STOP = ". "
_READ = 20_000  # characters of a tool's output that are searched for exact things
_SHARED = 0.8  # share of a constraint's words with which a line repeats it
_WEIGHTS: dict[Role, float] = {"user": 1.5, "system": 1.5, "assistant": 1.0, "tool": 0.4}
_CONSTRAINT = 3.0  # a user's constraint counts as this many exact things
_OWN_WORDS = 0.4  # share of a reply's words that are from the text; a reply off topic has none
_SPELLED_OUT = 2  # digits of a number that the text may have in words
_OVERHEAD = 20  # characters that each line costs besides its text


def accepted(reply: str, tokens: int, count: Count) -> str:
    """The reply as it may be used. Raises ModelError, with the reason, if it is refused.

    Lines are removed that look like the mark of a summary, or that tell the reader to ignore other
    instructions.
    """
    lines = encodable(reply).strip().splitlines()
    kept = [line for line in lines if not _MARK.match(line) and not _COMMAND.search(line[:2_000])]
    text = "\n".join(kept).strip()
    if not text:
        raise ModelError("the reply of the model was refused: it is empty, or nothing but commands")
    if len(text) <= _SHORT:
        if _PLACEHOLDER.fullmatch(text):
            raise ModelError(f"the reply of the model was refused: {text!r} is a placeholder")
        if _EXCUSE.match(text) or _UNAVAILABLE.search(text):
            problem = f"{text[:80]!r} is an excuse, no summary"
            raise ModelError(f"the reply of the model was refused: {problem}")
    if not fits(text, _FAR_TOO_LONG * tokens, count):
        problem = f"it is far longer than {tokens:,} tokens"
        raise ModelError(f"the reply of the model was refused: {problem}")
    return text


def unfounded(reply: str, text: str) -> str:
    """Why the reply is not a version of the text; empty if it is one.

    A short number may stand for words of the text: "twice" may have become "2 times".
    """
    said = set(terms(reply))
    if not said:
        return "it says nothing"
    if len(said.intersection(terms(text))) < _OWN_WORDS * len(said):
        return "it speaks of something else"
    for one in find(reply):
        digits = sum(map(str.isdigit, one.text))
        in_words = one.kind in {"number", "quantity"} and digits <= _SPELLED_OUT
        if one.text not in text and not in_words:
            return f"it names {one.text!r}, which the text does not"
    return ""


class Detail(NamedTuple):
    """A sentence or a line of the source, and the exact things in it.

    ``constrains``: it is a user's constraint.
    """

    line: str
    things: tuple[str, ...]
    weight: float
    constrains: bool = False


def details(messages: Iterable[Message]) -> list[Detail]:
    """The details of the messages, in order."""
    return [
        detail
        for message in messages
        for role, text in message.said
        for detail in details_of(role, text)
    ]


def details_of(role: Role, text: str) -> tuple[Detail, ...]:
    """The details of a text that this role wrote."""
    return _DETAILS((role, text))


def missing(source: Sequence[Detail], text: str) -> list[Detail]:
    """The details that the text lacks, each with the missing things."""
    said = [frozenset(terms(line)) for line in text.splitlines()]
    found: list[Detail] = []
    for detail in source:
        things = tuple(thing for thing in detail.things if not stands(thing, text))
        constrains = detail.constrains and not _repeated(detail.line, said)
        if things or constrains:
            found.append(Detail(detail.line, things, detail.weight, constrains))
    return found


def listed(lost: Sequence[Detail], tokens: int, count: Count) -> list[str]:
    """The most valuable of the lost details that fit, as lines in the order of the source."""
    uses = Counter(thing for detail in lost for thing in set(detail.things))
    ranked = sorted(range(len(lost)), key=lambda n: (-_worth(lost[n], uses), -n))
    told: set[str] = set()
    order: list[int] = []
    for n in ranked:
        if not told.issuperset(lost[n].things) or lost[n].constrains:
            order.append(n)
            told.update(lost[n].things)
    found = chosen([detail.line for detail in lost], order, bullets, tokens, count)
    return list(dict.fromkeys(found))


def chosen(
    texts: Sequence[str],
    order: Sequence[int],
    render: Callable[[Sequence[str]], str],
    tokens: int,
    count: Count,
) -> list[str]:
    """The most texts that fit when rendered together; ``order`` lists the best first."""
    sizes = [len(text) for text in texts]
    choice = choose(order, sizes, lambda some: render([texts[n] for n in some]), tokens, count)
    return [texts[n] for n in choice.pieces] if choice else []


def with_missing(text: str, source: Sequence[Detail], tokens: int, count: Count) -> str:
    """The text and a list of the details that it lacks, in about ``tokens`` together."""
    lines = listed(missing(source, text), tokens - count(text), count)
    return f"{text}\n{bullets(lines)}" if lines else text


def bullets(lines: Iterable[str]) -> str:
    """The lines as a list, each once."""
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines))


def _worth(detail: Detail, uses: Counter[str]) -> float:
    things = sum(1 + math.log2(uses[thing]) for thing in detail.things)
    return (
        detail.weight * (things + _CONSTRAINT * detail.constrains) / (len(detail.line) + _OVERHEAD)
    )


def _repeated(line: str, said: Sequence[frozenset[str]]) -> bool:
    wanted = frozenset(terms(line))
    return any(len(wanted & words) >= _SHARED * len(wanted) for words in said)


def _read(key: tuple[Role, str]) -> tuple[Detail, ...]:
    role, text = key
    text = text[:_READ] if role == "tool" else text
    things = [one for one in find(text) if _is_telling(one, role)]
    pieces = text.splitlines(keepends=True) if role == "tool" else sentences(text)
    found: list[Detail] = []
    start = reached = 0
    for piece in pieces:
        end, first = start + len(piece), reached
        while reached < len(things) and things[reached].start < end:
            reached += 1
        constrains = role == "user" and len(piece) <= 2 * _LONGEST and signals(piece).constrains
        for near in _near(things[first:reached]) or ([[]] if constrains else []):
            line = _line(text, start, end, near)
            found.append(Detail(line, tuple(one.text for one in near), _WEIGHTS[role], constrains))
        start = end
    return tuple(found)


_DETAILS = Memo(_read)


def _is_telling(one: Identifier, role: Role) -> bool:
    """Whether it may be needed again; in a tool's output, only if it is surely an identifier."""
    digits = sum(character.isdigit() for character in one.text)
    if one.kind == "quoted" or len(one.text) > _LONGEST:
        return False
    if one.kind == "number":
        return digits >= (4 if role == "tool" else 2)
    if one.kind == "name" and role == "tool":
        return digits >= 1
    return True


def _near(things: Sequence[Identifier]) -> list[list[Identifier]]:
    """The things in groups that each fit one line of the list."""
    groups: list[list[Identifier]] = []
    for one in things:
        if groups and one.start + len(one.text) - groups[-1][0].start <= _LONGEST // 2:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _line(text: str, start: int, end: int, near: Sequence[Identifier]) -> str:
    """The piece as one line; of a long piece the text around the things, cut between words."""
    if not near or end - start <= _LONGEST:
        return " ".join(text[start:end].split())
    first, last = near[0].start, near[-1].start + len(near[-1].text)
    before, after = text[max(start, first - _AROUND) : first], text[last : min(end, last + _AROUND)]
    if _STOP in before:
        before = before.rpartition(_STOP)[2]
    elif first - _AROUND > start:
        before = "…" + before.partition(" ")[2]
    if _STOP in after:
        after = after.partition(_STOP)[0] + _STOP
    elif last + _AROUND < end:
        after = after.rpartition(" ")[0] + "…"
    return " ".join(f"{before}{text[first:last]}{after}".split())
