"""Whether messages without any mark are commands, and what answers them is a program's."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from statistics import median

from holdfast.text.words import STOP_WORDS, has_unworded_ends, may_be_typed, words

from .frames import FEWEST, NEARLY_ALL

# least share of outputs of several lines if there is no common opening, and of commands with words
# that others begin with; half and double kept as much of recorded runs
BARE = 0.25
FEWEST_COMMANDS = 4  # without any mark, three may be chance
# characters of the median answer of a game that says what was done; a person who repeats a command
# says less. Half and double read made-up games alike
_STORY = 150


def are_commands(acts: Sequence[str], *, talks: bool) -> bool:
    """Whether most begin with a word that others begin with, and go on differently.

    Where nobody talks between them, a quarter is enough if the word is no stop word.
    """
    verbs = Counter(chain.from_iterable(map(_verbs, {*acts})))
    often = {verb for verb, times in verbs.items() if times > 1}
    repeated = [act for act in acts if " " in act and not often.isdisjoint(_verbs(act))]
    are_named = (
        any(verb.lower() not in STOP_WORDS for verb in _verbs(act) & often) for act in repeated
    )
    is_most = 2 * len(repeated) >= len(acts)
    is_enough = is_most or (not talks and sum(are_named) >= BARE * len(acts))
    return is_enough and len(acts) >= FEWEST_COMMANDS and len({*repeated}) >= FEWEST


def are_returned(acts: Sequence[str], answers: Sequence[str], *, talks: bool) -> bool:
    """Whether the answers to these commands are a program's.

    They are long and tell what was done; or at most half of them are typed, hardly one where an
    agent ``talks`` to a person too, and some do not read as words at either end.
    """
    if not answers:
        return False
    is_story = median(map(len, answers)) >= _STORY and tell_acts(acts, answers)
    may_be_typed_most = (1 - NEARLY_ALL if talks else 0.5) * len(answers)
    return is_story or (
        sum(map(may_be_typed, answers)) <= may_be_typed_most
        and sum(map(has_unworded_ends, answers)) >= BARE * len(answers)
    )


def _verbs(act: str) -> frozenset[str]:
    """The first word of each line of a command."""
    return frozenset(line.partition(" ")[0] for line in act.splitlines())


def tell_acts(acts: Sequence[str], answers: Sequence[str]) -> bool:
    """Whether nearly all answers say what was done, or most, and twice as many as by chance.

    By chance an answer tells the act of another answer.
    """
    by_chance = sum(map(_repeats_the_act, [*acts[-1:], *acts[:-1]], answers))
    repeating = sum(map(_repeats_the_act, acts, answers))
    is_no_chance = 2 * repeating >= max(len(answers), 4 * by_chance)
    return repeating >= NEARLY_ALL * len(answers) or is_no_chance


def _repeats_the_act(act: str, answer: str) -> bool:
    """Whether an answer repeats most words behind the first of an act, as games do.

    ``take lamp`` is answered by ``You take the lamp``, and by ``There is no lamp``.
    """
    done = {*words(act)[1:]} - STOP_WORDS
    return 2 * len(done.intersection(words(answer))) > len(done)
