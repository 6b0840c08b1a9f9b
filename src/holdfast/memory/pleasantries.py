"""What is said out of courtesy alone: greetings, thanks, praise, farewells. It answers no question."""

from __future__ import annotations

from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS, words

COURTESY = frozenset(
    """
    absolutely agree agreed agrees amazing aw aww awesome brilliant bye cheers congrats congratulations cool
    definitely evening excellent exactly fabulous fantastic fine glad good goodbye goodnight gotcha great ha haha
    happy hear hello hey hi hope hooray hmm impressive incredible indeed inspiring interesting later lovely luck
    morning new nice night ok okay perfect pleasure proud really right soon sorry sounds sound super sure sweet
    terrific thanks thx totally true d m s t understood welcome wonderful wow yay yeah yep yes yo yup
    """.split()
)
"""Words that are said to be kind; a sentence of these and of stop words tells nothing."""

_ONWARD = frozenset(
    """
    again ahead another carry continue continues correct done following forward keep next proceed resume then
    alles danke gut merci oui continuez gracias vale sigue grazie obrigado obrigada bedankt weiter
    """.split()
)
"""Words by which one assents or goes on, beside those of courtesy."""

_ASKING = frozenset("what which who whom whose when where why how".split())
_MOST_ONWARD = 2  # words of an input that goes on which say with what, as in "continue with the next endpoint"
_MOST_IDLE = 200  # characters of an input that says nothing
_MOST_WORDS = 14  # a longer sentence says something, whatever its words


def without_pleasantries(text: str, names: frozenset[str] = frozenset()) -> str:
    """The text without the sentences of which every word is courtesy; ``names``, in lower case, are no news."""
    return _BARE[text, names]


def idle_words(text: str) -> list[str] | None:
    """What an input that only greets, thanks, assents or goes on says beside that; None where it is another one.

    Nothing in "ok thanks" and "And the next one?", the endpoint in "Continue with the next endpoint please."
    """
    spoken = words(text) if len(text) <= _MOST_IDLE else [""]
    if len(spoken) > _MOST_WORDS or any(not word or not word.isalpha() for word in spoken):
        return None
    asks = not _ASKING.isdisjoint(spoken)
    telling = [word for word in spoken if word not in STOP_WORDS and word not in _ONWARD]
    left = telling if asks else [word for word in telling if word not in COURTESY]
    goes_on = len(left) < len(telling) or not _ONWARD.isdisjoint(spoken)
    return left if not left or (goes_on and len(left) <= _MOST_ONWARD) else None


def _bare(given: tuple[str, frozenset[str]]) -> str:
    text, names = given
    pieces = sentences(text)
    kept = [piece for piece in pieces if not _is_courtesy(piece, names)]
    return text.strip() if len(kept) == len(pieces) else "".join(kept).strip()


def _is_courtesy(sentence: str, names: frozenset[str]) -> bool:
    spoken = words(sentence)
    return len(spoken) <= _MOST_WORDS and all(
        word in COURTESY or word in STOP_WORDS or word in names for word in spoken
    )


_BARE: Memo[tuple[str, frozenset[str]], str] = Memo(_bare, lambda given, _: 2 * len(given[0]), 8_000_000)
