"""A view in which every call has its result and every result its call, whatever was appended."""

from __future__ import annotations

from dataclasses import replace

from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format
from holdfast.mending import repair

from .options import Options
from .parts import View


def paired(view: View, form: Format, options: Options, *, under_way: bool) -> View:
    """The view, mended as ``repair`` does; what is ``under_way`` at its end, a call that waits, stays so."""
    end = _begun(form.read(view.messages).messages) if under_way else len(view.messages)
    mended = repair(view.messages[:end], form.name, model=options.model, counter=options.counter)
    added = mended.metrics.tokens_after - mended.metrics.tokens_before
    return replace(view, messages=[*mended.messages, *view.messages[end:]], tokens=view.tokens + added)


def _begun(messages: tuple[Message, ...]) -> int:
    """Where the last exchange begins."""
    return max((i for i, message in enumerate(messages) if message.calls), default=len(messages))
