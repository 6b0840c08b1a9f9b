"""Several flows at once: what all of them ask goes out together, round by round."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar

from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import All, Ask

T = TypeVar("T")


def together(
    flows: Sequence[Generator[Ask[Any], Any, T]],
) -> Generator[Ask[Any], Any, list[T | HoldfastError]]:
    """What each flow returns, in order, or the HoldfastError that ended it; none waits for another one's end."""
    ended: dict[int, T | HoldfastError] = {}
    answers: Mapping[int, object] = dict.fromkeys(range(len(flows)))
    while answers:
        asking: dict[int, Ask[object]] = {}
        for place, answer in answers.items():
            flow = flows[place]
            try:
                asking[place] = flow.throw(answer) if isinstance(answer, HoldfastError) else flow.send(answer)
            except StopIteration as stop:
                ended[place] = stop.value
            except HoldfastError as fault:
                ended[place] = fault
        found = (yield from ask(All(tuple(asking.values())))) if asking else ()
        answers = dict(zip(asking, found, strict=True))
    return [ended[place] for place in range(len(flows))]
