"""The format of a thread's messages, as far as they determine it."""

from collections.abc import Sequence
from functools import cache

from holdfast.formats import detect, named
from holdfast.formats.payloads import is_list, is_object
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format

from .state import State

wire_of = cache(named)
"""The format of this name; one shared object, since it has no state."""


def form_of(originals: Sequence[object], state: State) -> Format:
    """The format of these messages, given the state of their thread; plain ones fit any."""
    if state.is_settled:
        return wire_of(state.format)
    seen = detect(list(originals))
    if state.messages and not _reads_plain(seen.name):
        return wire_of(state.format or "plain")
    return seen if seen.name != "plain" or not state.format else wire_of(state.format)


def check(
    originals: Sequence[object], messages: Sequence[Message], form: Format, known: State | None
) -> None:
    """Raise FormatError unless the messages can also be read one after another.

    ``known`` is the state of the thread, whose format may differ; None if the caller named a
    format. A call or a result of another format is refused too.
    """
    if known is not None and len(originals) > 1 and not known.is_settled:
        for each in originals:  # each in the format that those before it determine
            own = form_of([each], known)
            read = own.read([each]).messages[0]
            exchanged = known.exchanged or bool(read.calls or read.results)
            name = known.format if own.name == "plain" else own.name
            known = State(known.messages + 1, format=name, calls=exchanged)
    for i, (original, message) in enumerate(zip(originals, messages, strict=True)):
        check_calls(original, message, form, f"messages[{i}]")


def check_named(form: Format | None, state: State) -> None:
    """Raise ConfigError if the thread has calls that the named format cannot read."""
    if form is None or not state.exchanged or not state.format:
        return
    written = wire_of(state.format)
    if not isinstance(form, type(written)) and not isinstance(written, type(form)):
        raise ConfigError(
            f"the thread is written in {state.format}, not in {form.name}",
            place="format",
            advice="leave it out, or begin a thread of another name with the messages converted",
        )


def check_calls(original: object, message: Message, form: Format, place: str) -> None:
    """Raise FormatError for a call or a result that only another format can read."""
    if (
        message.calls
        or message.results
        or not (is_object(original) and is_list(original.get("content")))
    ):
        return
    seen = detect([original])
    other = seen.read([original]).messages[0] if seen.name != form.name else message
    if other.calls or other.results:
        raise FormatError(
            f"the thread is written in {form.name}, and this message in {seen.name}",
            place=place,
            advice="convert it, or begin a thread of another name",
        )


def is_readable(original: object, form: Format | None = None) -> bool:
    """Whether the format can read the message, by default any format."""
    try:
        (form or detect([original])).read([original])
    except FormatError:
        return False
    return True


@cache
def _reads_plain(name: str) -> bool:
    """Whether the format can read plain messages, with which a thread may have begun."""
    return is_readable({"role": "user", "content": "plain"}, wire_of(name))
