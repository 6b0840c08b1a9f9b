"""A view in which every call has its result and every result its call, whatever was appended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format
from holdfast.mending import repair

from .options import Options
from .parts import View


def paired(view: View, form: Format, options: Options, waiting: Sequence[str]) -> View:
    """The view, mended as ``repair`` does; the calls that are ``waiting`` at its end stay so."""
    end = _begun(form.read(view.messages).messages, waiting) if waiting else len(view.messages)
    mended = repair(view.messages[:end], form.name, model=options.model, counter=options.counter)
    added = mended.metrics.tokens_after - mended.metrics.tokens_before
    return replace(view, messages=[*mended.messages, *view.messages[end:]], tokens=view.tokens + added)


def _begun(messages: Sequence[Message], waiting: Sequence[str]) -> int:
    """Where the exchange of the waiting calls begins; the end, where that is not in the view."""
    found = (i for i, message in enumerate(messages) if any(call.id in waiting for call in message.calls))
    return max(found, default=len(messages))
