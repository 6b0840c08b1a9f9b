"""What a message owes to those around it: an answer often shares no word with what it answers."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from .remembered import Remembered

REACH = {1: 0.7, 2: 0.5, 3: 0.3, -1: 0.4, -2: 0.3, -3: 0.2}
"""What reaches the message so many places later: more than earlier, for an answer follows its question."""

_PAUSE = 3_600.0  # seconds without a word: what follows is another scene
_GAP = 12  # messages without a word of the question, where nobody knows the times
_BEST, _BESIDE = 8, 12  # of the scores, and messages on each side of these that are looked at
_TELLING = 3  # the best messages of a scene say what it is about


def spread(scores: Mapping[int, float]) -> dict[int, float]:
    """The scores with what each position gets of those around it; positions that get something are added."""
    total = defaultdict(float, scores)
    given = list(scores.items())
    for step, share in REACH.items():
        for position, score in given:
            total[position + step] += share * score
    return total


def beside(scores: Mapping[int, float]) -> set[int]:
    """The positions that stand near the best of the scores, whatever they hold: an answer may share no word."""
    best = heapq.nsmallest(_BEST, scores, key=lambda position: (-scores[position], position))
    return {position + step for position in best for step in range(-_BESIDE, _BESIDE + 1)}


def scenes(scores: Mapping[int, float], messages: Mapping[int, Remembered]) -> dict[int, float]:
    """For each message the summed scores of the best messages of its scene, where there are any."""
    found: dict[int, float] = {}
    for scene in _scenes(messages):
        telling = [scores[position] for position in scene if position in scores]
        if telling:
            telling.sort(reverse=True)
            found.update(dict.fromkeys(scene, sum(telling[:_TELLING])))
    return found


def _scenes(messages: Mapping[int, Remembered]) -> Iterator[Sequence[int]]:
    scene: list[int] = []
    spoke: float | None = None
    for position in sorted(messages):
        said = messages[position].said
        if said is None or spoke is None:
            apart = bool(scene) and position - scene[-1] > _GAP
        else:
            apart = not -_PAUSE <= said - spoke <= _PAUSE
        if apart:
            yield scene
            scene = []
        scene.append(position)
        spoke = said
    yield scene
