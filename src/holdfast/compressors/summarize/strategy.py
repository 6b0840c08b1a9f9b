"""History as a model tells it: one summary in its place, extended when the conversation grows."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.prompting import wording
from holdfast.compressors.summarize.envelope import Envelope
from holdfast.compressors.summarize.history import History
from holdfast.compressors.summarize.memory import Known, Memory
from holdfast.compressors.summarize.placing import placed, spoken
from holdfast.compressors.summarize.retention import retention_boundary
from holdfast.compressors.summarize.sections import joined, settled
from holdfast.compressors.summarize.telling import LEAST, Form, Telling
from holdfast.compressors.writing import Task, written
from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.errors import ConfigError, HoldfastError, ModelError
from holdfast.kernel.ports import Ask
from holdfast.kernel.transcript import Transcript

_OF_THE_MODEL = 0.6  # of the cap: the rest is for words of the user and for details
_ADDED = 0.3  # of the cap that a text may take which is set behind earlier ones


@dataclass(frozen=True, slots=True)
class Summarize:
    """What is older than the recent turns becomes one marked message, which a model writes.

    With a store, what was summarized before is found again and only extended: by thread where the conversation has
    one, else by what is covered. A summary that is handed back in the conversation is extended too. User messages
    are quoted in it while they fit, and exact things and constraints that the model left out are listed.
    If the model fails, or its reply is refused, nothing changes but what an earlier summary covers.
    """

    keep_recent: int | None = None
    """Messages that stay as they are, system messages not counted; exactly so many, whatever the budget."""

    keep_tokens: Share = 0.2
    """Without the two others: whole turns of at most so many tokens stay, or of this share of the target."""

    keep_at_least: Share | None = None
    """In their place: at least so many tokens stay, or this share of the target, cut after a finished message."""

    summary_max_tokens: Share = 0.15
    """What the summary may take, in tokens or as a share of the target."""

    combine: Literal["concat", "model", "hybrid"] = "concat"
    """How a summary is extended: new text is set behind it, and the oldest sentences go when the cap is reached;
    the model writes both anew; or the first until the cap is reached, then the second."""

    min_new: Share = 1.0
    """With ``keep_tokens`` and a store: the new history, in tokens or as a share of the target, for which the
    model is asked again. Until then it waits in the store, and its exact details stand in the summary."""

    quote_users: bool = True
    """Whether the user's own words are quoted while they fit."""

    verify: bool = True
    """Whether exact things and constraints that the model left out are listed."""

    role: Literal["user", "assistant", "system"] = "user"
    """Who speaks the summary."""

    opening: str | None = None
    """A text of the caller's in the place of the mark: the model's text alone stands behind it, and a conversation
    in which it is handed back holds it as a message like any other."""

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

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of all that the summary covers, and the summary."""
        exact = self.keep_recent is not None or self.keep_at_least is not None
        history = History(transcript, allowance, exact, self.role == "system")
        if history.total <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        if not allowance.writer:
            return Plan.skip("no_model", "no model was given; pass llm=")
        memory = Memory(history, self._writer(allowance), self.keep_seconds)
        form = Form(self.role, self.opening, self.quote_users, self.verify, self.summary_max_tokens)
        return (yield from self._planned(Telling(form, history, memory)))

    def _planned(self, telling: Telling) -> Flow:
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
        """Whether there is enough to summarize: an earlier summary under the caller's opening, alone, is not."""
        said = [history.messages[i].content_text or "" for i in new]
        if self.opening and len(said) == 1 and said[0].startswith(self.opening):
            return False
        return history.size(new) >= (1 if history.exact else LEAST)

    def _extended(self, telling: Telling, known: Known | None, new: list[int]) -> Flow:
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
        self, telling: Telling, known: Known | None, new: list[int]
    ) -> Generator[Ask[Any], Any, Envelope]:
        """The summary of what is known and of the new messages. Raises ModelError."""
        allowance, cap = telling.history.allowance, telling.cap(new[-1])
        count = allowance.meter.text
        earlier = known.envelope.texts if known else ()
        anew = bool(earlier) and self._writes_anew(count(joined(earlier)), cap)
        tokens = max(LEAST, int(cap * (_ADDED if earlier and not anew else _OF_THE_MODEL)))
        wish = {"instructions": f"{self.instructions.strip()}\n"} if self.instructions.strip() else {}
        blocks = (yield from telling.memory.waiting(known.envelope)) if known else []
        blocks += telling.blocks(new)
        task = Task("summarize", tokens, allowance.writer_window, count, wish)
        text = telling.history.told((yield from written(task, blocks, joined(earlier) if anew else "")))
        texts = (text,) if anew else settled((*earlier, text), cap, count)
        envelope = telling.envelope(known, new, texts, cap)
        if not telling.is_smaller(envelope, new[-1]):
            raise ModelError("the reply of the model was refused: the summary would not be smaller")
        return envelope

    def _put_off(self, telling: Telling, later: Envelope, new: list[int]) -> Flow:
        """The plan for a summary with messages that wait for the model, once these are kept."""
        yield from telling.memory.keep(later, telling.blocks(new))
        if not telling.memory.keeps:
            return Plan.skip("nothing_kept", telling.memory.trouble)
        return telling.plan(later, new[-1], "told_by_rule")

    def _start_of_recent(self, history: History) -> int:
        """Where the messages begin that stay as they are."""
        target = history.allowance.target
        if self.keep_at_least is None:
            return history.start_of_recent(self.keep_recent, tokens_of(self.keep_tokens, target))
        return retention_boundary(history.messages, history.sizes, tokens_of(self.keep_at_least, target))

    def _writes_anew(self, earlier: int, cap: int) -> bool:
        """Whether the model gets its earlier notes too, which have so many tokens."""
        if self.combine == "hybrid":
            return earlier > cap * (_OF_THE_MODEL - _ADDED)
        return self.combine == "model"

    def _writer(self, allowance: Allowance) -> str:
        """The fingerprint of all that decides what is written, the conversation and its budget aside."""
        said = (wording(), allowance.writer, self.instructions, self.quote_users, self.verify, self.opening)
        return sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()


def tunacode_history(keep_at_least: Share = 20_000) -> Summarize:
    """The preset of tunacode: one summary, which the model writes anew each time, and the newest tokens."""
    return Summarize(keep_at_least=keep_at_least, combine="model", opening="[Compaction summary]\n\n")


def _new(place: tuple[Telling, int], known: Known | None) -> list[int]:
    """What a summary up to there covers beyond the one that is known."""
    telling, upto = place
    return [i for i in telling.history.places if i <= upto and (known is None or i > known.upto)]
