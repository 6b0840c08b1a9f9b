"""What a line says of how things stand: ok or failed, up or down, a status of 200 or of 500, an exit code.

Such a word is no value: lines that differ in it say different things, and are never counted together. Where lines
are compared without their numbers, codes keep their digits, written as signs that no mask takes for values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

_LISTED = """
    ok okay success successful successfully succeed succeeded succeeds pass passed passes done complete
    completed incomplete fail failed fails failure failing error errors warn warning up down true false yes no
    on off online offline open enabled disabled enable disable active inactive activated deactivated
    activating deactivating alive dead ready unready notready pending running stopped stopping starting
    started start stop finished crashed exited healthy unhealthy connected disconnected accepted accept
    rejected reject refused denied deny allowed allow granted valid invalid verified unverified found missing
    hit miss acquired released locked unlocked available unavailable reachable unreachable present absent idle
    busy full empty null none positive negative master slave leader follower primary secondary mounted
    unmounted attached detached blocked unblocked enter exit normal abnormal degraded recovered resolved
    skipped aborted cancelled canceled committed
    """
_STATES = frozenset(_LISTED.split())

States = tuple[tuple[int, str], ...]
"""What words tell of how things stand, each with the place of its word."""

_SIGNS = {ord(digit): 0xE010 + int(digit) for digit in "0123456789"}
_DIGITS = {sign: digit for digit, sign in _SIGNS.items()}
_SIGNED = {str(code): str(code).translate(_SIGNS) for code in range(1000)}
_CODE = re.compile("[\ue010-\ue019]+")
_HUNDREDS = 3  # digits of a reply, of which the first tells its class
_WORD = re.compile(r"[A-Za-z]+")

_REPLY = r"(\d{1,3})(?![\w/%]|[.,:-]\d)"
_NAMED = r"[ _-]?(?:[Cc]ode|CODE|[Ss]tatus|STATUS|[Vv]alue)?"
_GIVEN = rf"(?: with| of| is)?(?: (?:code|status))?[\"']?[ \t]{{0,3}}[:=]?[ \t]{{0,3}}[\"']?-?{_REPLY}"
_METHODS = ("GET", "POST", "PUT", "HEAD", "DELETE", "PATCH")
_FORMS = {
    needle: re.compile(form, re.MULTILINE)
    for needle, form in {
        '" ': rf'" {_REPLY}',
        "| ": rf"\| {{1,4}}{_REPLY}(?= {{0,4}}\|)",
        "HTTP": rf"HTTP(?:/\d(?:\.\d)?)?\"?[ :]{{1,3}}{_REPLY}",
        **{f"{method} ": rf"{method} [^\s\"]{{1,400}}\"?(?: (?:->|=>|→|-|:))? {_REPLY}" for method in _METHODS},
        "tatus": rf"tatus{_NAMED}{_GIVEN}",
        "TATUS": rf"TATUS{_NAMED}{_GIVEN}",
        "code": rf"code{_GIVEN}",
        "Code": rf"Code{_GIVEN}",
        "CODE": rf"CODE{_GIVEN}",
        "rrno": rf"rrno{_GIVEN}",
        "signal": rf"signal{_GIVEN}",
        "xit": rf"xit(?:ed)?{_NAMED}{_GIVEN}",
        "rc": rf"(?<![A-Za-z])rc[:=][ \t]{{0,3}}-?{_REPLY}",
        "ret": rf"(?<![A-Za-z])ret(?:val|urn|urned|urns)?[:=][ \t]{{0,3}}-?{_REPLY}",
        "esult": rf"esult[:=][ \t]{{0,3}}-?{_REPLY}",
        "espon": rf"espon(?:se|ded|ds)(?: with)?[ :=]{{1,3}}{_REPLY}(?=[ \t]*(?:$|[,;)\]]|in |OK))",
        "returned": rf"returned(?: with)? {_REPLY}(?=[ \t]*(?:$|[,;)\]]|in |OK))",
    }.items()
}
"""How codes are told, by what must stand in a text for such a form to be in it; a form ends with its code."""

_REPLIES = frozenset({'" ', "| ", "HTTP", "espon", "returned", *(f"{method} " for method in _METHODS)})
"""Forms that tell the reply to a request, which has three digits."""


def coded(shapes: Collection[str]) -> tuple[set[str], list[str]]:
    """Of shapes in which a run of digits is one, those that may hold codes, and the names of their forms."""
    together = "\n".join(shapes)
    found: set[str] = set()
    names: list[str] = []
    for needle, form in _FORMS.items():
        if needle in together:
            near = [shape for shape in shapes if needle in shape and form.search(shape)]
            found.update(near)
            names += [needle] if near else []
    return found, names


def with_codes(text: str, names: Iterable[str] | None = None) -> str:
    """The text with signs for the digits of the status and exit codes that stand in these forms, or in any."""
    for name in (name for name in _FORMS if name in text) if names is None else names:
        text = _FORMS[name].sub(_signed_reply if name in _REPLIES else _signed, text)
    return text


def written(text: str) -> str:
    """The text with digits for the signs of codes."""
    return text if text.isascii() else text.translate(_DIGITS)


def states(words: tuple[str, ...]) -> States:
    """What the words of a shape tell of how things stand, each with its place."""
    told = ((place, _state(word)) for place, word in enumerate(words))
    return tuple((place, state) for place, state in told if state)


def failing(word: str) -> bool:
    """Whether a word of a shape holds the status of a request that the server failed to answer."""
    return not word.isascii() and any(
        len(code) == _HUNDREDS and written(code).startswith("5") for code in _CODE.findall(word)
    )


@lru_cache(maxsize=1 << 14)
def _state(word: str) -> str:
    told = [piece for piece in map(str.lower, _WORD.findall(word)) if piece in _STATES]
    if not word.isascii():
        told += map(_class_of, _CODE.findall(word))
    return " ".join(told)


def _class_of(code: str) -> str:
    """Replies are of one class by their first digit; of all other codes, 0 alone says that all went well."""
    digits = written(code)
    if len(digits) == _HUNDREDS and digits[0] in "12345":
        return f"{digits[0]}xx"
    return "other" if digits.strip("0") else "0"


def _signed(found: re.Match[str]) -> str:
    code = found[1]
    return found[0][: -len(code)] + _SIGNED.get(code, code)


def _signed_reply(found: re.Match[str]) -> str:
    code = found[1]
    return _signed(found) if len(code) == _HUNDREDS and "1" <= code[0] <= "5" else found[0]
