"""Tool exchanges: which result answers which call, where each provider wants it, and its ids."""

import re
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar

from holdfast.formats.payloads import Object, is_object
from holdfast.kernel.integrity import Problems, ToolExchanges
from holdfast.kernel.messages import Message, Messages, Opaque, Text, ToolCall, ToolResult

from . import (
    MessageByMessage,
    RewritingRule,
    between,
    blocks,
    free_name,
    made,
    message_of,
    original,
    parts_and_blocks,
    wire_of,
    with_blocks,
)

Written = dict[str, Any]
Place = tuple[int, int]
"""The indices of a message and of a part of it."""
# the places of calls by those of their results, or the reverse
Pairs = dict[Place, Place]

NO_RESULT = "[no result was recorded]"
NO_NAME = "unknown_tool"


def paired(messages: Messages) -> Pairs:
    """The place of the call for the place of each result that has one.

    A result answers the first open call with its id in the nearest message before it, or else in
    the nearest message after it.
    """
    calls: dict[str, list[Place]] = {}
    for i, message in enumerate(messages):
        for k, call in _calls(message):
            calls.setdefault(call.id, []).append((i, k))
    pairs: Pairs = {}
    for i, message in enumerate(messages):
        for k, part in enumerate(message.parts):
            waiting = calls.get(part.call_id) if isinstance(part, ToolResult) else None
            if waiting:
                nearest, _ = waiting[max(0, bisect_left(waiting, (i, k)) - 1)]
                pairs[i, k] = waiting.pop(bisect_left(waiting, (nearest, 0)))
    return pairs


def answers(pairs: Pairs) -> dict[int, Pairs]:
    """For each message with calls, the places of its answered calls and of their results."""
    found: dict[int, Pairs] = {}
    for result, call in sorted(pairs.items()):
        found.setdefault(call[0], {})[call] = result
    return found


class _ResultsOpenNext(RewritingRule):
    """A rule whose repair moves every result to the start of the message after its call."""

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages, regrouped.

        A call without a result is answered by a note that says so, and a result without a call gets
        a call without arguments, so that nothing is lost.
        """
        messages = list(_called(messages))
        found = answers(paired(messages))
        results: list[Object] = []
        for i, message in enumerate(messages):
            if results and message.role != "user":
                yield message_of(message, "user", results)
                results = []
            rest = [block for part, block in parts_and_blocks(message) if not _is_result(part)]
            if results or rest or not message.parts:
                yield with_blocks(message, results + rest)
            results = _results(messages, i, found.get(i, {}))
        if results:
            yield message_of(messages[-1], "user", results)


def _named(block: Object) -> str:
    """The name of the tool, if the block of its result has it."""
    inner = (value.get("name") for value in block.values() if is_object(value))
    return next((name for name in inner if isinstance(name, str) and name), NO_NAME)


class BlockExchanges(_ResultsOpenNext, ToolExchanges):
    """A call and all its results are one unit."""


class ResultsInNextMessage(_ResultsOpenNext):
    """All results of a message are together in the message right after it."""

    name = "results_in_next_message"

    def problems(self, messages: Messages) -> Problems:
        """Results of an open call that are further away."""
        waiting: dict[str, int] = {}
        for i, message in enumerate(messages):
            results = message.results
            if any(waiting.pop(result.call_id, i - 1) != i - 1 for result in results):
                yield i, "its tool results are not in the message right after their calls"
            if not results:
                waiting = {call.id: i for call in message.calls}


class ResultsLead(_ResultsOpenNext, MessageByMessage):
    """Tool results are in the user's role, before everything else in their message."""

    name = "results_lead_their_message"

    def problem(self, message: Message) -> str:
        """A result in the assistant's role, or after another part."""
        if message.role == "assistant" and any(map(_is_result, message.parts)):
            return "a tool result is in a message of the assistant"
        late = any(
            _is_result(part) and not _is_result(before) for before, part in pairwise(message.parts)
        )
        return "a tool result is after other content of its message" if late else ""


class CallsEnd(MessageByMessage):
    """No text follows a tool call in its message."""

    name = "calls_end_their_message"

    def problem(self, message: Message) -> str:
        """Text right after a call."""
        late = message.calls and any(
            isinstance(before, ToolCall) and isinstance(part, Text)
            for before, part in pairwise(message.parts)
        )
        return "text follows a tool call in its message" if late else ""

    def mended(self, message: Message) -> Message:
        """The message with its calls at the end; everything else keeps its order."""
        inside = parts_and_blocks(message)
        calls_last = sorted(inside, key=lambda each: isinstance(each[0], ToolCall))
        return with_blocks(message, [block for _, block in calls_last])


def _is_result(part: object) -> bool:
    return isinstance(part, ToolResult)


def _called(messages: Messages) -> Iterator[Message]:
    """The messages, and before each result without a call a message with one."""
    pairs = paired(messages)
    for i, message in enumerate(messages):
        calls = [
            wire_of(message).block(ToolCall(part.call_id, _named(block), "{}"))
            for k, (part, block) in enumerate(parts_and_blocks(message))
            if isinstance(part, ToolResult) and (i, k) not in pairs
        ]
        if calls:
            yield message_of(message, "assistant", calls)
        yield message


def _results(messages: Messages, i: int, answered: Pairs) -> list[Object]:
    """The results of message ``i``'s calls: the existing ones, then notes for missing ones."""
    caller = messages[i]
    results = [blocks(messages[at])[k] for at, k in answered.values()]
    for k, call in _calls(caller):
        if (i, k) not in answered:
            results.append(wire_of(caller).block(ToolResult(call.id, NO_RESULT), call.name))
    return results


FUNCTION_ID = "function:"
"""Prefix of the id of a call that has none of its own, before the function's name: as old ones of
Chat Completions, and Gemini's. Its result is found by that name.
"""


class ResultsBehindCalls(RewritingRule):
    """A rule whose repair moves results right after their calls: each result is a message.

    With ``results_wait``, one that is anywhere after its call stays there.
    """

    results_wait: ClassVar[bool] = False

    @abstractmethod
    def call_for(self, result: ToolResult, message: Object) -> Written:
        """A call without arguments for a result without one."""

    @abstractmethod
    def result_for(self, call: ToolCall, message: Object) -> Written:
        """A note in the place of a result that is missing."""

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages, regrouped.

        A call without a result is answered by a note that says so, and a result without a call gets
        a call without arguments, so that nothing is lost.
        """
        pairs = paired(messages)
        found = answers(pairs)
        moved = {i for (i, _), (call, _) in pairs.items() if i < call or not self.results_wait}
        for i, message in enumerate(messages):
            for result in message.results if (i, 0) not in pairs else ():
                yield made(message.wire, self.call_for(result, original(message)))
            if i not in moved:
                yield message
            answered = found.get(i, {})
            yield from (messages[at] for at, _ in answered.values() if at in moved)
            for k, call in _calls(message):
                if (i, k) not in answered:
                    yield made(message.wire, self.result_for(call, original(message)))


class _ChatResults(ResultsBehindCalls):
    """As Chat Completions write calls and results."""

    def call_for(self, result: ToolResult, message: Object) -> Written:
        """A message of the assistant."""
        function = {"name": message.get("name") or NO_NAME, "arguments": "{}"}
        if message["role"] == "function":
            return {"role": "assistant", "content": None, "function_call": function}
        call = {"id": result.call_id, "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def result_for(self, call: ToolCall, message: Object) -> Written:
        """A message of the tool, or of the function."""
        if message.get("function_call") and call.id == FUNCTION_ID + call.name:
            return {"role": "function", "name": call.name, "content": NO_RESULT}
        return {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}


class OpenAIExchanges(_ChatResults, ToolExchanges):
    """A call and all its results are one unit."""


class ResultsRightAfter(_ChatResults):
    """Nothing is between a call and its results, not even a system message."""

    name = "results_right_after_call"

    def problems(self, messages: Messages) -> Problems:
        """System messages inside an exchange; any other message would end it."""
        waiting: set[str] = set()
        for i, message in enumerate(messages):
            if message.role == "tool":
                waiting.difference_update(result.call_id for result in message.results)
            elif message.role != "system":
                waiting = {call.id for call in message.calls}
            elif waiting:
                yield i, "it is between a tool call and its result"


class ServerToolExchanges(RewritingRule):
    """Each result of a server tool has its call before it, and each such call has a result.

    Both are blocks of the assistant, in one message or in several. A call may stay open until the
    user speaks: the vendor continues a turn that it paused, and answers code after the calls that
    the code made.
    """

    name = "server_tool_exchange_whole"

    def problems(self, messages: Messages) -> Problems:
        """Results without a call, and calls without a result when the user speaks again."""
        _, broken = _pairs(messages)
        for (i, _), problem in sorted(broken.items()):
            yield i, problem

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a call to its result."""
        return between(_pairs(messages)[0])

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages without unpaired calls and results, since only the vendor makes these."""
        _, broken = _pairs(messages)
        for i, message in enumerate(messages):
            now = [block for k, block in enumerate(blocks(message)) if (i, k) not in broken]
            if now or not message.parts:
                yield with_blocks(message, now)


def _pairs(messages: Messages) -> tuple[list[tuple[int, int]], dict[Place, str]]:
    """Pairs of messages with a call and its result, and the problem of each unpaired block."""
    pairs: list[tuple[int, int]] = []
    broken: dict[Place, str] = {}
    waiting: dict[str, Place] = {}
    spoke = 0  # where the user spoke last
    for i, message in enumerate(messages):
        if message.user_speaks:
            spoke = i
        for k, call_id, is_result in _server_blocks(message):
            if not is_result:
                if call_id in waiting:
                    broken[waiting[call_id]] = _unanswered(call_id)
                waiting[call_id] = i, k
            elif call := waiting.pop(call_id, None):
                pairs.append((call[0], i))
            else:
                broken[i, k] = f"the server tool result {call_id!r} has no call before it"
    broken |= {place: _unanswered(name) for name, place in waiting.items() if place[0] < spoke}
    return pairs, broken


def _unanswered(call_id: str) -> str:
    return f"the server tool call {call_id!r} has no result"


def _server_blocks(message: Message) -> Iterator[tuple[int, str, bool]]:
    """The index, the call id, and whether it is a result, of each block of a server tool."""
    if message.plain is not None or message.role != "assistant":
        return
    for k, (part, block) in enumerate(parts_and_blocks(message)):
        if isinstance(part, Opaque):
            call_id, answered = block.get("id"), block.get("tool_use_id")
            if isinstance(answered, str):
                yield k, answered, True
            elif "input" in block and isinstance(call_id, str):
                yield k, call_id, False


_WrongId = tuple[Place, str, str]
"""A call with a refused id: its place, its new id, and the problem."""


class _CallIdRule(RewritingRule):
    """A rule whose repair gives calls and their results other ids."""

    @abstractmethod
    def _wrong(self, messages: Messages) -> Iterator[_WrongId]:
        """The calls whose ids are refused."""

    def problems(self, messages: Messages) -> Problems:
        """One for each refused id."""
        for (i, _), _, problem in self._wrong(messages):
            yield i, problem

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages with new ids, in the calls and in their results."""
        taken = {call.id: 1 for message in messages for call in message.calls}
        names = {place: free_name(wanted, taken) for place, wanted, _ in self._wrong(messages)}
        pairs = paired(messages).items()
        names |= {result: names[call] for result, call in pairs if call in names}
        for i, message in enumerate(messages):
            ids = {k: names[i, k] for k in range(len(message.parts)) if (i, k) in names}
            if ids:
                now = wire_of(message).with_ids(original(message), ids)
                yield made(message.wire, now, message)
            else:
                yield message


class UniqueCallIds(_CallIdRule):
    """No two calls of a message have the same id; with ``everywhere``, no two of all messages."""

    name = "call_ids_unique"

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere
        self.alone = not everywhere

    def _wrong(self, messages: Messages) -> Iterator[_WrongId]:
        seen: set[str] = set()
        for i, message in enumerate(messages):
            if message.calls and not self._everywhere:
                seen = set()
            for k, call in _calls(message):
                if call.id in seen:
                    yield (i, k), call.id, f"another tool call before it has the id {call.id!r}"
                seen.add(call.id)


class SpelledCallIds(_CallIdRule):
    """An id has only letters, digits, underscores, hyphens and the characters in ``also``.

    Every other character becomes an underscore.
    """

    name = "call_ids_spelled"
    alone = True

    def __init__(self, also: str = "") -> None:
        self._problem = f"characters beyond {', '.join(('A-Z, 0-9, _, -', *also))}"
        self._foreign = re.compile(f"[^a-zA-Z0-9_{re.escape(also)}-]")

    def _wrong(self, messages: Messages) -> Iterator[_WrongId]:
        for i, message in enumerate(messages):
            for k, call in _calls(message):
                wanted = self._spelled(call.id)
                if wanted != call.id:
                    yield (i, k), wanted, f"the tool call id {call.id!r} has {self._problem}"

    def _spelled(self, call_id: str) -> str:
        return self._foreign.sub("_", call_id)


class ShortCallIds(SpelledCallIds):
    """An id has at most ``most`` characters; a longer one is cut, with room for a number."""

    name = "call_ids_short"

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._problem = most, f"more than {most} characters"

    def _spelled(self, call_id: str) -> str:
        return call_id if len(call_id) <= self._most else call_id[: self._most - _NUMBER]


_NUMBER = len("_99999")  # the suffix that ``free_name`` adds to ids that have become equal


def _calls(message: Message) -> Iterator[tuple[int, ToolCall]]:
    """The calls with their indices among the parts of the message."""
    if message.calls:
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                yield k, part
