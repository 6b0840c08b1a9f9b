"""A model shortens the summaries in a conversation; no other message changes."""

from dataclasses import dataclass

from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan, ask
from holdfast.kernel.edits import Replace
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript
from holdfast.text.fit import Count
from holdfast.text.visible import fault_line

from .note_text import read_notes
from .summaries import body_of, concealed, mark
from .writer import (
    Detail,
    accepted,
    attributed,
    quoted,
    refused,
    request,
    together,
    with_missing,
)

# tokens, a clause, that a model is asked for at least, however small the cap; with a sentence, a
# result over its budget would change when it is compressed again
_LEAST = 16


@dataclass(frozen=True, slots=True)
class Squeeze(Configured):
    """Summaries that are too long are rewritten by the model, each to about half its length.

    Exact details that the model left out are listed after its text if there is room. If the model
    fails, or a reply is refused, nothing changes.
    """

    cap_tokens: Share = 400
    """The cap on all summaries together, in tokens or as a share of the target.

    The cap is lower if everything fits only then.
    """

    name = "squeeze"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each summary."""
        count = allowance.meter.text
        found = {
            i: concealed(message) if allowance.redacts else message
            for i, message in enumerate(transcript.messages)
            if message.ours and len(message.parts) == 1 and i not in transcript.pinned
        }
        cap = tokens_of(self.cap_tokens, allowance.target)
        sizes = {i: count(summary.content_text or "") for i, summary in found.items()}
        whole = sum(sizes.values())
        left = whole + allowance.target - allowance.meter.total(transcript)
        if left >= _LEAST:
            cap = min(cap, left)
        if whole <= cap:
            return Plan.skip("within_cap", f"summaries take {whole:,} tokens, {cap:,} are the cap")
        if not allowance.writer:
            return Plan.skip("no_model", "no model was given; pass llm=")
        given = {i: max(_LEAST, min(size // 2, cap * size // whole)) for i, size in sizes.items()}
        # what is as short as a model may be asked for is not asked for again
        long = [i for i, summary in found.items() if count(body_of(summary) or "") > given[i]]
        if not long:
            return Plan.skip("within_cap", "no summary can be asked to be shorter")
        texts = yield from together([_shorter(found[i], given[i], count) for i in long])
        edits: list[Replace] = []
        for i, text in zip(long, texts, strict=True):
            if isinstance(text, HoldfastError):
                return Plan((), "failed", "summarization_failed", fault_line(text), fault=text)
            edits.append(Replace(i, 0, text, "the summary, shortened", asked=True))
        return Plan(tuple(edits), reason="squeezed")


def _shorter(summary: Message, room: int, count: Count) -> Asking[str]:
    """The model's shorter text as a marked summary. Raises ModelError if it is refused."""
    role, body = summary.role, body_of(summary) or ""
    reply = yield from ask(request("squeeze", room, {"messages": quoted(body)}))
    text = accepted(reply, room, count, body)
    after = mark(with_missing(text, _details(body, role), room, count), role)
    if count(after) >= count(summary.content_text or ""):
        raise refused("it is not shorter than the summary")
    return after


def _details(body: str, role: Role) -> list[Detail]:
    """The details of a summary, each as notes tell it: who said it, and which act failed."""
    found: list[Detail] = []
    for event in read_notes(body, role):
        by: Role = "tool" if event.function == "outcome" else "assistant"
        said, label = event.text, event.by
        if event.function == "notes" or event.is_users_words:
            by, label = "user", ""
        elif event.function in ("act", "outcome"):
            said = f"{event.by} {said}".lstrip() if event.function == "act" else said
            label = "failed" if event.failed else ""
        found += attributed(by, said, label)
    return found
