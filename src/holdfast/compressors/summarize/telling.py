"""Putting a summary in the place of what it covers: how much it may take, what it says, and the edits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.compressors.prompting import rendered
from holdfast.compressors.summaries import mark
from holdfast.compressors.summarize.body import Body, Parts, chosen_words, composed, plain
from holdfast.compressors.summarize.envelope import Envelope
from holdfast.compressors.summarize.history import History
from holdfast.compressors.summarize.memory import Known, Memory
from holdfast.compressors.verification import details
from holdfast.kernel.budget import Share, tokens_of
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Insert, Replace
from holdfast.kernel.messages import Message, Role

LEAST = 64  # tokens; a smaller summary says nothing, and less history is not worth a call


@dataclass(frozen=True, slots=True)
class Form:
    """How a summary is told: the knobs of these names."""

    role: Role
    opening: str | None
    quote_users: bool
    verify: bool
    summary_max_tokens: Share


@dataclass(frozen=True, slots=True)
class Telling:
    """What a summary becomes in one conversation. Covers always run up to a position, of ``history.places``."""

    form: Form
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

    def envelope(self, known: Known | None, new: list[int], texts: tuple[str, ...], cap: int) -> Envelope:
        """The summary that these texts are of what is known and of the new messages."""
        upto = new[-1] if new or known is None else known.upto
        before = known.envelope if known else Envelope(self.memory.original(new[0]), 0, 0, "")
        said: tuple[str, ...] = ()
        if self.form.quote_users:
            earlier = before.said if known and known.stands else ()
            words = (*earlier, *self.history.words_of_users(i for i in self.history.places if i <= upto))
            said = chosen_words(words, self.most // 2, self.history.allowance.meter.text)
        body = self._body(new, Parts(before.count + len(new), texts, said, before.details), cap)
        told = replace(before, texts=texts, said=said, details=body.details, body=body.text)
        if not new:
            return told
        end, covers = self.memory.original(upto), self.memory.covers(upto)
        return replace(told, end=end, count=before.count + len(new), covers=covers, waiting=(), waits=0)

    def told_by_rule(self, known: Known, new: list[int]) -> Envelope:
        """The summary that is there, with the user's words and exact details of the new messages: these wait."""
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
        """The edits by which the summary takes the place of what it covers; the system's own is reworded."""
        text = self._text(envelope.body)
        messages, gone = self.history.transcript.messages, self._gone(upto)
        own = [i for i in self.history.summaries if messages[i].role == "system"]
        edits: list[Edit] = [Drop(tuple(i for i in gone if i not in own), "covered by the summary")]
        if own:
            edits.append(Replace(own[0], 0, text, "the summary, extended", asked=True))
        else:
            covers = gone[0], gone[-1]
            edits.append(Insert(upto + 1, self.form.role, text, "the summary of what is older", covers))
        told = f"{envelope.count:,} messages, up to message {envelope.end}"
        if envelope.waits:
            told += f"; of these {envelope.waits:,} tokens wait for the model"
        return Plan(tuple(edits), reason=reason, detail="; ".join(filter(None, (told, self.memory.trouble))))

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
        return composed(parts, details(messages) if self.form.verify else [], cap, self._text_tokens)

    def _gone(self, upto: int) -> list[int]:
        return sorted({*self.history.leaving(upto), *self.history.summaries})

    def _text(self, body: str) -> str:
        return mark(body) if self.form.opening is None else f"{self.form.opening}{body}"

    def _text_tokens(self, body: str) -> int:
        return self.history.allowance.meter.text(self._text(body))

    def _message_tokens(self, text: str) -> int:
        wire, role = self.history.transcript.wire, self.form.role
        return self.history.allowance.meter.message(Message(role, wire.compose(role, text), wire))
