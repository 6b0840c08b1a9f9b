"""A model's summary in place of the history, extended when the conversation grows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.messages import Message, Messages
from holdfast.kernel.registry import moved_names
from holdfast.kernel.transcript import (
    NOT_ENDED,
    Transcript,
    ends_with_user,
    start_of_newest,
    start_within,
)
from holdfast.kernel.typed import check_fields
from holdfast.text.fit import SENTENCE
from holdfast.text.visible import fault_line

from .summaries import Placed, mark, placed, voice
from .summary_memory import (
    Envelope,
    Known,
    Memory,
    chosen_words,
    composed,
    joined,
    shortened,
)
from .writer import (
    LISTED,
    WritingTask,
    attributed,
    hash_of,
    refused,
    rendered,
    wording,
    written,
)

_OF_THE_MODEL = 1 - 2 * LISTED  # share of the cap that quotations and details leave
_LEAST = 3 * SENTENCE  # of a summary: its introduction, as long as a sentence, and two more
_ADDED = _OF_THE_MODEL / 2  # for a text that is added to earlier ones, which have the other half


@dataclass(frozen=True, slots=True)
class Summarize(Configured):
    """A model summarizes everything before the recent turns in one marked message.

    With a store, earlier summaries are found again and extended: by the thread if the conversation
    has one, else by what they cover. A summary that comes back within the conversation is extended
    too. User messages are quoted while they fit, and exact things and constraints that the model
    left out are listed. If the model fails or its reply is refused, only messages that an earlier
    summary covers are replaced.
    """

    keep_recent: int | None = None
    """The number of newest messages that stay, system messages not counted."""

    keep_tokens: Share = 0.2
    """By default, whole turns of at most this many tokens stay, or of this share of the target."""

    keep_at_least: Share | None = None
    """At least this many tokens stay, or this share of the target, cut after a finished message."""

    summary_max_tokens: Share = 0.15
    """The size of the summary, in tokens or as a share of the target."""

    combine: Literal["concat", "model", "hybrid"] = "concat"
    """How a summary is extended. ``concat`` adds the new text and drops the oldest sentences above
    the cap. With ``model``, the model rewrites both. ``hybrid`` is ``concat`` up to the cap, then
    ``model``.
    """

    min_new: Share = 1.0
    """With ``keep_tokens`` and a store: how much new history, in tokens or as a share of the
    target, is worth a call of the model. Until then it waits in the store, and the summary lists
    its exact details.
    """

    quote_users: bool = True
    """Whether the user's own words are quoted while they fit."""

    verify: bool = True
    """Whether exact things and constraints that the model left out are listed."""

    only_when_last_is_user: bool = False
    """Whether a conversation that does not end with a user's message is left alone."""

    role: Literal["user", "assistant", "system"] = "user"
    """The role of the summary."""

    opening: str | None = None
    """A text instead of the mark. The model's text follows it, without quotations and details; when
    it comes back, it is a message like any other.
    """

    instructions: str = ""
    """Additional instructions for the model."""

    keep_seconds: float | None = None
    """How long a stored summary is used, in seconds; None for ever."""

    name = "summarizing"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.keep_recent is not None and self.keep_at_least is not None:
            raise ConfigError(
                "only one measure can set what stays",
                place="Summarize",
                advice="give one of keep_recent and keep_at_least",
            )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of the covered messages, and an Insert or Replace of the summary."""
        if self.only_when_last_is_user and not ends_with_user(transcript):
            return Plan.skip("last_is_not_user", NOT_ENDED)
        exact = self.keep_recent is not None or self.keep_at_least is not None
        role = voice(transcript, self.role) if self.opening is None else self.role
        if not allowance.writer:
            return Plan.skip("no_model", "no model was given; pass llm=")
        # everything that decides the text, except conversation and budget
        knobs = self.instructions, self.quote_users, self.verify, self.opening
        writer = hash_of(wording(), allowance.writer, *knobs)
        of_system, kept_for = role == "system", self.keep_seconds
        memory = Memory(transcript, allowance, exact, of_system, writer, kept_for, self.opening)
        start = self._start_of_recent(transcript, allowance)
        known = yield from memory.look(start)

        def rolled(upto: int) -> _RollingSummary | None:
            leaving = memory.leaving(upto)
            gone = sorted({*leaving, *memory.summaries})
            place = placed(transcript, gone, role) if leaving else None
            new = [i for i in memory.places if known.upto < i <= upto]
            return place and _RollingSummary(self, memory, known, upto, new, gone, place)

        kept = None if known.upto in memory.summaries else rolled(known.upto)
        if kept and not exact and kept.fits():
            return kept.reused(kept.most)
        ends = memory.ends(start - 1, known.upto)
        longer = next(filter(None, map(rolled, ends)), None)
        if longer is None or not longer.is_worth_it():
            if kept:
                return kept.reused(kept.cap)
            if start == 0:
                return Plan.skip("no_boundary", "no cut leaves enough behind it")
            return Plan.skip(
                "nothing_older", "nothing that may be removed is older than what stays"
            )
        few = longer.waits < tokens_of(self.min_new, allowance.target)
        if few and not exact:
            put_off = yield from longer.put_off()
            if put_off:
                return put_off
        return (yield from longer.extended())

    def _start_of_recent(self, transcript: Transcript, allowance: Allowance) -> int:
        """The position of the first message that stays.

        The newest ``keep_recent`` messages stay, with the rest of the first unit, or whole turns of
        at most ``keep_tokens`` tokens, or whole units if the newest turn is longer.
        """
        sizes, units, target = allowance.meter.sizes(transcript), transcript.units, allowance.target
        if self.keep_at_least is not None:
            least = tokens_of(self.keep_at_least, target)
            return retention_boundary(transcript.messages, sizes, least)
        if self.keep_recent is not None:
            first = start_of_newest(transcript, self.keep_recent)
            return next((unit.start for unit in units if first in unit), first)
        newest, most = transcript.newest.start, tokens_of(self.keep_tokens, target)
        turn = start_within([turn.start for turn in transcript.turns], sizes, most)
        if turn <= newest:
            return turn
        return min(newest, start_within([unit.start for unit in units], sizes, most))


def retention_boundary(messages: Messages, sizes: Sequence[int], keep_recent: int) -> int:
    """The number of oldest messages that may be summarized so that ``keep_recent`` tokens stay.

    ``sizes`` are the tokens of each message. The cut moves back until it separates no call from its
    result; 0 if nothing can be summarized.
    """
    cut, kept = len(messages), 0
    while cut > 0 and kept < keep_recent:
        cut -= 1
        kept += sizes[cut]
    while cut > 0 and not _is_safe(messages, cut):
        cut -= 1
    return cut if kept >= keep_recent else 0


def _is_safe(messages: Messages, cut: int) -> bool:
    """Whether a finished message is before the cut, and no result after it."""
    before = messages[cut - 1]
    if before.role == "tool" or before.calls:
        return False
    return cut == len(messages) or not messages[cut].results


class _RollingSummary(NamedTuple):
    """The summary of everything up to some position: reused, extended, or extended by rule."""

    form: Summarize
    memory: Memory
    known: Known
    """The summary that it extends."""

    upto: int
    new: Sequence[int]
    """The positions that the known summary does not cover."""

    gone: Sequence[int]
    """The positions that it replaces."""

    place: Placed
    """Where it is inserted."""

    def fits(self) -> bool:
        """Whether everything fits the target with the known summary."""
        return min(self._text_tokens(self.known.envelope.body), self.most) <= self.cap

    def is_worth_it(self) -> bool:
        """Whether there is enough to summarize; an earlier summary alone is not."""
        said = [self.memory.messages[i].content_text or "" for i in self.new]
        if self.form.opening and len(said) == 1 and said[0].startswith(self.form.opening):
            return False
        return self.memory.size(self.new) >= (1 if self.memory.exact else _LEAST)

    @property
    def waits(self) -> int:
        """Tokens of the messages that the model has not seen yet."""
        return self.known.envelope.waits + self.memory.size(self.new)

    def extended(self) -> Flow:
        """The plan with the model's summary; if the model fails, the best plan without it."""
        if not self.memory.exact and self.cap < _LEAST:
            return Plan.skip("no_room", "no summary that says something fits beside what stays")
        try:
            envelope = yield from self._written()
        except HoldfastError as fault:
            done = yield from self.put_off()
            edits = done.edits if done else ()
            return Plan(edits, "failed", "summarization_failed", fault_line(fault), fault=fault)
        yield from self.memory.keep(envelope)
        return self._plan(envelope, "summarized")

    def _written(self) -> Asking[Envelope]:
        """The summary of the known summary and the new messages. Raises ModelError."""
        allowance, cap, before = self.memory.allowance, self.cap, self.known.envelope
        count, earlier = allowance.meter.text, joined(before.texts)
        combine = self.form.combine
        adds = bool(earlier) and (
            combine == "concat" or (combine == "hybrid" and count(earlier) <= cap * _ADDED)
        )
        share = _ADDED if adds else _OF_THE_MODEL
        wish = self.form.instructions.strip()
        values = {"instructions": f"{wish}\n"} if wish else {}
        task = WritingTask(
            "summarize", max(_LEAST, int(cap * share)), allowance.writer_window, count, values
        )
        blocks = (*before.waiting, *self._blocks())
        reply = yield from written(task, blocks, "" if adds else earlier)
        text = self.memory.repeatable(reply)
        texts = (shortened(before.texts, cap, count), text) if adds else (text,)
        envelope = self._envelope(texts, cap)
        if not self._is_smaller(envelope):
            raise refused("the summary would not be smaller")
        return envelope

    def put_off(self) -> Asking[Plan | None]:
        """The plan in which the new messages wait in the store for the model.

        The present summary is extended by the user's words and exact details of the new messages.
        None if there is no summary or no store, or if that is not smaller than they are.
        """
        can_wait = self.known.upto >= 0 and self.memory.shelf.works
        if not can_wait:
            return None
        before = self.known.envelope
        later = self._envelope(before.texts, self.cap)
        later = replace(later, waiting=(*before.waiting, *self._blocks()), waits=self.waits)
        if not self._is_smaller(later):
            return None
        yield from self.memory.keep(later)
        if not self.memory.shelf.works:
            return Plan.skip("nothing_kept", self.memory.shelf.trouble)
        return self._plan(later, "told_by_rule")

    @property
    def most(self) -> int:
        """The largest size of a summary, in tokens."""
        return max(_LEAST, tokens_of(self.form.summary_max_tokens, self.memory.allowance.target))

    @property
    def cap(self) -> int:
        """The size of a summary with which everything fits the target, in tokens."""
        allowance, gone = self.memory.allowance, self.memory.size(self.gone)
        room = allowance.target - allowance.meter.total(self.memory.transcript) + gone
        room -= self._message_tokens("") - allowance.meter.text("")
        return min(self.most, max(1, room))

    def _envelope(self, texts: tuple[str, ...], cap: int) -> Envelope:
        """The summary made of these texts, the known summary and the new messages."""
        form, memory, before = self.form, self.memory, self.known.envelope
        said: tuple[str, ...] = ()
        if form.quote_users:
            earlier = before.said if self.known.upto in memory.summaries else ()
            covered = (memory.messages[i] for i in memory.places if i <= self.upto)
            users = (each for each in covered if each.role == "user" and not each.results)
            words = ((each.name, each.content_text or "") for each in users)
            told = (f"{by}: {text}" if by else text for by, text in words if text.strip())
            said = chosen_words((*earlier, *told), self.most // 2, memory.allowance.meter.text)
        made = replace(before, texts=texts, said=said)
        if self.new:
            made = replace(
                made,
                end=self.memory.original(self.upto),
                count=before.count + len(self.new),
                covers=self.memory.chain[self.upto],
                waiting=(),
                waits=0,
            )
        if form.opening is not None:
            return replace(made, details=(), body=shortened(texts, cap, self._text_tokens))
        new = [memory.messages[i] for i in self.new] if form.verify else []
        source = [
            detail
            for each in new
            for role, text in each.said
            for detail in attributed(role, text, each.name or (role if role == "assistant" else ""))
        ]
        return composed(made, source, cap, self._text_tokens)

    def reused(self, cap: int) -> Plan:
        """The plan for the known summary, in at most so many tokens."""
        envelope = self.known.envelope
        if self._text_tokens(envelope.body) > cap:
            envelope = self._envelope(envelope.texts, cap)
        return self._plan(envelope, "summary_reused")

    def _plan(self, envelope: Envelope, reason: str) -> Plan:
        """The edits that replace the covered messages by the summary.

        A summary in a system message is replaced there.
        """
        text, gone = self._text(envelope.body), self.gone
        messages = self.memory.transcript.messages
        own = [i for i in self.memory.summaries if messages[i].role == "system"]
        edits: list[Edit] = [Drop(tuple(i for i in gone if i not in own), "covered by the summary")]
        if own:
            edits.append(Replace(own[0], 0, text, "the summary, extended", asked=True))
        else:
            covers, what = (gone[0], gone[-1]), "the summary of what is older"
            edits += self.place.inserts(text, what, covers)
        told = f"{envelope.count:,} messages, up to message {envelope.end}"
        if envelope.waits:
            told += f"; of these {envelope.waits:,} tokens wait for the model"
        return Plan(tuple(edits), reason=reason, detail=self.memory.shelf.detail(told))

    def _is_smaller(self, envelope: Envelope) -> bool:
        """Whether the summary is smaller than what it replaces."""
        return self._message_tokens(self._text(envelope.body)) < self.memory.size(self.gone)

    def _blocks(self) -> Iterator[str]:
        """The new messages as blocks of text for the model."""
        return rendered((self.memory.original(i), self.memory.messages[i]) for i in self.new)

    def _text(self, body: str) -> str:
        return mark(body) if self.form.opening is None else f"{self.form.opening}{body}"

    def _text_tokens(self, body: str) -> int:
        return self.memory.allowance.meter.text(self._text(body))

    def _message_tokens(self, text: str) -> int:
        wire, role = self.memory.transcript.wire, self.place.role
        return self.memory.allowance.meter.message(Message(role, wire.compose(role, text), wire))


__getattr__ = moved_names(__name__, {"tunacode_history": "holdfast.designs"})
