"""Which language a source text is written in, by the lines that only that language has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from holdfast.content.shares import enough

from .comments import comments

_SAMPLE = 160  # lines that are looked at, which are neither blank nor comments
_BEGINNING = 1_500  # lines among which they are sought
_LONGEST_LINE = 300  # characters of a line that are looked at
LEAST_SIGNS = 3
"""Lines that show the language."""
_SIGN_SHARE = 0.08  # of the lines that say something
_CODE_SHARE = 0.5  # of them look like code of any language
_CODE = re.compile(
    r"\s*+(?:[^\s].*[{};(\[,\\]\s*(?://.*|/\*.*|#.*)?$"  # ends as no sentence ends
    r"|[{}()\]]|end\b|@\w|#\s*(?:include|define|if|endif|else|pragma)|<\?php"
    r"|(?:def|class|import|from|return|elif|else|try|except|finally|raise|async|func|fn|pub|impl|use|mod|package|let"
    r"|const|var|public|private|protected|static|struct|enum|interface|namespace|module|require|function|export"
    r"|yield|await|lambda|begin|rescue|unless|attr_\w+|if|for|while|with|switch|match|case|when|elsif|do|fi|done|esac|then|echo|local)\b.*\S$"
    r"|[\w.$\[\]\"'@&*]++(?:, ?[\w.$@*]++)*+(?:: ?[\w.\[\], |]++)? ?(?:[-+*/|&%]|<<|\|\||:)?= ?\S"  # an assignment
    r"|[\w.$:]++[!?]?\()"  # a call
)
_PLAIN_SHARE, _LEAST_PLAIN = 0.85, 8  # the same where no language shows: share and number of the lines
_FENCE = "```"
_SENTENCE = re.compile(r"\s*+(?:[A-Za-z][a-z'’]*,? ){4,}.*[a-z][.:,;]?\s*$")  # as no statement reads


@dataclass(frozen=True, slots=True)
class Language:
    """``gap`` opens the comment for lines that are left out, ``starts`` are the signs with which its lines begin.

    ``holds`` are signs that may stand anywhere, each under a text without which it stands nowhere.
    """

    name: str
    gap: str
    starts: re.Pattern[str]
    holds: Sequence[tuple[str, re.Pattern[str]]] = ()

    def shown(self, lines: Sequence[str], text: str) -> int:
        """How many of the lines, which make up the text, show the language."""
        rest = [line for line in lines if not self.starts.match(line)]
        for mark, sign in self.holds:
            if mark in text:
                rest = [line for line in rest if not sign.search(line)]
        return len(lines) - len(rest)


def _language(name: str, gap: str, *starts: str, holds: Iterable[tuple[str, str]] = ()) -> Language:
    signs = [(mark, re.compile(sign)) for mark, sign in holds]
    return Language(name, gap, re.compile("|".join(starts)), signs)


def _words(words: str) -> list[tuple[str, str]]:
    """Signs that are words."""
    return [(word, rf"\b{word}\b") for word in words.split()]


LANGUAGES = (
    _language(
        "python",
        "# …",
        r"\s*(?:async )?def \w+\(.*",
        r"\s*class \w+(?:\(.*\))?:\s*$",
        r"\s*from [\w.]+ import\b",
        r"import [\w.]+(?: as \w+)?(?:, [\w.]+)*\s*$",
        r"\s*(?:if|elif|for|while|with|except|else|try|finally|match|case)\b.*:\s*(?:#.*)?$",
        r"\s+self\.\w+",
        r"\s*@\w[\w.]*(?:\(.*\))?\s*$",
    ),
    _language(
        "javascript",
        "// …",
        r"\s*(?:export )?(?:const|let|var) (?:[\w$]+(?:: ?[^=]+)?|[{\[].*[}\]]) = ",
        r"\s*(?:export (?:default )?)?(?:async )?function\b\*?[\w $]*\(",
        r"\s*import\b.*\bfrom ['\"]",
        r"\s*export (?:default|const|\{)",
        r"\s*module\.exports\b",
        holds=(
            (" =>", r"(?:\)|= \w+|\(\w+)(?:: [\w<>\[\]]+)? => ?[{(\w]"),
            ("require(", r"\brequire\(['\"]"),
            ("===", "==="),
            ("!==", "!=="),
            ("document.", r"\bdocument\.\w+"),
            ("console.", r"\bconsole\.\w+\("),
        ),
    ),
    _language(
        "typescript",
        "// …",
        r"\s*(?:export )?(?:const|let|var) (?:[\w$]+(?:: ?[^=]+)?|[{\[].*[}\]]) = ",
        r"\s*(?:export (?:default )?)?(?:declare )?(?:interface|type|enum|namespace|abstract class) \w+",
        r"\s*import type\b",
        r"\s*(?:private|public|protected|readonly) (?:readonly |async |static )*\w+[?:(<]",
        r"\s*import\b.*\bfrom ['\"]",
        r"\s*export (?:async )?(?:function|class)\b",
        holds=(
            (" =>", r"(?:\)|= \w+|\(\w+)(?:: [\w<>\[\]]+)? => ?[{(\w]"),
            (": ", r"[\w)\]?]\s?: (?:string|number|boolean|void|any|unknown|never|Promise<|Array<|Record<|Map<)"),
            ("as ", r"\bas (?:const|string|any|unknown|number)\b"),
        ),
    ),
    _language(
        "java",
        "// …",
        r"\s*(?:public|private|protected)(?: static| final| abstract)* [\w<>\[\], ?]+ \w+\s*(?:\(.*|=.*;|;)$",
        r"package [\w.]+;",
        r"import (?:static )?[\w.]+(?:\.\*)?;",
        r"\s*@(?:Override|Test|Autowired|Nullable|Deprecated|Entity|Component|Service|Bean|SuppressWarnings)\b",
        r"\s*(?:public |private |abstract |final )*(?:class|interface|enum|record) \w+.*(?:extends|implements|\{)",
        holds=(
            ("System.", r"\bSystem\.(?:out|err)\."),
            ("throws ", r"\bthrows \w+"),
            ("new ", r"\bnew \w+<>?\("),
        ),
    ),
    _language(
        "c",
        "// …",
        r"\s*#\s*include [<\"]",
        r"\s*#\s*(?:define|ifdef|ifndef|endif|if defined|undef|pragma)\b",
        r"(?:static |inline |const |unsigned |extern |struct )*\w+[ *]+\w+\([^;]*\)\s*\{?$",
        r"\s*(?:typedef |struct |enum |union )\w*",
        r"\s+(?:int|char|long|double|float|unsigned|const char|void) [*\w]+.*[;{]$",
        holds=(
            ("->", r"\w->\w+"),
            ("int", r"\buint\d+_t\b"),
            *_words("NULL size_t sizeof"),
        ),
    ),
    _language(
        "cpp",
        "// …",
        r"\s*template\s*<",
        r"\s*namespace \w*.*\{",
        r"\s*(?:public|private|protected):\s*$",
        r"\s*class \w+.*[{:]$",
        r"\s*#\s*include [<\"][\w/]+(?:\.hpp)?[>\"]",
        r"\s*#\s*(?:define|ifdef|ifndef|endif|pragma)\b",
        holds=(
            ("std::", r"\bstd::"),
            ("::", r"\w::~?\w+\(.*\{$"),
            *_words("nullptr constexpr noexcept override auto static_cast"),
        ),
    ),
    _language(
        "csharp",
        "// …",
        r"\s*using [\w.]+;",
        r"\s*namespace [\w.]+\s*[;{]?$",
        r"\s*(?:public|private|protected|internal)(?: static| async| override| virtual| readonly| sealed)*"
        r" [\w<>\[\],?. ]+(?:\(.*|=.*;|;|\{.*)?$",
        r"\s*var \w+ = (?:new|await)\b",
        r"\s+\[[A-Z]\w+(?:\(.*\))?\]\s*$",
        holds=(
            ("{ get; ", r"\{ get; (?:private |init|set|protected )"),
            ("Console.Write", r"\bConsole\.Write"),
            ("async Task", r"\basync Task"),
            ("string[]", r"\bstring\[\]"),
            ("foreach (var", r"\bforeach \(var"),
        ),
    ),
    _language(
        "go",
        "// …",
        r"package \w+\s*$",
        r"func (?:\(\w+ \*?[\w\[\]]+\) )?\w+[\[(]",
        r"import \(\s*$|import \"",
        r"type \w+ (?:struct|interface|func)\b",
        r"\s*if .*err != nil",
        r"\s*(?:defer|go) \w+.*\(",
        holds=(
            (" := ", r"\w := "),
            ("err", r"\breturn .*\berr\b"),
        ),
    ),
    _language(
        "rust",
        "// …",
        r"\s*(?:pub(?:\([\w:]+\))? )?(?:async |unsafe |const )*fn \w+",
        r"\s*(?:pub )?(?:impl|trait|mod|enum|struct)\b.*[{;]$",
        r"\s*(?:pub )?use [\w:]+(?:::|;)",
        r"\s*let (?:mut )?\w+",
        r"\s*#!?\[\w+",
        r"\s*match .*\{$",
        holds=(
            ("-> ", r"-> (?:Self|Result|Option|Vec|Box|bool|String|&)"),
            ("self", r"&(?:mut )?self\b"),
            ("!(", r"\w!\("),
        ),
    ),
    _language(
        "php",
        "// …",
        r"\s*<\?php",
        r"\s*\$\w+\s*(?:=|->|\[)",
        r"\s*(?:public |private |protected |static |abstract |final )*function &?\w+\(",
        r"\s*namespace [\w\\]+;|\s*use [\w\\]+(?: as \w+)?;",
        r"\s*(?:echo|require_once|include_once)\b.*;",
        holds=(
            ("->", r"\$\w+->"),
            ("$", r"[(, ]\$\w+[,)\[; ]"),
            ("foreach (", r"\bforeach \(\$"),
        ),
    ),
    _language(
        "ruby",
        "# …",
        r"\s*def (?:self\.)?\w+[?!=]?(?:\(.*\))?\s*$",
        r"\s*end\s*$",
        r"\s*require(?:_relative)? ['\"]",
        r"\s*(?:module|class) [A-Z]\w*(?:::\w+)*(?: < [\w:]+)?\s*$",
        r"\s*attr_(?:reader|accessor|writer) :",
        r"\s*@\w+ (?:\|\|)?= ",
        r"\s*(?:unless|elsif|rescue|puts|raise)\b",
        holds=(("do", r"\bdo(?: \|[\w, ]+\|)?\s*$"),),
    ),
    _language(
        "shell",
        "# …",
        r"\s*(?:fi|done|esac|then|do)\s*(?:#.*)?$",
        r"\s*(?:if|elif|while|until) (?:! )?\[",
        r"\s*(?:local|export|readonly|declare) (?:-\w+ )?\w+=",
        r"\s*\w+=(?:\$|\"|'|`)",
        r"\s*(?:function )?\w+ ?\(\) ?\{\s*$",
        r"\s*(?:echo|printf|exit|set|source|trap) .*",
    ),
)

OTHER = Language("other", "…", re.compile(r"(?!)"))


def language_of(lines: Sequence[str]) -> Language | None:
    """The language, ``OTHER`` if the lines are code of no known one, None if they are not source code."""
    sample = list(islice(_telling(lines), _SAMPLE))
    coded = len(enough(sample, _is_code, _CODE_SHARE * len(sample)))
    fenced = any(line.lstrip().startswith(_FENCE) for line in sample[1:])  # a page about code, not code
    if fenced or len(sample) < LEAST_SIGNS or not coded:
        return None
    text = "\n".join(sample)
    shown = [(language.shown(sample, text), language) for language in LANGUAGES]
    signs, best = max(shown, key=lambda entry: entry[0])
    if signs >= max(LEAST_SIGNS, _SIGN_SHARE * len(sample)):
        return best
    return OTHER if coded >= _PLAIN_SHARE * len(sample) and len(sample) >= _LEAST_PLAIN else None


def _is_code(line: str) -> bool:
    return _CODE.match(line) is not None and not _SENTENCE.match(line)


def _telling(lines: Sequence[str]) -> Iterator[str]:
    """The lines at the beginning that are neither blank nor comments."""
    beginning = lines[:_BEGINNING]
    for line, comment in zip(beginning, comments(beginning), strict=True):
        if not comment and line.strip():
            yield line[:_LONGEST_LINE]
