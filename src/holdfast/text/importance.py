"""Signs of trouble, decisions and constraints in a text, and its importance.

Words are matched whole. A word that is part of a name (``error_handler.py``) or said to be absent
(``0 errors``, ``without failures``, ``"error": null``) does not count.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .words import in_any_script, places


class _Sayings:
    """Words and phrases of one meaning, separated by commas.

    A phrase is searched only where its first word occurs.
    """

    def __init__(self, words: str, phrases: str = "") -> None:
        self._words = frozenset(words.split())
        self._phrases: dict[str, list[str]] = {}
        for phrase in filter(None, (" ".join(listed.split()) for listed in phrases.split(","))):
            self._phrases.setdefault(re.split(r"\W", phrase)[0], []).append(phrase)
        self.significant = self._words.union(self._phrases)

    def heard(self, low: str, spoken: frozenset[str]) -> bool:
        """Whether the text, in lower case and with its significant words, has any of them."""
        return not self._words.isdisjoint(spoken) or self._has_phrase(low, spoken)

    def reported(self, low: str, spoken: frozenset[str]) -> bool:
        """Like ``heard``, but a word that is a part of a name or said to be absent is none."""
        for word in self._words & spoken:
            for at in places(low, word):
                end = at + len(word)
                if _NAME_BEFORE.search(low, max(0, at - 2), at) or _NAME_AFTER.match(low, end):
                    continue
                is_spaced = low[at - 1 : at] in {" ", "\t"}
                if not _is_absent(low, at - _NEAR if is_spaced else at, at, end):
                    return True
        return self._has_phrase(low, spoken)

    def _has_phrase(self, low: str, spoken: frozenset[str]) -> bool:
        return any(phrase in low for start in spoken for phrase in self._phrases.get(start, ()))


def _is_absent(low: str, start: int, at: int, end: int) -> bool:
    """Whether the text, from ``start`` on, says that there is none of what stands here."""
    before = _ABSENT_BEFORE.search(low, max(0, start), at)
    return bool(before or _ABSENT_AFTER.match(low, end, end + _NEAR))


SEVERE, FAILURE, TROUBLE, WARNING = 1.0, 0.8, 0.6, 0.3
"""Values of ``alarm``: the service is lost; something failed; something is wrong; a warning.

With even steps, .744 of single outputs were kept at 15% instead of .759.
"""

_ALARMS = {
    SEVERE: _Sayings(
        """
        fatal critical crit panic panicked panicking emerg emergency severe segfault sigsegv sigabrt
        sigkill oom
        deadlock deadlocked corrupt corrupted corruption crash crashed crashes crashing
        """,
        "out of memory, core dumped",
    ),
    FAILURE: _Sayings(
        """
        error errors err exception exceptions fail failed fails failing failure failures denied
        refused rejected
        rejects aborted aborting abort abend timeout timeouts unreachable unavailable unhandled
        uncaught alert
        unauthorized unauthenticated forbidden invalid illegal violation violated broken killed
        terminated
        traceback undefined unresolved
        fehler fehlgeschlagen abgebrochen erreur échec échoué refusé fallo falló fallido erro falha
        falhou errore errores erreurs erros errori fallos
        fallito fout mislukt ошибка ошибки сбой
        """,
        """
        timed out, could not, couldn't, can't, not found, no such, does not exist, not permitted,
        not allowed,
        gave up, giving up, not responding, no route, connection reset, is down
        """,
    ),
    TROUBLE: _Sayings(
        """
        cannot unable missing mismatch mismatched expired conflict conflicts exceeded exceeds
        overflow overrun
        underflow lost dropped disconnected unexpected unknown unsupported unrecognized malformed
        bad wrong
        incorrect blocked throttled rejecting stuck hung leak leaked stale dead degraded interrupted
        offline
        incompatible unsatisfied exhausted exhaustion misconfigured insufficient inconsistent
        """
    ),
    WARNING: _Sayings(
        "warn warning warnings deprecated deprecation caution retry retrying retries skipped "
        "ignored slow"
    ),
}
"""The signs of trouble, the worst first."""

_UNSPACED = ("错误", "失败", "异常", "エラー", "失敗", "例外", "오류", "실패")

# means [^\W\d_], and is twice as fast
_WORD = in_any_script(lambda beyond: f"[a-z{beyond}]+", r"ß-öø-ÿ\u0100-\u1fff\u3040-\ud7ff")
# ASCII letters, with spaces for the rest: the same words, three times as fast
_LETTERS = bytes(code if chr(code).islower() else 32 for code in range(256))
_FAULT_NAME = re.compile(r"(?<=[A-Za-z0-9])(?:Error|Exception|Failure)(?![A-Za-z0-9_(]|\.\w)")
# the characters beside a word that make it a part of a name, a path, an option or a call
_NAME_BEFORE = re.compile(r"(?:[\w$]|[^\W_][-+./\\]|--)\Z")
_NAME_AFTER = re.compile(r"[\w(]|[-+./\\][^\W_]")
_ABSENT_BEFORE = re.compile(
    r"(?:(?<![\w.])(?:no|0|zero|without|never|not|any|less|hardly|keine?n?|ohne|sans|aucune?|sin"
    r"|ning[uú]na?|sem|nenhuma?|senza|nessuna?|geen|zonder|без)|n['’]t)(?:[ \t]\w{1,12})?[ \t]$"
    r"|(?:没有|[无無]|(?<![\d.])0 ?[个個件条條]?の?)$"
)
_ABSENT_AFTER = re.compile(
    r"[\"']?\s?[:=：]{1,2}\s?(?:\"\"|''|\[\]|\{\}"
    r"|[\"'(]?(?:0|null|none|nil|false|keine?(?! \w)|[无無]|なし|없음)(?![\w.]))"
    r"|[ -]free\b|[はが]?(?:ありません|ない|なし)|[가는은이]? ?없"
)
_REPLY = re.compile(r"(?:status|code|http/\d(?:\.\d)?\"?)[\"']?[ :=]{1,3}[45]\d\d(?!\d)")
_EXIT = re.compile(
    r"(?<![a-z])(?:exit(?:ed)?|rc|errno|signal)(?:[ _](?:with|code|status|value))*"
    r"[\"']?[ :=]{1,3}-?[1-9]\d{0,2}(?![\w.:/-])"
)
_REQUEST = re.compile(r"\b(?:get|post|put|head|delete|patch) [/h]")
# the first such number in a request line is the status
_STANDING = re.compile(r"(?<![\w.:/-])[1-5]\d\d(?![\w.:/-])")
_REPLY_WORDS = frozenset(
    "status code http exit exited rc errno signal get post put head delete patch".split()
)
_KLOG_LEVEL = re.compile(r"[EF]\d{4} \d\d:")
_LOGCAT_LEVEL = re.compile(r"\d [EF] \w{2,40}\s{0,4}:|\d [EF] [A-Z]\w")
# characters around a word that are searched for a negation, of which the longest have 22:
# "without", another word, and spaces
_NEAR = 24
_BESIDE = 4  # the same where no spaces stand between words; "0 件の" is as long

_CONSTRAINTS = _Sayings(
    """
    must mustn shall should shouldn never always only require requires required requirement
    forbidden prohibited
    mandatory cannot unless except exactly maximum minimum limit limited deadline ensure refrain
    avoid allowed
    permitted eligible
    """,
    """
    can't, don't, do not, may not, can not, at most, at least, no more than, no less than, no later
    than, up to,
    have to, has to, need to, needs to, make sure
    """,
)
_CONCLUSIONS = _Sayings(
    "decision decisions decided agreed approved concluded conclusion resolved settled determined",
    "root cause, in summary, in short, turned out, the cause was, the fix is",
)
_REASONS = _Sayings(
    """
    decide decides conclude chose chosen choose selected recommend recommended recommendation
    because therefore
    confirmed planned important importantly consequently
    """,
    """
    instead of, will use, going with, the fix, the reason, the cause, the solution, turns out,
    resulted in,
    results in, found that, shows that, as a result, plan to, note that, due to
    """,
)


_PLANS = _Sayings(
    "todo tbd pending outstanding unfinished remaining remains",
    """
    i will, i'll, i am going to, i'm going to, we will, we'll, next step, next i, next we, next up,
    still need, still needs, still to, still have to, left to do, not yet, to do
    """,
)


_MARKERS = _Sayings("important critical crucial key essential remember note significant vital")
"""Words that mark something as important, from the SelectiveCompression design (V.12)."""

_SAYINGS = (*_ALARMS.values(), _CONSTRAINTS, _CONCLUSIONS, _REASONS, _PLANS, _MARKERS)
_SIGNIFICANT = _REPLY_WORDS.union(*(sayings.significant for sayings in _SAYINGS))
"""All words that are looked up."""


def alarm(text: str) -> float:
    """How bad the news is: 0.0 for none, ``WARNING`` a warning, from ``TROUBLE`` on a problem."""
    low = text.lower()
    return _alarm(text, low, _spoken(low))


class Signals(NamedTuple):
    """What a sentence signals; ``alarm`` is a value of the function ``alarm``."""

    alarm: float
    constrains: bool
    """It states what must, may or must not be done."""
    decides: float
    """How clearly it states a decision, cause or result: 1.0 by name, 0.5 by wording, 0.0 not."""
    plans: bool
    """It announces what is still to be done."""


def signals(text: str) -> Signals:
    """All signals of a sentence."""
    low = text.lower()
    spoken = _spoken(low)
    decides = 1.0 if _CONCLUSIONS.heard(low, spoken) else 0.5 * _REASONS.heard(low, spoken)
    constrains, plans = _CONSTRAINTS.heard(low, spoken), _PLANS.heard(low, spoken)
    return Signals(_alarm(text, low, spoken), constrains, decides, plans)


def concludes(text: str) -> bool:
    """Whether a sentence states a decision, cause or result by name."""
    low = text.lower()
    return _CONCLUSIONS.heard(low, _spoken(low))


def _spoken(low: str) -> frozenset[str]:
    """The significant words of a text in lower case."""
    is_ascii = low.isascii()
    words = low.encode().translate(_LETTERS).decode().split() if is_ascii else _WORD(low)(low)
    return _SIGNIFICANT.intersection(words)


def _alarm(text: str, low: str, spoken: frozenset[str]) -> float:
    worst = 0.0
    for weight, sayings in _ALARMS.items() if spoken else ():
        if not sayings.significant.isdisjoint(spoken) and sayings.reported(low, spoken):
            worst = weight
            break
    return FAILURE if worst < FAILURE and _names_failure(text, low, spoken) else worst


def _names_failure(text: str, low: str, spoken: frozenset[str]) -> bool:
    """Whether it names an error, a one-letter log level or a status code of failure."""
    if not low.isascii():
        said = [word for word in _UNSPACED if word in low]  # mostly none, which is soon known
        found = ((at, at + len(word)) for word in said for at in places(low, word))
        if not all(_is_absent(low, at - _BESIDE, at, end) for at, end in found):
            return True
    if ("rror" in low or "xception" in low or "ailure" in low) and _FAULT_NAME.search(text):
        return True
    if spoken and not spoken.isdisjoint(_REPLY_WORDS):
        reply = _STANDING.search(low) if _REQUEST.search(low) else None
        if (reply and reply[0] >= "400") or _REPLY.search(low) or _EXIT.search(low):
            return True
    has_level = " E " in text or " F " in text
    return bool(_KLOG_LEVEL.match(text) or (has_level and _LOGCAT_LEVEL.search(text, 0, 120)))


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of factors, each from 0 to 1, in the importance of a text.

    Unknown factors add nothing. ``marker`` multiplies the importance of a text that says itself
    that it is important.
    """

    recency: float = 0.0
    role: float = 0.0
    density: float = 0.0
    access: float = 0.0
    semantic: float = 0.0
    entity: float = 0.0
    uniqueness: float = 0.0
    query: float = 0.0
    marker: float = 1.0

    def importance(self, factors: Mapping[str, float], *, marked: bool = False) -> float:
        """The weighted sum of the factors, limited to 0 to 1."""
        total: float = sum(getattr(self, name) * value for name, value in factors.items())
        return max(0.0, min(1.0, total * self.marker if marked else total))


MOFA = Weights(recency=0.4, role=0.3, density=0.3)
"""The weights of MoFA, for messages (M.32)."""

SELECTIVE = Weights(recency=0.2, access=0.15, semantic=0.3, entity=0.25, query=0.1, marker=1.5)
"""The weights of SelectiveCompression, for memories (V.12)."""

PRESETS: Mapping[str, Weights] = {"mofa": MOFA, "selective": SELECTIVE}


def has_importance_marker(text: str) -> bool:
    """Whether a word of the text marks it as important."""
    low = text.lower()
    return _MARKERS.reported(low, _spoken(low))
