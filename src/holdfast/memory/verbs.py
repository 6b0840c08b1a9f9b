"""Which English words say that something is done: the common verbs, and what ends as verbs do."""

from __future__ import annotations

_COMMON = frozenset(
    """
    am are is was were be been has have had does do did went go goes gone got get gets made make makes took take
    takes came come comes said say says told tell tells saw see sees gave give gives found find finds thought think
    knew know knows left leave leaves felt feel feels put puts brought bring brings began begin begins kept keep
    keeps held hold holds wrote write writes stood stand stands heard hear hears let lets meant mean means set sets
    met meet meets ran run runs paid pay pays sat sit sits spoke speak speaks lay led lead leads read reads grew
    grow grows lost lose loses fell fall falls sent send sends built build builds understood drew draw draws broke
    break breaks spent spend spends cut cuts rose rise rises drove drive drives bought buy buys wore wear wears
    chose choose chooses won win wins caught catch taught teach sold sell sells threw throw flew fly sang sing
    can could may might must shall should will would likes like loves love lives live works work wants want needs
    need use uses own owns prefer prefers cost costs look looks seem seems sound sounds
    """.split()
)
_ENDINGS = ("ed", "ize", "izes", "ise", "ises", "ify", "ifies")
_NOT = frozenset("bed red need seed feed speed hundred shed sacred naked exercise enterprise promise".split())


def is_verb(word: str) -> bool:
    """Whether the lower-case word is likely a verb: a common one, or one with a verb's ending."""
    return word in _COMMON or (len(word) > 4 and word.endswith(_ENDINGS) and word not in _NOT)
