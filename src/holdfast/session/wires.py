"""On whose wire the messages of a thread are, as far as they tell it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from holdfast.formats import detect, named
from holdfast.formats.values import is_list, is_object
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.kernel.messages import Message, Reasoning, Text
from holdfast.kernel.transcript import Format

from .state import Oddity, State

_BLOCKS = frozenset({"anthropic", "bedrock"})  # wires whose rules ask what stands in one message
_SHARED = (
    "openai_chat"  # what has a list of parts and no mark of another vendor is read as this one's
)


@cache
def wire_of(name: str) -> Format:
    """The wire of this name; one object for all, for it holds no state and is asked for often."""
    return named(name)


def form_of(originals: Sequence[object], state: State) -> Format:
    """The wire of these messages in a thread that stands so; what is plain may be any vendor's."""
    return _found(originals, state.format, begun=state.messages > 0, exchanged=is_exchanged(state))


def check(
    originals: Sequence[object], messages: Sequence[Message], form: Format, known: State | None
) -> None:
    """Raises FormatError unless the messages can also be read one after another.

    Read together they may all be another wire's than what is ``known``; None where a wire was
    named. A call or a result of another wire's is refused too.
    """
    if known is not None and len(originals) > 1:
        _check_each(originals, known)
    for i, (original, message) in enumerate(zip(originals, messages, strict=True)):
        check_own(original, message, form, f"messages[{i}]")


def _check_each(originals: Sequence[object], state: State) -> None:
    known, exchanged = state.format, is_exchanged(state)
    begun = state.messages > 0
    for original in () if _is_settled(known, exchanged=exchanged) else originals:
        form = _found([original], known, begun=begun, exchanged=exchanged)
        begun = True
        message = form.read([original]).messages[0]
        known = known if form.name == "plain" else form.name
        exchanged = exchanged or bool(message.calls or message.results)


def check_named(form: Format | None, state: State) -> None:
    """Raises ConfigError if the thread holds calls that the named wire cannot read."""
    if form is None or not is_exchanged(state) or not state.format:
        return
    written = wire_of(state.format)
    if not isinstance(form, type(written)) and not isinstance(written, type(form)):
        problem = f"the thread is written in {state.format}, not in {form.name}"
        advice = "leave it out, or begin a thread of another name with the messages converted"
        raise ConfigError(problem, place="format", advice=advice)


def check_own(original: object, message: Message, form: Format, place: str) -> None:
    """Raises FormatError for a call or a result that only another wire reads as one."""
    if (
        message.calls
        or message.results
        or not (is_object(original) and is_list(original.get("content")))
    ):
        return
    seen = detect([original])
    other = seen.read([original]).messages[0] if seen.name != form.name else message
    if other.calls or other.results:
        problem = f"the thread is written in {form.name}, and this message in {seen.name}"
        raise FormatError(
            problem, place=place, advice="convert it, or begin a thread of another name"
        )


def is_settled(state: State) -> bool:
    """Whether no message can tell another wire any more."""
    return _is_settled(state.format, exchanged=is_exchanged(state))


def is_refused(message: Message, form: Format) -> bool:
    """Whether the wire refuses the message wherever it stands.

    Where that is not known yet, some wire.
    """
    if form.name in ("plain", _SHARED) and not (message.calls or message.results):
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if not (message.parts and all(text.strip() for text in texts)):
            return True
    twice = (message, message)  # as the last one it might be taken
    return any(
        not broken.index for rule in form.rules if rule.alone for broken in rule.violations(twice)
    )


def oddity(message: Message, before: Message | None, form: Format) -> Oddity | None:
    """What views have to be looked at for; None for a message that may stand in any of them.

    Beside what a wire refuses anywhere: thinking, and results of one reply in more messages than it
    asks for.
    """
    if is_refused(message, form):
        return "refused"
    if message.is_speech or form.name not in _BLOCKS:
        return None
    spread = bool(message.results and before and before.results)
    return (
        "unusual" if spread or any(isinstance(part, Reasoning) for part in message.parts) else None
    )


def _found(originals: Sequence[object], known: str, *, begun: bool, exchanged: bool) -> Format:
    if _is_settled(known, exchanged=exchanged):
        return wire_of(known)
    seen = detect(list(originals))
    if begun and not _reads_plain(seen.name):
        return wire_of(known or "plain")
    return seen if seen.name != "plain" or not known else wire_of(known)


@cache
def _reads_plain(name: str) -> bool:
    """Whether the wire can read a plain message: on others a thread that began plain cannot go on."""
    try:
        wire_of(name).read([{"role": "user", "content": "plain"}])
    except FormatError:
        return False
    return True


def _is_settled(known: str, *, exchanged: bool) -> bool:
    return known not in ("", _SHARED) or (known == _SHARED and exchanged)


def is_exchanged(state: State) -> bool:
    """Whether there is a call or a result, which no other wire can read."""
    return state.calls or state.unpaired > 0
