"""Of examples that follow one another the first and the last stay."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from holdfast.compressors.rules.prose import standing
from holdfast.compressors.summaries import body_of
from holdfast.kernel.budget import Meter
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript

_TELLING = ("example", "for instance")
_MARK = "...[+ "


class ConsolidateExamples:
    """Neighbouring messages of the assistant that give examples: the ones between the first and the last go.

    A line tells how many they were.
    """

    name = "consolidate_examples"

    def edits(self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]) -> Iterator[Edit]:
        """For each run of three or more a Replace in the middle, and a Drop of the others there."""
        del meter
        run: list[int] = []
        for i, message in enumerate(transcript.messages):
            if message.role in roles and _is_example(message):
                run.append(i)
                if i not in transcript.protected:
                    continue
            yield from _consolidated(run)
            run = []
        yield from _consolidated(run)


def _consolidated(run: list[int]) -> Iterator[Edit]:
    between = run[1:-1]
    if not between:
        return
    yield Replace(between[0], 0, f"{_MARK}{len(between)} additional examples]...", ConsolidateExamples.name)
    if len(between) > 1:
        yield Drop(tuple(between[1:]), ConsolidateExamples.name)


def _is_example(message: Message) -> bool:
    text = message.plain
    if text is None or not message.is_speech or text.startswith(_MARK) or body_of(message) is not None:
        return False
    low = text.lower()
    return any(word in low for word in _TELLING) and not standing(text)
