"""History as a model tells it: one summary in its place, extended when the conversation grows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from holdfast.compressors.cuts import NOT_ENDED, ends_with_user, voice
from holdfast.compressors.knobs import Configured, check_knobs
from holdfast.compressors.summaries import mark
from holdfast.compressors.summary_memory import Envelope, History, Known, Memory
from holdfast.compressors.summary_text import (
    Body,
    Parts,
    chosen_words,
    composed,
    joined,
    plain,
    settled,
)
from holdfast.compressors.verification import details
from holdfast.compressors.writer import Task, rendered, wording, written
from holdfast.kernel.apply import apply
from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Insert, Replace
from holdfast.kernel.errors import ConfigError, HoldfastError, IntegrityError, ModelError
from holdfast.kernel.messages import Message
from holdfast.kernel.ports import Ask
from holdfast.kernel.registry import moved_names
from holdfast.kernel.transcript import Transcript

_OF_THE_MODEL = 0.6  # of the cap: the rest is for words of the user and for details


_ADDED = 0.3  # of the cap that a text may take which is set behind earlier ones


Speaker = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class Summarize(Configured):
    """What is older than the recent turns becomes one marked message, which a model writes.

    With a store, what was summarized before is found again and only extended: by thread where the
    conversation has one, else by what is covered. A summary that is handed back in the conversation
    is extended too. User messages are quoted in it while they fit, and exact things and constraints
    that the model left out are listed. If the model fails, or its reply is refused, nothing changes
    but what an earlier summary covers.
    """

    keep_recent: int | None = None
    """Messages that stay as they are, system messages not counted; exactly so many, whatever the
    budget."""

    keep_tokens: Share = 0.2
    """Without the two others: whole turns of at most so many tokens stay, or of this share of the
    target."""

    keep_at_least: Share | None = None
    """In their place: at least so many tokens stay, or this share of the target, cut after a
    finished message."""

    summary_max_tokens: Share = 0.15
    """What the summary may take, in tokens or as a share of the target."""

    combine: Literal["concat", "model", "hybrid"] = "concat"
    """How a summary is extended: new text is set behind it, and the oldest sentences go when the
    cap is reached; the model writes both anew; or the first until the cap is reached, then the
    second."""

    min_new: Share = 1.0
    """With ``keep_tokens`` and a store: the new history, in tokens or as a share of the target, for
    which the model is asked again. Until then it waits in the store, and its exact details stand in
    the summary."""

    quote_users: bool = True
    """Whether the user's own words are quoted while they fit."""

    verify: bool = True
    """Whether exact things and constraints that the model left out are listed."""

    only_when_last_is_user: bool = False
    """Whether a conversation that does not end with a user's message is left alone."""

    role: Speaker = "user"
    """Who speaks the summary."""

    opening: str | None = None
    """A text of the caller's in the place of the mark: the model's text alone stands behind it, and
    a conversation in which it is handed back holds it as a message like any other."""

    instructions: str = ""
    """What the model is asked to mind beside the usual."""

    keep_seconds: float | None = None
    """How long a kept summary is used; without end if None."""

    name = "summarizing"

    def __post_init__(self) -> None:
        check_knobs(self)
        if self.keep_recent is not None and self.keep_at_least is not None:
            advice = "give one of keep_recent and keep_at_least"
            raise ConfigError("what stays has one measure", place="Summarize", advice=advice)

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of all that the summary covers, and the summary."""
        if self.only_when_last_is_user and not ends_with_user(transcript):
            return Plan.skip("last_is_not_user", NOT_ENDED)
        exact = self.keep_recent is not None or self.keep_at_least is not None
        heard = self.opening is not None or voice(transcript, self.role) == self.role
        form = self if heard else replace(self, role="user")
        history = History(transcript, allowance, exact, form.role == "system")
        if history.total <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        if not allowance.writer:
            return Plan.skip("no_model", "no model was given; pass llm=")
        memory = Memory(history, self._writer(allowance), self.keep_seconds)
        return (yield from self._planned(SummaryTelling(form, history, memory)))

    def _planned(self, telling: SummaryTelling) -> Flow:
        history, memory = telling.history, telling.memory
        start = self._start_of_recent(history)
        known = yield from memory.look(start)
        kept = spoken(telling, known.upto) if known and not known.stands else None
        if known and kept and not history.exact:
            reused = kept[0].reused(known, telling.most)
            if telling.meets(reused):
                return reused
        place = placed(telling, start - 1, known.upto if known else -1)
        if place is None or not self._is_worth_it(history, _new(place, known)):
            if known and kept:
                return kept[0].reused(known, telling.cap(known.upto))
            if start == 0:
                return Plan.skip("no_boundary", "no cut leaves enough behind it")
            return Plan.skip("nothing_older", "nothing that may go is older than what stays")
        telling, new = place[0], _new(place, known)
        if known and not history.exact and memory.keeps:
            waits = known.envelope.waits + history.size(new)
            if waits < tokens_of(self.min_new, history.allowance.target):
                later = telling.told_by_rule(known, new)
                if telling.is_smaller(later, new[-1]):
                    return (yield from self._put_off(telling, later, new))
        return (yield from self._extended(telling, known, new))

    def _is_worth_it(self, history: History, new: Sequence[int]) -> bool:
        """Whether there is enough to summarize.

        An earlier summary under the caller's opening, alone, is not.
        """
        said = [history.messages[i].content_text or "" for i in new]
        if self.opening and len(said) == 1 and said[0].startswith(self.opening):
            return False
        return history.size(new) >= (1 if history.exact else LEAST)

    def _extended(self, telling: SummaryTelling, known: Known | None, new: list[int]) -> Flow:
        """The plan with a summary that the model wrote; without it, what can be done by rule."""
        try:
            envelope = yield from self._written(telling, known, new)
        except HoldfastError as fault:
            done, detail = Plan(), " ".join(str(fault).split())
            if known and telling.memory.keeps:
                later = telling.told_by_rule(known, new)
                if telling.is_smaller(later, new[-1]):
                    done = yield from self._put_off(telling, later, new)
            return Plan(done.edits, "failed", "summarization_failed", detail, fault=fault)
        yield from telling.memory.keep(envelope)
        return telling.plan(envelope, new[-1], "summarized")

    def _written(
        self, telling: SummaryTelling, known: Known | None, new: list[int]
    ) -> Generator[Ask[Any], Any, Envelope]:
        """The summary of what is known and of the new messages. Raises ModelError."""
        allowance, cap = telling.history.allowance, telling.cap(new[-1])
        count = allowance.meter.text
        earlier = known.envelope.texts if known else ()
        anew = bool(earlier) and self._writes_anew(count(joined(earlier)), cap)
        tokens = max(LEAST, int(cap * (_ADDED if earlier and not anew else _OF_THE_MODEL)))
        wish = (
            {"instructions": f"{self.instructions.strip()}\n"} if self.instructions.strip() else {}
        )
        blocks = (yield from telling.memory.waiting(known.envelope)) if known else []
        blocks += telling.blocks(new)
        task = Task("summarize", tokens, allowance.writer_window, count, wish)
        text = telling.history.told(
            (yield from written(task, blocks, joined(earlier) if anew else ""))
        )
        texts = (text,) if anew else settled((*earlier, text), cap, count)
        envelope = telling.envelope(known, new, texts, cap)
        if not telling.is_smaller(envelope, new[-1]):
            raise ModelError("the reply of the model was refused: the summary would not be smaller")
        return envelope

    def _put_off(self, telling: SummaryTelling, later: Envelope, new: list[int]) -> Flow:
        """The plan for a summary with messages that wait for the model, once these are kept."""
        yield from telling.memory.keep(later, telling.blocks(new))
        if not telling.memory.keeps:
            return Plan.skip("nothing_kept", telling.memory.shelf.trouble)
        return telling.plan(later, new[-1], "told_by_rule")

    def _start_of_recent(self, history: History) -> int:
        """Where the messages begin that stay as they are."""
        target = history.allowance.target
        if self.keep_at_least is None:
            return history.start_of_recent(self.keep_recent, tokens_of(self.keep_tokens, target))
        return retention_boundary(
            history.messages, history.sizes, tokens_of(self.keep_at_least, target)
        )

    def _writes_anew(self, earlier: int, cap: int) -> bool:
        """Whether the model gets its earlier notes too, which have so many tokens."""
        if self.combine == "hybrid":
            return earlier > cap * (_OF_THE_MODEL - _ADDED)
        return self.combine == "model"

    def _writer(self, allowance: Allowance) -> str:
        """The fingerprint of all that decides what is written, conversation and budget aside."""
        said = (
            wording(),
            allowance.writer,
            self.instructions,
            self.quote_users,
            self.verify,
            self.opening,
        )
        return sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()


def _new(place: tuple[SummaryTelling, int], known: Known | None) -> list[int]:
    """What a summary up to there covers beyond the one that is known."""
    telling, upto = place
    return [i for i in telling.history.places if i <= upto and (known is None or i > known.upto)]


def retention_boundary(messages: Sequence[Message], sizes: Sequence[int], keep_recent: int) -> int:
    """How many of the first messages may be summarized; ``keep_recent`` tokens stay behind them.

    The cut moves back to where it parts no call from its result; 0 where nothing can go.
    """
    cut, kept = len(messages), 0
    while cut > 0 and kept < keep_recent:
        cut -= 1
        kept += sizes[cut]
    while cut > 0 and not _is_safe(messages, cut):
        cut -= 1
    return cut if kept >= keep_recent else 0


def _is_safe(messages: Sequence[Message], cut: int) -> bool:
    """Whether a finished message stands before the cut, and no result behind it."""
    before = messages[cut - 1]
    if before.role == "tool" or before.calls or (before.results and before.role != "user"):
        return False
    return cut == len(messages) or not messages[cut].results


LEAST = 64  # tokens; a smaller summary says nothing, and less history is not worth a call


@dataclass(frozen=True, slots=True)
class SummaryTelling:
    """What a summary becomes in one conversation.

    Covers always run up to a position, of ``history.places``.
    """

    form: Summarize
    """How it is told: its role, its opening, what is quoted and what is verified."""

    history: History
    memory: Memory

    @property
    def most(self) -> int:
        """Tokens that the text of any summary may take."""
        return max(LEAST, tokens_of(self.form.summary_max_tokens, self.history.allowance.target))

    def cap(self, upto: int) -> int:
        """Tokens that the text of a summary may take, so that everything fits the target."""
        target = self.history.allowance.target
        room = target - self.history.total + self.history.size(self._gone(upto))
        room -= self._message_tokens("") - self.history.allowance.meter.text("")
        return min(self.most, max(LEAST // 4, room))

    def envelope(
        self, known: Known | None, new: list[int], texts: tuple[str, ...], cap: int
    ) -> Envelope:
        """The summary that these texts are of what is known and of the new messages."""
        upto = new[-1] if new or known is None else known.upto
        before = known.envelope if known else Envelope(self.memory.original(new[0]), 0, 0, "")
        said: tuple[str, ...] = ()
        if self.form.quote_users:
            earlier = before.said if known and known.stands else ()
            words = (
                *earlier,
                *self.history.words_of_users(i for i in self.history.places if i <= upto),
            )
            said = chosen_words(words, self.most // 2, self.history.allowance.meter.text)
        body = self._body(new, Parts(before.count + len(new), texts, said, before.details), cap)
        told = replace(before, texts=texts, said=said, details=body.details, body=body.text)
        if not new:
            return told
        end, covers = self.memory.original(upto), self.memory.covers(upto)
        return replace(
            told, end=end, count=before.count + len(new), covers=covers, waiting=(), waits=0
        )

    def told_by_rule(self, known: Known, new: list[int]) -> Envelope:
        """The summary that is there, with the user's words and exact details of the new messages.

        These wait.
        """
        before = known.envelope
        later = self.envelope(known, new, before.texts, self.cap(new[-1]))
        return replace(later, waiting=before.waiting, waits=before.waits + self.history.size(new))

    def reused(self, known: Known, cap: int) -> Plan:
        """The plan for a kept summary, of at most so many tokens."""
        envelope = known.envelope
        if self._text_tokens(envelope.body) > cap:
            envelope = self.envelope(known, [], envelope.texts, cap)
        return self.plan(envelope, known.upto, "summary_reused")

    def plan(self, envelope: Envelope, upto: int, reason: str) -> Plan:
        """The edits by which the summary takes the place of what it covers.

        The system's own is reworded.
        """
        text = self._text(envelope.body)
        messages, gone = self.history.transcript.messages, self._gone(upto)
        own = [i for i in self.history.summaries if messages[i].role == "system"]
        edits: list[Edit] = [Drop(tuple(i for i in gone if i not in own), "covered by the summary")]
        if own:
            edits.append(Replace(own[0], 0, text, "the summary, extended", asked=True))
        else:
            covers = gone[0], gone[-1]
            edits.append(
                Insert(upto + 1, self.form.role, text, "the summary of what is older", covers)
            )
        told = f"{envelope.count:,} messages, up to message {envelope.end}"
        if envelope.waits:
            told += f"; of these {envelope.waits:,} tokens wait for the model"
        return Plan(
            tuple(edits),
            reason=reason,
            detail="; ".join(filter(None, (told, self.memory.shelf.trouble))),
        )

    def is_smaller(self, envelope: Envelope, upto: int) -> bool:
        """Whether the summary takes less than what leaves for it."""
        return self._message_tokens(self._text(envelope.body)) < self.history.size(self._gone(upto))

    def meets(self, plan: Plan) -> bool:
        """Whether the target is met with the summary that a plan inserts."""
        gone = [i for edit in plan.edits if isinstance(edit, Drop) for i in edit.indices]
        texts = [edit.text for edit in plan.edits if isinstance(edit, Insert)]
        after = self.history.total - self.history.size(gone) + sum(map(self._message_tokens, texts))
        return after <= self.history.allowance.target

    def blocks(self, new: list[int]) -> list[str]:
        """The new messages as a model reads them."""
        return list(rendered((self.memory.original(i), self.history.messages[i]) for i in new))

    def _body(self, new: list[int], parts: Parts, cap: int) -> Body:
        if self.form.opening is not None:
            return plain(parts.texts, cap, self._text_tokens)
        messages = [self.history.messages[i] for i in new]
        return composed(
            parts, details(messages) if self.form.verify else [], cap, self._text_tokens
        )

    def _gone(self, upto: int) -> list[int]:
        return sorted({*self.history.leaving(upto), *self.history.summaries})

    def _text(self, body: str) -> str:
        return mark(body) if self.form.opening is None else f"{self.form.opening}{body}"

    def _text_tokens(self, body: str) -> int:
        return self.history.allowance.meter.text(self._text(body))

    def _message_tokens(self, text: str) -> int:
        wire, role = self.history.transcript.wire, self.form.role
        return self.history.allowance.meter.message(Message(role, wire.compose(role, text), wire))


_REACH = 8  # units before and behind the wanted end that are tried
_SPEAKERS: tuple[Speaker, ...] = ("user", "assistant")
_STAND_IN = Envelope(start=0, end=0, count=1, covers="", body="…")


def placed(
    telling: SummaryTelling, wanted: int, after: int = -1
) -> tuple[SummaryTelling, int] | None:
    """The position nearest to ``wanted`` up to which a summary may cover all, and who speaks it.

    Earlier ends are tried first, since they keep more. Where a summary covers all up to ``after``
    already, no later ones are: it can stay as it is. None where no summary can stand.
    """
    return next((at for end in _ends(telling, wanted, after) if (at := spoken(telling, end))), None)


def spoken(telling: SummaryTelling, upto: int) -> tuple[SummaryTelling, int] | None:
    """The position with a speaker that may stand behind it, the wanted one if he may.

    None where nobody may.
    """
    if not telling.history.leaving(upto):
        return None
    speakers = dict.fromkeys((telling.form.role, *_SPEAKERS))
    trials = (replace(telling, form=replace(telling.form, role=role)) for role in speakers)
    return next(((trial, upto) for trial in trials if _may_stand(trial, upto)), None)


def _ends(telling: SummaryTelling, wanted: int, after: int) -> Iterator[int]:
    places = frozenset(telling.history.places)
    ends = [
        unit.stop - 1
        for unit in telling.history.transcript.units
        if unit.start > after and unit.start in places
    ]
    earlier = [end for end in reversed(ends) if end <= wanted]
    yield from earlier[:_REACH]
    if earlier and after < 0:
        yield from [end for end in ends if end > wanted][:_REACH]


def _may_stand(telling: SummaryTelling, upto: int) -> bool:
    try:
        apply(telling.history.transcript, telling.plan(_STAND_IN, upto, "").edits)
    except IntegrityError:
        return False
    return True


__getattr__ = moved_names(__name__, {"tunacode_history": "holdfast.designs.tunacode"})
