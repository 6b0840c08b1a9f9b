"""Where a summary may end, and who may speak it, so that what is left is a valid conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.compressors.summarize.envelope import Envelope
from holdfast.compressors.summarize.telling import Telling
from holdfast.kernel.apply import apply
from holdfast.kernel.errors import IntegrityError
from holdfast.kernel.messages import Role

_REACH = 8  # units before and behind the wanted end that are tried
_SPEAKERS: tuple[Role, ...] = ("user", "assistant")
_STAND_IN = Envelope(start=0, end=0, count=1, covers="", body="…")


def placed(telling: Telling, wanted: int, after: int = -1) -> tuple[Telling, int] | None:
    """The position nearest to ``wanted`` up to which a summary may cover all, and who speaks it.

    Earlier ends are tried first, since they keep more. Where a summary covers all up to ``after`` already, no
    later ones are: it can stay as it is. None where no summary can stand.
    """
    return next((at for end in _ends(telling, wanted, after) if (at := spoken(telling, end))), None)


def spoken(telling: Telling, upto: int) -> tuple[Telling, int] | None:
    """The position with a speaker that may stand behind it, the wanted one if he may; None where nobody may."""
    if not telling.history.leaving(upto):
        return None
    speakers = dict.fromkeys((telling.form.role, *_SPEAKERS))
    trials = (replace(telling, form=replace(telling.form, role=role)) for role in speakers)
    return next(((trial, upto) for trial in trials if _is_legal(trial, upto)), None)


def _ends(telling: Telling, wanted: int, after: int) -> Iterator[int]:
    places = frozenset(telling.history.places)
    ends = [
        unit.stop - 1 for unit in telling.history.transcript.units if unit.start > after and unit.start in places
    ]
    earlier = [end for end in reversed(ends) if end <= wanted]
    yield from earlier[:_REACH]
    if earlier and after < 0:
        yield from [end for end in ends if end > wanted][:_REACH]


def _is_legal(telling: Telling, upto: int) -> bool:
    try:
        apply(telling.history.transcript, telling.plan(_STAND_IN, upto, "").edits)
    except IntegrityError:
        return False
    return True
