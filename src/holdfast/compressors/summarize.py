"""A model's summary in place of the history, extended when the conversation grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.compressors.summaries import Placed, mark, placed, voice
from holdfast.compressors.summary_memory import (
    Envelope,
    History,
    Known,
    Memory,
    chosen_words,
    composed,
    joined,
    shortened,
)
from holdfast.compressors.writer import (
    LISTED,
    WritingTask,
    details,
    hash_of,
    rendered,
    wording,
    written,
)
from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError, HoldfastError, ModelError
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
            advice = "give one of keep_recent and keep_at_least"
            raise ConfigError(
                "only one measure can set what stays", place="Summarize", advice=advice
            )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of the covered messages, and an Insert or Replace of the summary."""
        if self.only_when_last_is_user and not ends_with_user(transcript):
            return Plan.skip("last_is_not_user", NOT_ENDED)
        exact = self.keep_recent is not None or self.keep_at_least is not None
        heard = self.opening is not None or voice(transcript, self.role) == self.role
        form = self if heard else replace(self, role="user")
        history = History(transcript, allowance, exact, form.role == "system")
        if not allowance.writer:
            return Plan.skip("no_model", "no model was given; pass llm=")
        # everything that decides the text, except conversation and budget
        knobs = self.instructions, self.quote_users, self.verify, self.opening
        writer = hash_of(wording(), allowance.writer, *knobs)
        memory = Memory(history, writer, self.keep_seconds, self.opening)
        return (yield from _Telling(form, history, memory).planned())


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
    if before.role == "tool" or before.calls or (before.results and before.role != "user"):
        return False
    return cut == len(messages) or not messages[cut].results


@dataclass(frozen=True, slots=True)
class _Telling:
    """The summary of one conversation, which covers everything up to some position."""

    form: Summarize
    history: History
    memory: Memory
    place: Placed | None = None
    """Where the summary is inserted."""

    def planned(self) -> Flow:
        """The plan: a stored summary reused or extended."""
        history, memory = self.history, self.memory
        start = self._start_of_recent()
        known = yield from memory.look(start)
        stands = known and known.upto in history.summaries
        kept = self._spoken(known.upto) if known and not stands else None
        if known and kept and not history.exact:
            size = min(self._text_tokens(known.envelope.body), self.most)
            if size <= self._cap(known.upto):
                return kept.reused(known, self.most)
        first = known.upto if known else -1
        tellings = ((self._spoken(end), end) for end in self._ends(start - 1, first))
        telling, end = next((each for each in tellings if each[0]), (None, first))
        new = [i for i in history.places if first < i <= end]
        if telling is None or not self._is_worth_it(new):
            if known and kept:
                return kept.reused(known, self._cap(known.upto))
            if start == 0:
                return Plan.skip("no_boundary", "no cut leaves enough behind it")
            return Plan.skip(
                "nothing_older", "nothing that may be removed is older than what stays"
            )
        if known and not history.exact and memory.shelf.works:
            waits = known.envelope.waits + history.size(new)
            if waits < tokens_of(self.form.min_new, history.allowance.target):
                put_off = yield from telling.put_off(known, new)
                if put_off:
                    return put_off
        return (yield from telling.extended(known, new))

    def _start_of_recent(self) -> int:
        """The position of the first message that stays.

        The newest ``keep_recent`` messages stay, with the rest of the first unit, or whole turns of
        at most ``keep_tokens`` tokens, or whole units if the newest turn is longer.
        """
        form, sizes, transcript = self.form, self.history.sizes, self.history.transcript
        target, units = self.history.allowance.target, transcript.units
        if form.keep_at_least is not None:
            least = tokens_of(form.keep_at_least, target)
            return retention_boundary(transcript.messages, sizes, least)
        if form.keep_recent is not None:
            first = start_of_newest(transcript, form.keep_recent)
            return next((unit.start for unit in units if first in unit), first)
        newest, most = transcript.newest.start, tokens_of(form.keep_tokens, target)
        turn = start_within([turn.start for turn in transcript.turns], sizes, most)
        if turn <= newest:
            return turn
        return min(newest, start_within([unit.start for unit in units], sizes, most))

    def _is_worth_it(self, new: Sequence[int]) -> bool:
        """Whether there is enough to summarize; an earlier summary alone is not."""
        said = [self.history.messages[i].content_text or "" for i in new]
        if self.form.opening and len(said) == 1 and said[0].startswith(self.form.opening):
            return False
        return self.history.size(new) >= (1 if self.history.exact else _LEAST)

    def extended(self, known: Known | None, new: list[int]) -> Flow:
        """The plan with the model's summary; if the model fails, the best plan without it."""
        if not self.history.exact and self._cap(new[-1]) < _LEAST:
            return Plan.skip("no_room", "no summary that says something fits beside what stays")
        try:
            envelope = yield from self._written(known, new)
        except HoldfastError as fault:
            done, detail = None, fault_line(fault)
            if known and self.memory.shelf.works:
                done = yield from self.put_off(known, new)
            edits = done.edits if done else ()
            return Plan(edits, "failed", "summarization_failed", detail, fault=fault)
        yield from self.memory.keep(envelope)
        return self.plan(envelope, new[-1], "summarized")

    def _written(self, known: Known | None, new: list[int]) -> Asking[Envelope]:
        """The summary of the known summary and the new messages. Raises ModelError."""
        allowance, cap = self.history.allowance, self._cap(new[-1])
        count = allowance.meter.text
        earlier = known.envelope.texts if known else ()
        combine, most = self.form.combine, cap * (_OF_THE_MODEL - _ADDED)
        anew = bool(earlier) and (
            combine == "model" or (combine == "hybrid" and count(joined(earlier)) > most)
        )
        share = _ADDED if earlier and not anew else _OF_THE_MODEL
        wish = self.form.instructions.strip()
        values = {"instructions": f"{wish}\n"} if wish else {}
        blocks = [*known.envelope.waiting] if known else []
        task = WritingTask(
            "summarize", max(_LEAST, int(cap * share)), allowance.writer_window, count, values
        )
        reply = yield from written(
            task, blocks + self._blocks(new), joined(earlier) if anew else ""
        )
        text = self.history.repeatable(reply)
        texts = (shortened(earlier, cap, count), text) if earlier and not anew else (text,)
        envelope = self._envelope(known, new, texts, cap)
        if not self._is_smaller(envelope, new[-1]):
            raise ModelError("the reply of the model was refused: the summary would not be smaller")
        return envelope

    def put_off(self, known: Known, new: list[int]) -> Asking[Plan | None]:
        """The plan in which the new messages wait in the store for the model.

        The present summary is extended by the user's words and exact details of the new messages.
        None if that is not smaller than they are.
        """
        before = known.envelope
        later = self._envelope(known, new, before.texts, self._cap(new[-1]))
        waits = before.waits + self.history.size(new)
        later = replace(later, waiting=(*before.waiting, *self._blocks(new)), waits=waits)
        if not self._is_smaller(later, new[-1]):
            return None
        yield from self.memory.keep(later)
        if not self.memory.shelf.works:
            return Plan.skip("nothing_kept", self.memory.shelf.trouble)
        return self.plan(later, new[-1], "told_by_rule")

    @property
    def most(self) -> int:
        """The largest size of a summary, in tokens."""
        target = self.history.allowance.target
        return max(_LEAST, tokens_of(self.form.summary_max_tokens, target))

    def _cap(self, upto: int) -> int:
        """The size of a summary with which everything fits the target, in tokens."""
        allowance, gone = self.history.allowance, self.history.size(self._gone(upto))
        room = allowance.target - allowance.meter.total(self.history.transcript) + gone
        room -= self._message_tokens("") - allowance.meter.text("")
        return min(self.most, max(1, room))

    def _envelope(
        self, known: Known | None, new: list[int], texts: tuple[str, ...], cap: int
    ) -> Envelope:
        """The summary made of these texts, the known summary and the new messages."""
        form, history = self.form, self.history
        upto = new[-1] if new or known is None else known.upto
        before = known.envelope if known else Envelope(self.memory.original(new[0]), 0, 0, "")
        said: tuple[str, ...] = ()
        if form.quote_users:
            earlier = before.said if known and known.upto in history.summaries else ()
            words = history.words_of_users(i for i in history.places if i <= upto)
            said = chosen_words((*earlier, *words), self.most // 2, history.allowance.meter.text)
        told = replace(before, texts=texts, said=said)
        if new:
            told = replace(
                told,
                end=self.memory.original(upto),
                count=before.count + len(new),
                covers=self.memory.chain[upto],
                waiting=(),
                waits=0,
            )
        if form.opening is not None:
            return replace(told, details=(), body=shortened(texts, cap, self._text_tokens))
        source = details(history.messages[i] for i in new) if form.verify else []
        return composed(told, source, cap, self._text_tokens)

    def reused(self, known: Known, cap: int) -> Plan:
        """The plan for a stored summary, in at most so many tokens."""
        envelope = known.envelope
        if self._text_tokens(envelope.body) > cap:
            envelope = self._envelope(known, [], envelope.texts, cap)
        return self.plan(envelope, known.upto, "summary_reused")

    def plan(self, envelope: Envelope, upto: int, reason: str) -> Plan:
        """The edits that replace the covered messages by the summary.

        A summary in a system message is replaced there.
        """
        text = self._text(envelope.body)
        messages, gone = self.history.transcript.messages, self._gone(upto)
        own = [i for i in self.history.summaries if messages[i].role == "system"]
        edits: list[Edit] = [Drop(tuple(i for i in gone if i not in own), "covered by the summary")]
        if own:
            edits.append(Replace(own[0], 0, text, "the summary, extended", asked=True))
        elif self.place:
            covers, what = (gone[0], gone[-1]), "the summary of what is older"
            edits += self.place.inserts(text, what, covers)
        told = f"{envelope.count:,} messages, up to message {envelope.end}"
        if envelope.waits:
            told += f"; of these {envelope.waits:,} tokens wait for the model"
        detail = "; ".join(filter(None, (told, self.memory.shelf.trouble)))
        return Plan(tuple(edits), reason=reason, detail=detail)

    def _is_smaller(self, envelope: Envelope, upto: int) -> bool:
        """Whether the summary is smaller than what it replaces."""
        return self._message_tokens(self._text(envelope.body)) < self.history.size(self._gone(upto))

    def _ends(self, wanted: int, after: int) -> Iterator[int]:
        """The possible ends of the summary that are nearest to ``wanted``.

        Earlier ends come first, since they keep more messages. If an earlier summary covers
        everything up to ``after``, later ends are left out, because that summary can stay.
        """
        places = frozenset(self.history.places)
        units = self.history.transcript.units
        ends = [u.stop - 1 for u in units if u.start > after and u.start in places]
        earlier = [end for end in reversed(ends) if end <= wanted]
        yield from earlier
        if earlier and after < 0:
            yield from [end for end in ends if end > wanted]

    def _spoken(self, upto: int) -> _Telling | None:
        """This summary with a valid place and role, the wanted one first; None without one."""
        if not self.history.leaving(upto):
            return None
        place = placed(self.history.transcript, self._gone(upto), self.form.role)
        return replace(self, place=place) if place else None

    def _blocks(self, new: list[int]) -> list[str]:
        """The new messages as blocks of text for the model."""
        return list(rendered((self.memory.original(i), self.history.messages[i]) for i in new))

    def _gone(self, upto: int) -> list[int]:
        return sorted({*self.history.leaving(upto), *self.history.summaries})

    def _text(self, body: str) -> str:
        return mark(body) if self.form.opening is None else f"{self.form.opening}{body}"

    def _text_tokens(self, body: str) -> int:
        return self.history.allowance.meter.text(self._text(body))

    def _message_tokens(self, text: str) -> int:
        wire, role = self.history.transcript.wire, self.place.role if self.place else self.form.role
        return self.history.allowance.meter.message(Message(role, wire.compose(role, text), wire))


__getattr__ = moved_names(__name__, {"tunacode_history": "holdfast.designs"})
