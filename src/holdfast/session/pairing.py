"""A view in which every call has its result and every result its call, whatever was appended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format
from holdfast.validity import repair

from .options import Options
from .parts import View


def paired(view: View, form: Format, options: Options, waiting: Sequence[str]) -> View:
    """The view, mended as ``repair`` does; the calls that are ``waiting`` at its end stay so."""
    under_way = _under_way(form.read(view.messages).messages, waiting) if waiting else ()
    rest = [message for i, message in enumerate(view.messages) if i not in under_way]
    mended = repair(rest, form.name, model=options.model, counter=options.counter)
    added = mended.metrics.tokens_after - mended.metrics.tokens_before
    messages = [*mended.messages, *(view.messages[i] for i in under_way)]
    return replace(view, messages=messages, tokens=view.tokens + added)


def _under_way(messages: Sequence[Message], waiting: Sequence[str]) -> list[int]:
    """The places of the exchange of the waiting calls, and of nothing that came between."""
    begun = max((i for i, message in enumerate(messages) if _calls(message) & set(waiting)), default=None)
    if begun is None:
        return []
    made = _calls(messages[begun])
    results = [{result.call_id for result in message.results} for message in messages]
    return [begun, *(i for i in range(begun + 1, len(messages)) if results[i] and results[i] <= made)]


def _calls(message: Message) -> set[str]:
    return {call.id for call in message.calls}
