"""What of a conversation may be summarized, where a summary of it ends, and what is summarized already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.compressors.concealing import concealed
from holdfast.compressors.summaries import body_of
from holdfast.kernel.budget import Allowance
from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Transcript
from holdfast.text.concealed import redacted_text


@dataclass(frozen=True)
class History:
    """A transcript and what may be spent on it.

    ``exact``: what stays is given, and nothing else is preferred. ``of_system``: a summary that the system speaks
    is one too, and no message of the system like any other.
    """

    transcript: Transcript
    allowance: Allowance
    exact: bool = False
    of_system: bool = False

    @cached_property
    def messages(self) -> Sequence[Message]:
        """The messages as they may be told again: without secrets where these are masked."""
        messages = self.transcript.messages
        return tuple(map(concealed, messages)) if self.allowance.redacts else messages

    def told(self, text: str) -> str:
        """A text that somebody else kept, or a model wrote, as it may be told."""
        return redacted_text(text)[0] if self.allowance.redacts else text

    @cached_property
    def sizes(self) -> Sequence[int]:
        """Tokens of each message."""
        return self.allowance.meter.sizes(self.transcript)

    @cached_property
    def total(self) -> int:
        """Tokens of everything."""
        return self.allowance.meter.total(self.transcript)

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """Where summaries stand that an earlier result put there; what may not be changed is none of them."""
        firm = self.transcript.pinned.union(self.transcript.newest)
        return tuple(
            i
            for i, message in enumerate(self.transcript.messages)
            if i not in firm and (self.of_system or message.role != "system") and body_of(message) is not None
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """What may be summarized: whole units behind the earlier summary, if there is one; the newest aside.

        What is only preferred to stay is among it: a summary covers it, and it leaves the view when nothing
        prefers it any more. So what a summary covers does not depend on which message is the newest of a user.
        """
        firm = self.transcript.protected.union(self.summaries)
        after = self.summaries[0] if self.summaries else -1
        return tuple(
            i for unit in self.transcript.units if unit.start > after and firm.isdisjoint(unit) for i in unit
        )

    def leaving(self, upto: int) -> tuple[int, ...]:
        """What leaves the view where a summary covers all that it may up to a position.

        Words of users that an earlier summary covers, and that stayed with it, go when nothing prefers them.
        """
        before = self.summaries[0] if self.summaries else 0
        covered = [i for i in self.places if i <= upto]
        stayed = [i for i in range(before) if self.transcript.messages[i].role == "user"]
        preferred = frozenset[int]() if self.exact else self.transcript.preferred.difference(self.summaries)
        firm = self.transcript.protected | preferred
        return tuple(i for i in (*stayed, *covered) if i not in firm)

    def start_of_recent(self, keep_recent: int | None, keep_tokens: int) -> int:
        """Where the messages begin that stay as they are.

        ``keep_recent`` messages, system messages not counted, and what belongs to the first of them; or whole
        turns of at most ``keep_tokens``, or whole units where the newest turn alone is longer.
        """
        messages = self.transcript.messages
        if keep_recent is not None:
            others = [i for i, message in enumerate(messages) if message.role != "system"]
            if keep_recent >= len(others):
                return 0
            first = others[len(others) - keep_recent] if keep_recent else len(messages)
            return next((unit.start for unit in self.transcript.units if first in unit), first)
        newest = self.transcript.newest.start
        turn = self._start([turn.start for turn in self.transcript.turns], keep_tokens)
        if turn <= newest:
            return turn
        return min(newest, self._start([unit.start for unit in self.transcript.units], keep_tokens))

    def _start(self, starts: Sequence[int], tokens: int) -> int:
        """The earliest of the starts behind which at most so many tokens stand; the end if there is none."""
        at = len(self.sizes)
        for start in reversed(starts):
            tokens -= sum(self.sizes[start:at])
            if tokens < 0:
                break
            at = start
        return at

    def size(self, positions: Iterable[int]) -> int:
        """Tokens of these messages."""
        return sum(self.sizes[i] for i in positions)

    def words_of_users(self, positions: Iterable[int]) -> Iterator[str]:
        """What users said there, word for word."""
        for i in positions:
            message = self.messages[i]
            if message.role == "user" and not message.results and (message.content_text or "").strip():
                yield message.content_text or ""
