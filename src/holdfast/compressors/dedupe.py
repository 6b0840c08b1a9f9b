"""Semantic deduplication: of older messages with the same content, one stays.

Vectors hardly reflect a number, a name or a "not", so the texts are compared too, and a message
with exact things of its own stays. Clustering is greedy and in order: each vector joins the first
leader that is similar enough, or becomes a leader. Pairs whose signs differ too often are skipped,
which leaves few distances to compute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import acos, dist, pi, sqrt
from os.path import commonprefix
from typing import NamedTuple, cast

from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Configured, Flow, Plan, ask
from holdfast.kernel.edits import Drop
from holdfast.kernel.messages import Message, ToolCall
from holdfast.kernel.ports import Embed
from holdfast.kernel.transcript import Transcript, legal, start_of_newest
from holdfast.kernel.typed import check_fields
from holdfast.text.identifiers import all_named
from holdfast.text.question import asks
from holdfast.text.similarity import Vector, unit
from holdfast.text.words import NEGATIONS, stands, terms, words

from .summaries import preferred
from .tool_outputs import role_of


@dataclass(frozen=True, slots=True)
class Semantic(Configured):
    """Older messages of one role with nearly the same content are merged into the longest.

    Exact things are kept: a message is dropped only if the one that stays names everything that it
    names, in the same order. Answers to different questions are never the same. A tool exchange is
    dropped whole, if a newer one has the same content. System messages are never compared.
    """

    similarity_threshold: float = 0.85
    """The cosine from which two messages count as the same; values outside 0 to 1 are clamped."""

    keep_recent: int = 5
    """The newest messages, system messages not counted, that are left alone."""

    name = "semantic"

    def __post_init__(self) -> None:
        if isinstance(cast("object", self.similarity_threshold), int | float):
            object.__setattr__(
                self, "similarity_threshold", min(max(self.similarity_threshold, 0.0), 1.0)
            )
        check_fields(self)

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of repeated messages."""
        said = list(sayings(transcript, start_of_newest(transcript, self.keep_recent)))
        texts = tuple(dict.fromkeys(saying.text for saying in said))
        if len(said) < 2:
            return Plan.skip("too_few_messages", "fewer than two older messages could be compared")
        vectors = yield from ask(Embed(texts))
        vectors_of = dict(zip(texts, vectors, strict=True))
        kinds = defaultdict[tuple[str, ...], list[Saying]](list)
        for saying in said:
            kinds[saying.kind].append(saying)
        firm, going = transcript.protected | preferred(transcript), set[int]()
        for alike in kinds.values():
            clusters = defaultdict[int, list[Saying]](list)
            found = leaders([vectors_of[each.text] for each in alike], self.similarity_threshold)
            for saying, leader in zip(alike, found, strict=True):
                clusters[leader].append(saying)
            going.update(i for cluster in clusters.values() for i in _going(cluster, firm))
        going = legal(transcript, going, frozenset(range(len(transcript))) - going)
        if not going:
            return Plan.skip(
                "nothing_alike", f"of {len(said):,} older messages none repeats another"
            )
        edits = (Drop(tuple(sorted(going)), "another message says the same"),)
        return Plan(edits, reason="duplicates_merged")


def _going(cluster: Sequence[Saying], firm: frozenset[int]) -> Iterator[int]:
    """The positions of the cluster's messages that its longest one makes needless.

    The first one leads the cluster.
    """
    stays = max(cluster, key=lambda saying: (len(saying.text), saying.unit.start))
    if cluster[0].text == stays.text:
        stays = cluster[0]
    for saying in cluster:
        if saying is not stays and firm.isdisjoint(saying.unit) and _is_needless(saying, stays):
            yield from saying.unit


def _is_needless(saying: Saying, stays: Saying) -> bool:
    """Whether everything exact in ``saying`` is in ``stays`` too."""
    if saying.text == stays.text:
        return True
    if len(saying.unit) > 1:  # an exchange: the newer one has every word of the older, in order
        is_newer, shown = stays.unit.start > saying.unit.start, iter(stays.text.split())
        return is_newer and all(word in shown for word in saying.text.split())
    return not contrasts(saying.text, stays.text) and not lacks(stays.text, saying.text)


# numbers of a vector whose signs are compared; with fewer they say little about the angle. With 64
# all similar messages of recorded runs were found too, and with 32 all but 4%
_MANY = 128
# Share of the signs that may differ beyond the expected share, which is the angle divided by half a
# turn (Charikar, "Similarity estimation techniques from rounding algorithms", 2002): 0.18 at a
# cosine of 0.85, and 0.5 between unrelated texts. With half of it, 10% of the pairs of similar
# messages were missed by vectors of words instead of 2%, and with double eleven times as many
# distances are computed.
_SLACK = 0.15
_ROUNDING = 1e-9  # the computed cosine of equal vectors may be slightly below 1


class _Leader(NamedTuple):
    """The first vector of a cluster: its index, its numbers at length 1, and their signs."""

    place: int
    numbers: tuple[float, ...]
    signs: int
    differing: float
    """Its part of the signs that may differ from those of another vector."""


def leaders(vectors: Sequence[Vector], threshold: float) -> list[int]:
    """For each vector, the index of its leader; its own if it leads or is zero."""
    found = list(range(len(vectors)))
    share = acos(max(-1.0, min(1.0, threshold))) / pi + _SLACK
    farthest = sqrt(2 - 2 * (threshold - _ROUNDING))  # between the ends of vectors of length 1
    known: dict[int, list[_Leader]] = {}
    for place, vector in enumerate(vectors):
        scaled = unit(vector)
        if scaled is None:
            continue
        numbers = tuple(scaled)
        # one bit for each number, set if the number is positive
        signs = int("".join(["1" if number > 0 else "0" for number in numbers]), 2)
        among = known.setdefault(len(numbers), [])
        own = signs.bit_count() * (share if len(numbers) >= _MANY else 1.0)
        for leader, others, other, differing in among:
            is_near = (other ^ signs).bit_count() <= own + differing
            if is_near and dist(others, numbers) <= farthest:  # several times as fast as a cosine
                found[place] = leader
                break
        else:
            among.append(_Leader(place, numbers, signs, own))
    return found


def lacks(text: str, other: str) -> bool:
    """Whether the text lacks an exact thing that the other one names."""
    things = all_named(other) - all_named(text)
    return not all(stands(thing, text) for thing in things)


def contrasts(one: str, other: str) -> bool:
    """Whether only one text negates, or both say the same about different things.

    ``deploy to staging`` and ``deploy to production`` differ in one word of the same sentence, and
    ``from 20 to 50`` and ``from 50 to 20`` in the order of their words.
    """
    a, b = words(one), words(other)
    if sum(word in NEGATIONS for word in a) != sum(word in NEGATIONS for word in b):
        return True
    if _are_reordered(one, other):
        return True
    head = len(commonprefix((a, b)))  # noqa: RUF071
    rests = a[head:], b[head:]
    tail = len(commonprefix([rest[::-1] for rest in rests]))  # noqa: RUF071
    if head + tail < max(map(len, rests)) - tail:
        return False
    left, right = (set(terms(" ".join(rest[: len(rest) - tail]))) for rest in rests)
    return not left <= right and not right <= left


def _are_reordered(one: str, other: str) -> bool:
    """Whether the words of both have another order, not only two clauses that change places."""
    said, told = dict.fromkeys(terms(one)), dict.fromkeys(terms(other))
    shared = [term for term in said if term in told]
    now = [term for term in told if term in said]
    if len(shared) > 2:  # of two words, one is no clause
        start = now.index(shared[0])
        now = now[start:] + now[:start]
    return now != shared


class Saying(NamedTuple):
    """The text of a unit; only sayings of one ``kind`` are compared."""

    unit: range
    kind: tuple[str, ...]
    """The role of a message and the question that it answers, or the roles and the tools of an
    exchange.
    """
    text: str


def sayings(transcript: Transcript, stop: int) -> Iterator[Saying]:
    """The units before position ``stop`` that are text only, without system messages.

    What says nothing by itself, such as "No.", answers the message before like a question.
    """
    answered = ""
    before: Message | None = None
    for together in transcript.units:
        if together.stop > stop:
            return
        messages = transcript.messages[together.start : together.stop]
        if before and before.role != messages[0].role:
            answered = before.content_text or ""
        before = messages[-1]
        texts = [_text(message) for message in messages]
        text = "\n".join(filter(None, texts))
        if messages[0].role != "system" and None not in texts and text.strip():
            names = [call.name for message in messages for call in message.calls]
            roles = [message.role for message in messages]
            if len(together) == 1 and (asks(answered) or not terms(text)):
                names = [answered]
            yield Saying(together, (*roles, *names), text)


def _text(message: Message) -> str | None:
    """The text of a message; None if it has other parts, or is a summary."""
    has_words = all(isinstance(part, ToolCall) or role_of(message, part) for part in message.parts)
    if not has_words or message.ours:
        return None
    texts = [part.arguments if isinstance(part, ToolCall) else part.text for part in message.parts]
    return "\n".join(texts)
