"""The messages for the next model call: the system's, what the past has to say, and the recent turns.

What the past has to say is decided on each new input of a user and stays until the next one, so that the view
only grows at its end meanwhile. Where the recent turns begin moves in steps, each an event of the thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import takewhile

from holdfast.memory.segments import Segment
from holdfast.text.concealed import concealing
from holdfast.text.visible import amount

from .frame import Frame
from .gist import gist
from .inquiry import SHIFT_AFTER, Inquiry, has_shifted, is_idle, of_the_newest
from .lines import Kept
from .parts import Part, Telling, View, copied
from .past import Past, Recollection
from .recent import RecentTurns
from .speaking import in_mind, spoken
from .standing import ROOMIER

_ASKED_RECENT = 0.1  # share of the budget for recent turns where a question about the past is asked
_PAST = 0.2  # share that the past is left where recent turns are made smaller for it
_LEAST_PAST = 0.15  # share that it is left where they stay as they are
_REGROWTH = 0.2  # share that is left free when recent turns have outgrown their room
_GROWTH = 0.1  # share that is left free, so that the view can grow before it changes
_TALK = (0.7, 0.5)  # recent turns of a talk: from what share on they give way, and to what share
_EXCHANGES = (4.0, 3.0)  # the same of an agent's exchanges, which are told in notes: of more, little would be left
_BESIDE_NOTES = 0.15  # share that the past of an agent has at most where nobody asked: its notes tell most of it
_OUTGREW = "the recent turns outgrew their share of the budget"
_WIDER = "the budget has room for more of the recent turns"
_WORTH = 0.25  # score from which on the past is worth its tokens where nobody asked for it


class Fitting:
    """One fit of a thread: what is decided here is recorded there."""

    def __init__(self, frame: Frame, past: Past, forms: Callable[[int], Iterable[Segment]]) -> None:
        self.frame, self.past, self.forms = frame, past, forms
        self.thread, self.query = frame.thread, frame.query
        self.limit, self.room = frame.limit, frame.room
        self.standing = frame.standing
        self.mind = in_mind(self.thread, frame.options, frame.limit)
        self.recent = RecentTurns(frame)

    def view(self) -> View:
        """The view."""
        whole = self._whole()
        if whole is not None:
            return whole
        if self.query is not None:
            start = self.recent.start(int(self.room * _ASKED_RECENT))
            return self._recalling(start, Inquiry(self.query), self.limit, "recalled")
        reason = self._moved()
        leaves = bool(reason) and not self.frame.agent  # of an agent, what leaves stands in the notes
        if self.standing and not leaves and not self._shifted():
            grown = self._grown(Recollection.standing(self.standing), reason or "grown")
            if grown.budget_met:  # else what was recalled is too long for a budget that is smaller now
                return grown
        limit = int(self.limit * (1 - _GROWTH))
        return self._recalling(self.thread.state.since, of_the_newest(self.thread), limit, reason or "recalled")

    def _whole(self) -> View | None:
        """The whole thread, if it fits."""
        left = self.limit - self.frame.overhead
        if self.thread.state.tokens > left and not self.thread.state.rewordings:
            return None
        found: list[Kept] = []
        for kept in self.thread.backwards():
            left -= self.frame.size(kept)
            if left < 0:
                return None
            found.append(kept)
        originals = [kept.original for kept in reversed(found)]
        head = sum(1 for _ in takewhile(lambda kept: kept.message.role == "system", reversed(found)))
        part = Part(originals, self.limit - left, (), head, self.thread.state.messages, None)
        view = self._composed(part, 0, Recollection(), "everything_fits")
        return view if view.budget_met else None

    def _moved(self) -> str:
        """Move the beginning of the recent turns if they are too many, or have far more room now; the reason."""
        state = self.thread.state
        high, low = _EXCHANGES if self.frame.agent else _TALK
        recent = self.recent.tokens(int(self.room * high))
        outgrown, roomier = recent > self.room * high, 0 < ROOMIER * state.room < self.room
        if not (outgrown or roomier):
            return ""
        start = self.recent.start(int(self.room * low))
        if start <= state.since if outgrown else start >= state.since:
            state.room = self.room  # as it stands it suits this room
            return ""
        why = _OUTGREW if outgrown else _WIDER
        facts = {"from": state.since, "to": start, "tokens": recent, "room": self.room}
        self.thread.record_if_current("compaction", why, facts)
        return "compacted"

    def _grown(self, past: Recollection, reason: str) -> View:
        """The view as it was, with what came since; made smaller where there is no room for that."""
        start = self.thread.state.since
        last = self.recent.last(start)
        most = self.limit - self._cost(past.text)
        part = self.recent.part(start, most, most - int(self.room * _REGROWTH))
        stays = last is None or part.messages[: len(last.messages)] == last.messages
        return self._composed(part, start, past, reason if stays else "compacted")

    def _recalling(self, start: int, asked: Inquiry, limit: int, reason: str) -> View:
        """The view with what the past has to say to this question."""
        least = _WORTH if self.query is None else 0.0
        notes, empty = self._cost(""), self._telling("").tokens
        most = self.limit - max(notes, int(self.room * _LEAST_PAST))
        target = self.limit - max(notes, int(self.room * _PAST))
        part = self.recent.part(start, most, target)
        room = limit - part.tokens - empty
        if self.query is None and self.frame.agent:
            room = min(room, int(self.room * _BESIDE_NOTES))
        past = Recollection() if self._is_idle(asked) else self._recollected(asked, room, part, least)
        if self.query is None:
            past = self._filled(past, start, part)
        view = self._composed(part, start, past, reason)
        self._remember(past, asked, view)
        return view

    def _is_idle(self, asked: Inquiry) -> bool:
        """Whether there is nothing to look for, in what the user said and in the work since then."""
        return self.query is None and not asked.work and is_idle(self.thread)

    def _recollected(self, asked: Inquiry, room: int, part: Part, least: float) -> Recollection:
        """What the past has to say in so much room, of what the part does not show."""
        empty = self._telling("").tokens
        shown = {place for place in part.places if place is not None}
        count = self.frame.options.meter.text
        return self.past.recollect(
            asked, room, count, lambda text: self._telling(text).tokens - empty, shown, least
        )

    def _filled(self, past: Recollection, start: int, part: Part) -> Recollection:
        """With what the tiers say in brief of the rest, where much room is left.

        As much stays free as when recent turns are made smaller, so that they can grow.
        """
        said = f"{past.text}\n" if past.text else ""
        room = self.limit - int(self.room * _REGROWTH) - part.tokens - self._telling(said).tokens
        options, known = self.frame.options, {each.position for each in past.chosen}
        brief = gist(self.forms(start), room, options.meter.text, known, concealing(redacts=options.redacts))
        return replace(past, text=said + brief)

    def _remember(self, past: Recollection, asked: Inquiry, view: View) -> None:
        """Record what was recalled, and for which input if it is to stay until the next one."""
        facts = {
            "question": asked.shown,
            "chosen": past.facts(),
            "tokens": view.tokens,
            "of": self.thread.state.tokens,
        }
        reason = f"{amount(len(past.chosen), 'message')} of the past found for it"
        self.thread.record_if_current("recall", reason, facts)
        if self.query is None:
            state = self.thread.state
            now = {"for": state.spoke, "at": state.messages, "agent": self.frame.agent, "text": past.text}
            state.recalled = facts | now | {"chosen": past.kept(), "limit": self.limit}

    def _composed(self, part: Part, start: int, past: Recollection, reason: str) -> View:
        """The view: what is fixed, what the past has to say, the recent turns."""
        messages, tokens = list(part.messages), part.tokens
        if self._speaks(past.text):
            telling = self._telling(past.text)
            messages.insert(part.head, telling.message)
            tokens += telling.tokens
        copies = [copied(message) for message in messages]
        return View(copies, tokens, self.limit, reason, start, past.chosen, part.result)

    def _telling(self, recalled: str) -> Telling:
        """The message in which the past speaks."""
        return spoken(self.thread, self.frame.desk, self.frame.options.meter, self.mind, recalled)

    def _cost(self, recalled: str) -> int:
        """Tokens of the message in which the past speaks; none where there is nothing to say."""
        return self._telling(recalled).tokens if self._speaks(recalled) else 0

    def _speaks(self, recalled: str) -> bool:
        return bool(recalled or self.mind)

    def _shifted(self) -> bool:
        """Whether the work has turned to something else; asked anew when enough has come."""
        end = self.thread.state.messages
        if end - max(self.standing["at"], self.frame.desk.looked) < SHIFT_AFTER:
            return False
        self.frame.desk.looked = end
        return has_shifted(self.thread, self.standing)
