"""The messages for the next model call: the recent turns, and what was recalled of the past.

Without a question the view grows at its end until it is full, and is then compacted. The past is
searched when the user mentions something that the view does not have, and at each compaction; what
was recalled stays in the view until then.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import Any

from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import BudgetError
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import violations
from holdfast.model_usage import ModelCall, ModelUsage
from holdfast.result import CompressionMetrics, CompressionResult, Net
from holdfast.text.visible import GLANCE, amount
from holdfast.validity import repair

from .log import NEWEST
from .recall import WORTH, Inquiry, Past, Recalled, Recollection, of_the_newest
from .recent import Part, RecentTurns, marked_message, notes_text
from .state import Made


@dataclass(frozen=True, slots=True)
class View:
    """The messages for the model, and how they were chosen."""

    messages: list[Any]
    tokens: int
    limit: int
    reason: str
    """How the view was made.

    ``everything_fits``; ``grown``: the view before, with newer messages; ``recalled``: past
    messages were found for it; ``compacted``: it was made again, smaller.
    """

    since: int = 0
    """The position from which every message is in the view; an output may be shortened."""

    recalled: tuple[Recalled, ...] = ()
    result: CompressionResult | None = field(default=None, repr=False)
    """The last compression of the messages.

    ``holdfast.restore`` of it returns them as they are in the thread; ``Session.restore`` returns
    everything as it was appended.
    """

    smallest: int | None = None
    """If the budget is not met: the tokens of a budget that would be."""

    net: Net | None = None
    """What making the view again saved, if costs decide."""

    @property
    def budget_met(self) -> bool:
        """Whether the view is within the budget."""
        return self.tokens <= self.limit

    @property
    def metrics(self) -> CompressionMetrics | None:
        """The sizes before and after the last compression of the messages."""
        return self.result.metrics if self.result else None

    @property
    def model_usage(self) -> ModelUsage | None:
        """The calls of models for it."""
        return self.result.model_usage if self.result else None


def too_large(view: View) -> BudgetError:
    """The error for a view that does not fit its budget."""
    return BudgetError(
        limit=view.limit,
        tokens=view.tokens,
        smallest=view.smallest or view.tokens,
        reason="the messages that must stay are larger",
    )


def copied(value: Any) -> Any:
    """A copy of a message or of a part of it, which the caller may change."""
    kind: object = value.__class__  # what is kept is JSON
    if kind is list:
        return list(map(copied, value))
    if kind is not dict:
        return value
    made = value.copy()
    for name, part in value.items():
        if type(part) is not str:
            made[name] = copied(part)
    return made


# share of the budget for recent turns if there is a question about a talk of which little fits; in
# dialogues half and double of it left as much of what answers
_ASKED_RECENT = 0.1
_PAST = 0.15  # least share of the room for a search; for a question half and double told the same
# Where this share of the thread's tokens fits, in a talk and in an agent's work, the selection
# answers nearly alone; the less fits, the more of the room is left to a search. Of questions about
# dialogues as many are answered as by search alone, and of what the last message of made-up chats
# and runs needs .68 is there at 30% instead of .59
_ENOUGH = {True: 0.4, False: 0.2}
# times the difference between that share and the share that fits, as the share of the room for a
# search: with half, .985 of questions about dialogues at 30% are answered instead of .994, and with
# double as many. Without it, .43 of the names that come next in dialogues fitted before each reply
# to 30% are there instead of .46
_SEARCHED = 5.0
# share that a new view leaves free, so that it can grow at its end. In recorded runs as much is
# kept as with 0.2, and a growing thread is compacted 40% less often
_GROWTH = 0.3
# messages of the usual size that fit what is left free, else nothing is. With this and the 16,000
# tokens of ``recent``, views of twenty recorded runs with 30% of their size had 0.859 of what was
# used later, without them 0.823
_WORTH_FREE = 6
# largest share for the past without a question, in a talk and in an agent's work, of the room that
# the newest exchange leaves: that exchange is what is being worked on. Half and double of either
# kept as much of dialogues and recorded runs
_RECALL = {True: 0.5, False: 0.15}
_NEWEST = 0.15  # share of the newest messages, in the view anyway; half and double gave equal views
_OUTGREW = "the recent turns outgrew their share of the budget"
_WIDER = "the budget has room for more of the recent turns"


class Fit:
    """One fit of a thread; its decisions are recorded in the thread."""

    def __init__(self, recent: RecentTurns, past: Past) -> None:
        self.recent, self.past = recent, past
        self.thread, self.state, self.last_fit = recent.thread, recent.state, recent.last_fit
        self.limit, self.room = recent.limit, recent.room
        self.notes = notes_text(self.thread, recent.options, recent.limit)
        self.messages: Sequence[Message] = ()
        """The messages of the view, as they were read."""

    def view(self) -> View:
        """The view."""
        found = self._whole_thread()
        if found is None:
            query = self.recent.query
            found = self._continue_view() if query is None else self._for_question(query)
        self.last_fit.grows = True
        return found

    def _whole_thread(self) -> View | None:
        """The whole thread, if it fits."""
        overhead = self.recent.overhead
        left = self.limit - overhead
        if self.state.tokens > left and not self.state.rewordings:
            return None
        messages: list[Message] = []
        for kept in self.thread.backwards():
            left -= self.recent.size(kept.message)
            if left < 0:
                return None
            messages.append(kept.message)
        messages.reverse()
        head = sum(1 for _ in takewhile(lambda message: message.role == "system", messages))
        end, tokens = self.state.messages, self.limit - left
        part = Part(messages, tokens, overhead, (), head, end, 0)
        view = self._compose(part, Recollection(), "everything_fits")
        due = view.tokens > self.recent.trigger and self._pays(view.tokens)
        return None if due else view

    # a question about the past

    def _for_question(self, query: str) -> View:
        """The view for a question: what answers it of all messages, and what a search adds."""
        notes = self._past_tokens("")
        share = self._search_share(is_talk=self.recent.is_talk())
        if share < 1 - _ASKED_RECENT:
            scope = self.recent.scope(None)
        else:
            start, share = self.recent.start(int(self.room * _ASKED_RECENT)), _PAST
            scope = self.recent.since(start, is_talk=True)
        part, _ = self.recent.make(scope, self.limit - max(notes, int(self.room * share)), "")
        if part.tokens + notes > self.limit:  # among more messages a large one can be left out
            scope = self.recent.scope(None)
            part, _ = self.recent.make(scope, self.limit - notes, "")
        asked = Inquiry(query)
        past = self._recollect(asked, self.limit - part.tokens, set(part.places), 0.0)
        told = self._past_tokens(past.text)
        # room is left: all that was found is told, or most of what answers is in the view already
        if self.limit - part.tokens - told > min(told, self.room * _PAST):
            newest = self.recent.scope(None)
            start = max([newest.start, *(last + 1 for _, last in self.state.evicted)])
            wider, _ = self.recent.make(replace(newest, start=start), self.limit - told, "")
            part = part if wider.tokens + told > self.limit else wider
            stands = self._whole(part)
            if any(each.position in stands for each in past.chosen):
                past = self._recollect(asked, self.limit - part.tokens, stands, 0.0)
        return self._recalling(part, past, asked, "recalled")

    def _whole(self, part: Part) -> set[int]:
        """The positions of the messages that stand in the part as they are in the thread."""
        kept = self.thread.read([place for place in part.places if place is not None])
        stands = zip(part.places, part.messages, strict=True)
        return {
            place
            for place, message in stands
            if place in kept and kept[place].original == message.original
        }

    def _search_share(self, *, is_talk: bool) -> float:
        """The share of the room that a search is worth, above 1 where very little fits."""
        fits = self.room / max(1, self.state.tokens)
        return max(_PAST, _SEARCHED * (_ENOUGH[is_talk] - fits))

    # what comes next

    def _continue_view(self) -> View:
        """The last view with newer messages; made again if it is full."""
        state = self.state
        part, past = self.recent.extend_last(), Recollection.recorded(state.recalled)
        if part is None or state.made is None:
            return self._rebuild(None, past, "compacted", "" if state.made else _OUTGREW)
        # a new view would be larger than the last one can become
        if self.limit * (1 - _GROWTH) > state.made.limit:
            return self._rebuild(None, past, "compacted", _WIDER)
        whole = part.tokens + self._past_tokens(past.text)
        if whole > self.recent.trigger and self._pays(whole):
            return self._rebuild(part, past, "compacted", _OUTGREW)
        shown = self._shown(state.made)
        if not (shown.start and self._needs_past(part, past)):
            return self._compose(part, past, "grown")
        asked, free = of_the_newest(self.thread), self.limit - part.tokens
        most = self._room_for_past(asked, self.room, state.made)
        if free < most / 2:
            return self._rebuild(part, past, "recalled", _OUTGREW)
        past = self._search_past(asked, min(free, most), shown, part.places)
        return self._recalling(part, past, asked, "recalled")

    def _net(self, before: int, after: int, calls: Sequence[ModelCall] = ()) -> Net | None:
        """What making the view again saves; None if costs do not decide.

        Only system messages and pins are sure to begin both views.
        """
        costs, seen = self.recent.options.costs, self.last_fit.seen
        if costs is None:
            return None
        idle = costs.lifetime if seen is None else self.thread.now() - seen
        now = replace(costs, idle=idle, cached=self.last_fit.sent)
        spent = ModelUsage(tuple(calls)).cost or 0.0
        return now.net(before, after, shared=self.recent.fixed_tokens, spent=spent)

    def _pays(self, tokens: int) -> bool:
        """Whether to make a view of this size again; always, if it has no room."""
        costs, net = self.recent.options.costs, self._net(tokens, self.recent.target)
        if costs is None or net is None or tokens > self.limit or net.over(costs.calls) > 0:
            return True
        self.last_fit.waited += 1
        return False

    def _needs_past(self, part: Part, past: Recollection) -> bool:
        """Whether the user's newest input mentions something that the view lacks."""
        spoke, heard = self.state.spoke, self.last_fit.searched_for
        self.last_fit.searched_for = spoke
        if spoke in (None, heard, self.state.recalled.get("for")):
            return False
        beside = [
            message
            for place, message in zip(part.places, part.messages, strict=True)
            if place != spoke
        ]
        return not of_the_newest(self.thread).is_known(beside, past.text)

    def _rebuild(self, last: Part | None, past: Recollection, reason: str, why: str) -> View:
        """Make the view again, and search the past for it.

        ``last`` is the present part, ``past`` what was recalled for it. ``reason`` is that of the
        view, ``why`` that of the compaction; it is empty if this is none.
        """
        asked, state = of_the_newest(self.thread), self.state
        scope, most = self.recent.scope(last), self.recent.target
        whole = self._past_tokens(past.text)
        whole += last.tokens if last else self.recent.overhead + state.tokens
        asked_before = len(self.last_fit.calls)
        searches = not self._only_agrees(asked)
        if searches:
            room = self._room_for_past(asked, most - self.recent.fixed_tokens, scope)
            past = self._search_past(asked, room, self._shown(scope))
        goes_on = self.last_fit.grows or state.made is not None  # here, or in an earlier process
        target = min(most, self.limit - (self._growth() if goes_on else 0))
        part, made = self.recent.make(scope, target, self._past_text(past.text))
        if searches and any(each.position in part.places for each in past.chosen):
            told = self._past_tokens(past.text)  # what stands in the view is not told again
            past = self._search_past(asked, told, self._shown(scope), part.places)
        if part.tokens + self._past_tokens(past.text) > most and past.text:
            past = Recollection()
            part, made = self.recent.make(scope, target, self._past_text(""))
        calls = self.last_fit.calls[asked_before:]
        net = self._net(whole, part.tokens + self._past_tokens(past.text), calls)
        if why:
            facts = {
                "from": state.since,
                "to": part.since,
                "tokens": part.tokens,
                "room": self.room,
                **({"net": net.net} if net else {}),
            }
            self.thread.record_if_current("compaction", why, facts)
        self.recent.keep(part, made)
        view = self._recalling(part, past, asked, reason)
        self.thread.save()  # another process continues from this view
        return replace(view, net=net)

    def _growth(self) -> int:
        """Tokens to leave free for growth.

        0 if that would hold only a few messages: views would be made anew nearly as often, with
        less in them.
        """
        free = int(self.room * _GROWTH)
        newest = list(islice(self.thread.backwards(), NEWEST))
        return free if _WORTH_FREE * self.recent.tokens(newest) <= free * len(newest) else 0

    def _room_for_past(self, asked: Inquiry, room: int, scope: Made) -> int:
        """The tokens for the past: a share of the ``room`` that the newest exchange leaves."""
        end = self.state.messages
        newest = self.thread.read([*self._answered(), *range(self.recent.start(0), end)])
        left = room - self.recent.tokens(newest.values())
        share = _RECALL[scope.is_talk] * min(1.0, self._search_share(is_talk=scope.is_talk))
        return int(max(0, left) * share * asked.share)

    def _shown(self, scope: Made) -> range:
        """The messages that need no recall: in a talk the newest, else those that are not far."""
        start = self.recent.start(int(self.room * _NEWEST)) if scope.is_talk else scope.far
        return range(start, self.state.messages)

    def _answered(self) -> range:
        """What the user's newest input answers: the message before it."""
        spoke = self.state.spoke or 0
        return range(max(0, spoke - 1), spoke)

    def _only_agrees(self, asked: Inquiry) -> bool:
        """Whether the newest input says nothing, or nothing beyond what it answers."""
        answered = self.thread.read(self._answered()).values()
        adds_nothing = not asked.work and asked.is_known([kept.message for kept in answered], "")
        return asked.is_idle or adds_nothing

    def _search_past(
        self, asked: Inquiry, room: int, shown: range, standing: Iterable[int | None] = ()
    ) -> Recollection:
        """Past messages for the newest input, if they are worth their tokens.

        What the input answers is in the view already, and so is what is ``standing`` in it.
        """
        if not shown.start:
            return Recollection()
        return self._recollect(asked, room, {*shown, *self._answered(), *standing}, WORTH)

    # the past

    def _recollect(
        self, asked: Inquiry, room: int, shown: Container[int | None], least: float
    ) -> Recollection:
        """The past in a message of ``room`` tokens, without messages that are ``shown`` already."""
        options = self.recent.options.own

        def tokens(text: str) -> int:
            return self.recent.size(self._past_message(text))

        empty = tokens("")
        return self.past.recollect(
            asked,
            room - empty,
            lambda text: tokens(text) - empty,
            shown,
            least if options.recall_score is None else options.recall_score,
            options.recall_messages,
        )

    def _recalling(self, part: Part, past: Recollection, asked: Inquiry, reason: str) -> View:
        """The view, with an event for what was recalled for it.

        Without a query, this stays in the view until the next input.
        """
        view = self._compose(part, past, reason)
        facts: dict[str, object] = {
            "question": asked.brief[:GLANCE],
            "chosen": past.for_event(),
            "tokens": view.tokens,
            "of": self.state.tokens,
        }
        found = f"{amount(len(past.chosen), 'message')} of the past found for it"
        self.thread.record_if_current("recall", found, facts)
        if self.recent.query is None:
            self.state.recall(facts | {"text": past.text, "chosen": past.for_state()})
        return view

    # the message that tells of the past

    def _compose(self, part: Part, past: Recollection, reason: str) -> View:
        """The view: system messages, the message about the past, and the rest."""
        messages, told = list(part.messages), self._past_tokens(past.text)
        if told:
            messages.insert(part.head, self._past_message(past.text))
        copies = [copied(message.original) for message in messages]
        self.messages = messages
        return View(
            copies, part.tokens + told, self.limit, reason, part.since, past.chosen, part.result
        )

    def _past_text(self, recalled: str) -> str:
        return f"{self.notes}{recalled}".rstrip("\n")

    def _past_message(self, recalled: str) -> Message:
        """The message about the past, made again only if its text or the format has changed."""
        text, known = self._past_text(recalled), self.last_fit.past_message
        if known is None or known[0] != text or known[1].wire.name != self.thread.wire.name:
            known = self.last_fit.past_message = text, marked_message(self.thread, text)
        return known[1]

    def _past_tokens(self, recalled: str) -> int:
        """Tokens of the message about the past; 0 if there is nothing to say."""
        if not self._past_text(recalled):
            return 0
        return self.recent.size(self._past_message(recalled))


def valid_view(budget: Budget, prepared: Callable[[Budget], Fit]) -> View:
    """A view that the provider accepts, also after later appends and changes.

    It is over its budget if there is no smaller one. ``prepared`` makes a fit for a budget.
    """
    fit = prepared(budget)
    view = fit.view()
    if not _is_refused(fit):
        return view
    limit, mended = view.limit, _paired(fit, view)
    while not mended.budget_met:
        room = view.tokens - (mended.tokens - limit)  # what is added takes room
        smaller = prepared(Budget(limit=room)).view() if room > 0 else view
        if smaller.tokens >= view.tokens:
            break
        view, mended = smaller, replace(_paired(fit, smaller), limit=limit)
    return mended


def smallest_limit(view: View, budget: Budget, prepared: Callable[[Budget], Fit]) -> int:
    """A limit that can be met, near to the tokens of the view: a larger limit has a larger view."""
    least = 0
    while not view.budget_met:
        least = budget.limit_for(view.tokens)
        view = valid_view(replace(budget, limit=least, window=None), prepared)
    return least


def _is_refused(fit: Fit) -> bool:
    """Whether the thread's format refuses the messages of a view.

    Calls at its end that still wait for results are no reason. A message of the last view is not
    checked by itself again, only its order: with 200 messages that takes a third as long.
    """
    under_way = _under_way(fit.messages, fit.state.waiting)
    rest = [message for i, message in enumerate(fit.messages) if i not in under_way]
    fresh = [message for message in rest if message not in fit.last_fit.accepted]
    rules = fit.thread.wire.rules
    alone = [rule for rule in rules if rule.alone]
    together = [rule for rule in rules if not rule.alone]
    if violations(together, rest) or violations(alone, fresh):
        return True
    fit.last_fit.accepted = frozenset(rest[:-1])  # rules expect less of a last message
    return False


def _paired(fit: Fit, view: View) -> View:
    """The view after ``repair``; calls at its end that still wait for results stay."""
    form, asked = fit.thread.wire, fit.recent.options.of_compress
    under_way = _under_way(form.read(view.messages).messages, fit.state.waiting)
    rest = [message for i, message in enumerate(view.messages) if i not in under_way]
    mended = repair(rest, form, model=asked.get("model"), counter=asked.get("counter"))
    added = mended.metrics.tokens_after - mended.metrics.tokens_before
    messages = [*mended.messages, *(view.messages[i] for i in under_way)]
    return replace(view, messages=messages, tokens=view.tokens + added)


def _under_way(messages: Sequence[Message], waiting: Sequence[str]) -> list[int]:
    """The indices of the waiting calls and of their existing results."""
    found: list[int] = []
    left = {*waiting}
    for begun in reversed(range(len(messages)) if left else ()):
        made = {call.id for call in messages[begun].calls}
        if made.isdisjoint(left):
            continue
        left -= made
        found.append(begun)
        for i in range(begun + 1, len(messages)):
            results = messages[i].results
            if results and made.issuperset(result.call_id for result in results):
                found.append(i)
    return sorted(found)
