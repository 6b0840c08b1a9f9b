"""Acts and what they returned in one message of an agent, each behind a label.

As on a scratchpad: ``Thought: ...``, ``Action: ...``, ``Observation: ...``. Nobody answers such a
message: the agent goes on.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from holdfast.text.memo import Memo
from holdfast.text.words import ends_like_sentence, may_be_typed

_FEWEST = 3  # messages that must have the labels, since two may by chance
# least share of the agent's messages that have them; the others are answers. Of statements in
# made-up runs half kept as many, and with double 65 of 76 stayed at 30% instead of 73
_SHARE = 1 / 3
_NEARLY_ALL = 0.9  # share of the acts that have an outcome, as of acts that are commands alone
_LABEL = re.compile(r"^(?:\*\*)?([^\W\d_][\w ]{0,24}):(?:\*\*)?(?=\s|\Z)", re.MULTILINE)


class Scratchpad(NamedTuple):
    """The labels of acts and of outcomes in the messages of an agent."""

    act: str
    outcome: str

    def parted(self, text: str) -> tuple[str, str, str]:
        """What stands before the act, the act, and behind it the outcome with its label."""
        starts = _starts(text)
        act, outcome = starts.get(self.act, -1), starts.get(self.outcome, -1)
        if not 0 <= act < outcome:
            return text, "", ""
        return text[:act].rstrip(), text[act:outcome].strip(), text[outcome:]

    def opening(self, outcome: str) -> int:
        """The characters of the label of an outcome."""
        label = _LABEL.match(outcome)
        return label.end() if label else 0


@Memo  # since a growing conversation is read at each call
def _starts(text: str) -> Mapping[str, int]:
    """Where each label at the start of a line stands first, in order."""
    found: dict[str, int] = {}
    for label in _LABEL.finditer(text):
        found.setdefault(label[1], label.start())
    return found


def scratchpad_of(said: Sequence[tuple[str, str]]) -> Scratchpad | None:
    """The labels that the messages of an agent have in common, if one of them is of outcomes.

    The act begins with the first that stands before no sentence, and the outcome with the last that
    nearly all acts have: those within outcomes, as of records, vary. Most outcomes are typed by
    nobody, and behind most the agent goes on.
    """
    texts = [text for role, text in said if role == "assistant"]
    times = Counter(chain.from_iterable(map(_starts, texts)))
    least = max(_FEWEST, _SHARE * len(texts))
    order = max(([each for each in _starts(t) if times[each] >= least] for t in texts), key=len)
    act = next((label for label in order if _has_no_sentence(label, order, texts)), "")
    if not act:
        return None
    *_, outcome = (each for each in order if times[each] >= _NEARLY_ALL * times[act])
    found = Scratchpad(act, outcome)
    rows = [
        (found.parted(text)[2], follows)
        for (role, text), (follows, _) in pairwise([*said, ("", "")])
        if role == "assistant"
    ]
    rows = [(returned, follows) for returned, follows in rows if returned]
    typed = sum(may_be_typed(returned.partition(":")[2]) for returned, _ in rows)
    answered = sum(follows == "user" for _, follows in rows)
    is_known = len(rows) >= least and 2 * max(typed, answered) < len(rows)
    return found if is_known else None


def _has_no_sentence(label: str, order: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether mostly no sentence stands between a label and the next."""
    held: list[str] = []
    for starts, text in ((_starts(text), text) for text in texts):
        if label in starts:
            ends = [starts[each] for each in order if starts.get(each, 0) > starts[label]]
            held.append(text[starts[label] : min(ends, default=len(text))].strip())
    return 2 * sum(map(ends_like_sentence, held)) < len(held)
