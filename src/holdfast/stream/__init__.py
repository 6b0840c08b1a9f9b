"""A conversation as events, in any format: words, acts, outcomes, material, earlier notes.

Material is logs, code and files in a message of a user. If it is unclear, a passage counts as
words: words are never shortened while anything else can be. ``protocol`` finds out how an agent
writes acts as text, and how their outputs begin.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.kernel.messages import (
    Media,
    Message,
    Messages,
    Opaque,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.text.failures import refuses, reports_failure
from holdfast.text.importance import alarm
from holdfast.text.items import Item, item_of
from holdfast.text.words import (
    is_heading,
    may_be_typed,
    passages_of,
    unwrapped,
    wraps_words,
)

from .protocol import NATIVE, Protocol, ending, protocol_of
from .senders import Roles, senders_of

UNCLEAR = "reply"
"""The speaker of words that a person or a program may have written in answer to an act.

They are not shortened, like a person's words, and are no instruction, like an output.
"""

ACT_BEFORE = -2
"""Stands for the index of an outcome's act, which is just before it in the same text."""
IN_ENVELOPE = -1
"""Stands for the message of an event that is in the envelope and in no message."""

Function = Literal["instruction", "words", "act", "outcome", "material", "notes"]


class StreamEvent(NamedTuple):
    """One thing that was said, done or returned.

    ``message`` is the index of its message and ``part`` that of its part. ``by`` is who said it
    (``user``, ``assistant``, ``system``), or the name of the tool. ``act`` is the index of the act
    among the events that an outcome or an unclear reply follows, -1 if it is not known.
    ``failed``: the outcome reports that the act did not succeed. ``opening`` and ``closing`` count
    the characters at the edges of its text that only mark an outcome in this conversation, as
    ``Observation: `` does. ``from_notes``: earlier notes tell it. ``speaker`` is the name of who
    said it, where several users or assistants speak. ``times``: how often notes tell that an act
    was done.
    """

    function: Function
    by: str
    text: str
    message: int
    part: int
    act: int = -1
    failed: bool = False
    opening: int = 0
    closing: int = 0
    from_notes: bool = False
    speaker: str = ""
    times: int = 1

    @property
    def content(self) -> str:
        """The text without the marks at its edges."""
        return self.text[self.opening : len(self.text) - self.closing]

    @property
    def is_users_words(self) -> bool:
        """Whether these are a user's own words."""
        return self.by == "user" and self.function == "words"

    @property
    def is_unclear(self) -> bool:
        """Whether a person or a program may have written it; a tool may have any name."""
        return self.by == UNCLEAR and self.function != "act"


# the id of a call, or its message and part
CallName = str | tuple[int, int]
Events = Sequence[StreamEvent]  # a conversation, or a part of it


def events_of(
    messages: Messages,
    notes: Mapping[int, Events],
    envelope: Sequence[Part] = (),
) -> list[StreamEvent]:
    """The events of these messages in order; ``notes`` has those of earlier notes by index.

    Acts written as text are recognised by their regularity over all messages. A system prompt in
    the ``envelope`` comes first, as where it is a message.
    """
    sent = [each for at, each in enumerate(messages) if each.role == "user" and at not in notes]
    roles: Roles = {}
    unclear: Collection[str] = ()
    if len({message.name for message in sent}) > 1:
        roles, unclear, protocol = senders_of(messages, sent)
    else:
        protocol = protocol_of(messages)
    elsewhere = protocol._replace(answers_act=False)
    system = [part.text for part in envelope if isinstance(part, Text)]
    found = [StreamEvent("instruction", "system", text, IN_ENVELOPE, 0) for text in system]
    calls: dict[CallName, int] = {}
    last_act = -1
    first = next((at for at, message in enumerate(messages) if message.role == "user"), -1)
    unended: str | None = None
    """The name of who sent an output that may go on in the next message."""
    for at, message in enumerate(messages):
        if at in notes:
            found += _events_of_notes(notes[at], at, len(found))
            continue
        known = protocol if last_act == len(found) - 1 >= 0 else elsewhere
        if at == first and last_act < 0:  # nothing was done before that could return it
            known = NATIVE._replace(frame=protocol.frame)
        name = message.name
        goes_on = name in unclear or unended == name
        unended = None
        known_role = roles.get((message.role, name))
        if known_role:  # its texts need not show who sent it
            known, goes_on = elsewhere, False
        role = known_role or message.role
        act = last_act if role == message.role else _unanswered(found, last_act)
        # one by one, since a part may return what the part before it called
        for event in _events_of_message(
            message, role, at, known, calls, act, found, goes_on=goes_on
        ):
            if _is_unended(event, known):
                unended = name
            elif known.frame and event.function == "material":  # a frame ends the message
                unended = None
            if event.function == "act":
                last_act = len(found)
                part = message.parts[event.part]
                calls.update(dict.fromkeys(_names(part, at, event.part), last_act))
            found.append(event._replace(act=last_act) if event.act == ACT_BEFORE else event)
    return found


def _events_of_notes(events: Events, at: int, base: int) -> Iterator[StreamEvent]:
    """The events of notes in this message, behind so many others."""
    for each in events:
        yield each._replace(message=at, act=base + each.act if each.act >= 0 else -1)


def _unanswered(found: Events, act: int) -> int:
    """The last act, -1 if it has an outcome."""
    return -1 if any(event.act == act for event in found[act + 1 :]) else act


def _events_of_message(
    message: Message,
    role: Role,
    at: int,
    protocol: Protocol,
    calls: Mapping[CallName, int],
    last_act: int,
    before: Events,
    *,
    goes_on: bool,
) -> Iterator[StreamEvent]:
    """The events of a message; ``goes_on``: it may be the rest of an output before it."""
    is_headed = False
    for number, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            yield StreamEvent("act", part.name, part.arguments, at, number)
        elif isinstance(part, ToolResult):
            act = calls.get(part.call_id, -1)
            failed = part.is_error or refuses((_name_of(before, act), part.text))
            media = " ".join(f"[{medium.kind}]" for medium in part.media)
            shown = f"{part.text} {media}".strip() if media else part.text
            yield StreamEvent("outcome", "tool", shown, at, number, act, failed)
        elif isinstance(part, Media):
            yield StreamEvent("material", message.role, f"[{part.kind}]", at, number)
        elif isinstance(part, Opaque):
            yield _event_of_item(item_of(part.text), role, at, number, calls, before)
        elif isinstance(part, Text) and part.text:
            # below the heading of an output stands the output, however it begins, or an answer that
            # a person typed
            is_output = is_headed and not (may_be_typed(part.text) or wraps_words(part.text))
            known = protocol._replace(openings=("",)) if is_output else protocol
            if not (protocol.syntaxes or _is_returned(before)):
                known = known._replace(unclear=())
            # text beside results, such as a reminder, answers no act
            own = last_act if protocol.syntaxes else -1
            found = list(_events_of_text(part.text, role, at, number, known, own, goes_on=goes_on))
            is_headed = any(_heads(each, protocol) for each in found)
            goes_on = goes_on or any(_is_unended(each, protocol) for each in found)
            speaker = message.name
            yield from [each._replace(speaker=speaker) for each in found] if speaker else found


def _is_returned(events: Events) -> bool:
    """Whether the last event is an output, or may be one."""
    return bool(events) and (events[-1].function == "outcome" or events[-1].is_unclear)


def _name_of(events: Events, act: int) -> str:
    return events[act].by if act >= 0 else ""


def _is_unended(event: StreamEvent, protocol: Protocol) -> bool:
    """Whether an output may go on in the next text, since no end of it shows."""
    is_open = event.function == "outcome" and bool(protocol.syntaxes) and not event.closing
    return is_open and not _is_closed(event.text)


def _is_closed(text: str) -> bool:
    """Whether a text is one fence or one element, which has its end."""
    return unwrapped(text) != text


def _heads(event: StreamEvent, protocol: Protocol) -> bool:
    """Whether an output is a heading, below which the next text of the message is the output."""
    return _is_unended(event, protocol) and is_heading(event.text) and "\n" not in event.text


def _event_of_item(
    item: Item, role: Role, at: int, number: int, calls: Mapping[CallName, int], before: Events
) -> StreamEvent:
    """What a tool of the vendor did: an agent's item is a call unless it answers one.

    Without ids, an item answers the call directly before it.
    """
    named: Sequence[CallName] = item.ids or [(at, number - 1)]
    act = next((calls[each] for each in named if each in calls), -1)
    if act >= 0 or role == "tool":
        failed = item.failed or refuses((_name_of(before, act), item.text))
        return StreamEvent("outcome", "tool", item.text, at, number, act, failed)
    function: Function = "act" if role == "assistant" else "material"
    by = item.name if function == "act" else role
    return StreamEvent(function, by, item.text, at, number, failed=item.failed)


def _names(act: Part, at: int, number: int) -> Sequence[CallName]:
    """The names by which a result refers to this act; none if it is written as text."""
    if isinstance(act, ToolCall):
        return (act.id,)
    return item_of(act.text).ids or [(at, number)] if isinstance(act, Opaque) else ()


def _events_of_text(
    text: str,
    role: Role,
    at: int,
    number: int,
    protocol: Protocol,
    last_act: int,
    *,
    goes_on: bool,
) -> Iterator[StreamEvent]:
    if role == "system":
        yield StreamEvent("instruction", role, text, at, number)
        return
    if role == "assistant":
        before, act, behind = protocol.parted(text)
        yield from _events_of_words(before, role, at, number)
        if act:
            yield StreamEvent("act", "", act, at, number)
        if act and protocol.scratchpad:
            opening = protocol.scratchpad.opening(behind)
            failed = reports_failure(behind[opening:])
            yield StreamEvent("outcome", "tool", behind, at, number, ACT_BEFORE, failed, opening)
        else:
            yield from _events_of_words(behind, role, at, number)
        return
    text, frame = protocol.unframed(text, number)
    found = list(_events_of_user(text, role, at, number, protocol, last_act))
    if goes_on and found and found[-1].by == "user":  # an output may go on in the next text
        # a person's sentence may have such a word anywhere, a report begins with it
        is_report = not may_be_typed(text) or alarm(text.split(maxsplit=1)[0]) > 0
        fails = is_report and reports_failure(text)
        found = [each._replace(by=UNCLEAR, act=last_act, failed=fails) for each in found]
    yield from found
    if frame:
        yield StreamEvent("material", role, frame, at, number)


def _events_of_user(
    text: str, role: Role, at: int, number: int, protocol: Protocol, last_act: int
) -> Iterator[StreamEvent]:
    is_outcome = role == "tool" or protocol.is_outcome(text)
    has_no_act = last_act < 0 and protocol.syntaxes
    if not is_outcome and (has_no_act or not protocol.is_unclear(text)):
        yield from _events_of_words(text, role, at, number)
        return
    failed, opening = protocol.fails(text), protocol.opening(text)
    if not is_outcome:
        yield from _events_of_words(text, UNCLEAR, at, number, last_act, failed, opening)
        return
    parted = [text.rpartition(closing[::-1]) for closing in protocol.closings]
    output, closing, below = min(parted, key=lambda part: len(part[2]), default=("", "", text))
    if not closing:
        output, below = text, ""
    aside = ""
    if not (closing or failed):
        output, aside = _without_typed(output)
    opening = min(opening, len(output))
    within = unwrapped(output[opening:])  # the marks of an element or a fence say nothing either
    opening = output.find(within, opening)
    behind = len(output) - opening - len(within) + len(closing)
    yield StreamEvent(
        "outcome", "tool", output + closing, at, number, last_act, failed, opening, behind
    )
    yield from _events_of_words(aside, UNCLEAR, at, number, last_act)
    # a person may write below the end of an output
    yield from _events_of_words(below.strip(), role if role == "user" else UNCLEAR, at, number)


def _without_typed(output: str) -> tuple[str, str]:
    """An output, and what a person may have typed at its end.

    It stands in an element, or below a heading, or below one fence or element that is all the rest.
    """
    syntax, start = ending(output)
    is_apart = syntax == "element" and output[:start].endswith("\n")
    if is_apart and may_be_typed(unwrapped(output[start:])):
        return output[:start].rstrip(), output[start:]
    above, _, last = output.rpartition("\n\n")
    is_below = is_heading(last.partition("\n")[0]) or _is_closed(above)
    if above and is_below and may_be_typed(last):
        return above.rstrip(), last
    return output, ""


def _events_of_words(
    text: str, by: str, at: int, number: int, act: int = -1, failed: bool = False, opening: int = 0
) -> Iterator[StreamEvent]:
    passages, closing = passages_of(text) if text else (), 0
    if by == "assistant" and [kind for kind, _ in passages] == [False]:
        within = unwrapped(text)  # the marks around a thought say nothing
        opening = text.find(within)
        closing = len(text) - opening - len(within)
    for is_material, passage in passages:
        function: Function = "material" if is_material else "words"
        yield StreamEvent(function, by, passage, at, number, act, failed, opening, closing)
        opening = 0


def outcomes_of(events: Events) -> dict[int, int]:
    """The number of the last outcome of each act, or of what may be one."""
    return {event.act: n for n, event in enumerate(events) if event.act >= 0}


def failed_acts(events: Events) -> set[int]:
    """The numbers of the acts that failed."""
    failed = (number for number, event in enumerate(events) if event.failed)
    return {number if events[number].function == "act" else events[number].act for number in failed}


def has_acts(events: Events) -> bool:
    """Whether anybody acts; in a talk, what answers matters, and not what acts will use."""
    return any(event.function == "act" for event in events)
