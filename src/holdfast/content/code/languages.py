"""Which language a source text is written in, by the lines that only that language has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .comments import comments

_SAMPLE = 160  # lines that are looked at, which are neither blank nor comments
_BEGINNING = 1_500  # lines among which they are sought
_LONGEST_LINE = 300  # characters of a line that are looked at
_LEAST_SIGNS = 3  # lines that show the language
_SIGN_SHARE = 0.08  # of the lines that say something
_CODE_SHARE = 0.5  # of them look like code of any language
_CODE = re.compile(
    r"\s*(?:[^\s].*[{};(\[,\\]\s*(?://.*|/\*.*|#.*)?$"  # ends as no sentence ends
    r"|[{}()\]]|end\b|@\w|#\s*(?:include|define|if|endif|else|pragma)|<\?php"
    r"|(?:def|class|import|from|return|elif|else|try|except|finally|raise|async|func|fn|pub|impl|use|mod|package|let"
    r"|const|var|public|private|protected|static|struct|enum|interface|namespace|module|require|function|export"
    r"|yield|await|lambda|begin|rescue|unless|attr_\w+|if|for|while|with|switch|match|case|when|elsif|do|fi|done|esac|then|echo|local)\b.*\S$"
    r"|[\w.$\[\]\"'@&*]+(?:, ?[\w.$@*]+)*(?:: ?[\w.\[\], |]+)? ?(?:[-+*/|&%]|<<|\|\||:)?= ?\S"  # an assignment
    r"|[\w.$:]+[!?]?\(.*\)?\s*$)"  # a call
)
_PLAIN_SHARE, _LEAST_PLAIN = 0.85, 8  # the same where no language shows: share and number of the lines
_FENCE = "```"
_SENTENCE = re.compile(r"\s*(?:[A-Za-z][a-z'’]*,? ){4,}.*[a-z][.:,;]?\s*$")  # as no statement reads


@dataclass(frozen=True, slots=True)
class Language:
    """``gap`` opens the comment for lines that are left out; ``signs`` are what its lines may show."""

    name: str
    gap: str
    signs: re.Pattern[str]


def _language(name: str, gap: str, *signs: str) -> Language:
    return Language(name, gap, re.compile("|".join(signs)))


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
        r".*(?:\)|= \w+|\(\w+)(?:: [\w<>\[\]]+)? => ?[{(\w]",
        r".*\brequire\(['\"]",
        r"\s*import\b.*\bfrom ['\"]",
        r"\s*export (?:default|const|\{)",
        r".*[!=]==",
        r"\s*module\.exports\b",
        r".*\bdocument\.\w+|.*\bconsole\.\w+\(",
    ),
    _language(
        "typescript",
        "// …",
        r"\s*(?:export )?(?:const|let|var) (?:[\w$]+(?:: ?[^=]+)?|[{\[].*[}\]]) = ",
        r".*[\w)\]?]\s?: (?:string|number|boolean|void|any|unknown|never|Promise<|Array<|Record<|Map<)",
        r"\s*(?:export (?:default )?)?(?:declare )?(?:interface|type|enum|namespace|abstract class) \w+",
        r"\s*import type\b",
        r".*\bas (?:const|string|any|unknown|number)\b",
        r"\s*(?:private|public|protected|readonly) (?:readonly |async |static )*\w+[?:(<]",
        r"\s*import\b.*\bfrom ['\"]",
        r".*(?:\)|= \w+|\(\w+)(?:: [\w<>\[\]]+)? => ?[{(\w]",
        r"\s*export (?:async )?(?:function|class)\b",
    ),
    _language(
        "java",
        "// …",
        r"\s*(?:public|private|protected)(?: static| final| abstract)* [\w<>\[\], ?]+ \w+\s*(?:\(.*|=.*;|;)$",
        r"package [\w.]+;",
        r"import (?:static )?[\w.]+(?:\.\*)?;",
        r"\s*@(?:Override|Test|Autowired|Nullable|Deprecated|Entity|Component|Service|Bean|SuppressWarnings)\b",
        r"\s*(?:public |private |abstract |final )*(?:class|interface|enum|record) \w+.*(?:extends|implements|\{)",
        r".*\bSystem\.(?:out|err)\.",
        r".*\bthrows \w+|.*\bnew \w+<>?\(",
    ),
    _language(
        "c",
        "// …",
        r"\s*#\s*include [<\"]",
        r"\s*#\s*(?:define|ifdef|ifndef|endif|if defined|undef|pragma)\b",
        r"(?:static |inline |const |unsigned |extern |struct )*\w+[ *]+\w+\([^;]*\)\s*\{?$",
        r".*\w->\w+",
        r".*\b(?:NULL|size_t|uint\d+_t|sizeof)\b",
        r"\s*(?:typedef |struct |enum |union )\w*",
        r"\s+(?:int|char|long|double|float|unsigned|const char|void) [*\w]+.*[;{]$",
    ),
    _language(
        "cpp",
        "// …",
        r".*\bstd::",
        r"\s*template\s*<",
        r"\s*namespace \w*.*\{",
        r"\s*(?:public|private|protected):\s*$",
        r"\s*class \w+.*[{:]$",
        r".*\b(?:nullptr|constexpr|noexcept|override|auto|static_cast)\b",
        r"\s*#\s*include [<\"][\w/]+(?:\.hpp)?[>\"]",
        r".*\w::~?\w+\(.*\{$",
        r"\s*#\s*(?:define|ifdef|ifndef|endif|pragma)\b",
    ),
    _language(
        "csharp",
        "// …",
        r"\s*using [\w.]+;",
        r"\s*namespace [\w.]+\s*[;{]?$",
        r".*\{ get; (?:private |init|set|protected )",
        r"\s*(?:public|private|protected|internal)(?: static| async| override| virtual| readonly| sealed)*"
        r" [\w<>\[\],?. ]+(?:\(.*|=.*;|;|\{.*)?$",
        r"\s*var \w+ = (?:new|await)\b",
        r"\s+\[[A-Z]\w+(?:\(.*\))?\]\s*$",
        r".*\b(?:Console\.Write|async Task|string\[\]|foreach \(var)",
    ),
    _language(
        "go",
        "// …",
        r"package \w+\s*$",
        r"func (?:\(\w+ \*?[\w\[\]]+\) )?\w+[\[(]",
        r".*\w := ",
        r"import \(\s*$|import \"",
        r"type \w+ (?:struct|interface|func)\b",
        r"\s*if .*err != nil|.*\breturn .*\berr\b",
        r"\s*(?:defer|go) \w+.*\(",
    ),
    _language(
        "rust",
        "// …",
        r"\s*(?:pub(?:\([\w:]+\))? )?(?:async |unsafe |const )*fn \w+",
        r"\s*(?:pub )?(?:impl|trait|mod|enum|struct)\b.*[{;]$",
        r"\s*(?:pub )?use [\w:]+(?:::|;)",
        r"\s*let (?:mut )?\w+",
        r".*-> (?:Self|Result|Option|Vec|Box|bool|String|&)",
        r"\s*#!?\[\w+",
        r".*&(?:mut )?self\b|.*\w+!\(",
        r"\s*match .*\{$",
    ),
    _language(
        "php",
        "// …",
        r"\s*<\?php",
        r"\s*\$\w+\s*(?:=|->|\[)",
        r".*\$\w+->|.*[(, ]\$\w+[,)\[; ]",
        r"\s*(?:public |private |protected |static |abstract |final )*function &?\w+\(",
        r"\s*namespace [\w\\]+;|\s*use [\w\\]+(?: as \w+)?;",
        r"\s*(?:echo|require_once|include_once)\b.*;",
        r".*\bforeach \(\$",
    ),
    _language(
        "ruby",
        "# …",
        r"\s*def (?:self\.)?\w+[?!=]?(?:\(.*\))?\s*$",
        r"\s*end\s*$",
        r"\s*require(?:_relative)? ['\"]",
        r"\s*(?:module|class) [A-Z]\w*(?:::\w+)*(?: < [\w:]+)?\s*$",
        r".*\bdo(?: \|[\w, ]+\|)?\s*$",
        r"\s*attr_(?:reader|accessor|writer) :",
        r"\s*@\w+ (?:\|\|)?= ",
        r"\s*(?:unless|elsif|rescue|puts|raise)\b",
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
    coded = sum(_CODE.match(line) is not None and not _SENTENCE.match(line) for line in sample)
    fenced = any(line.lstrip().startswith(_FENCE) for line in sample[1:])  # a page about code, not code
    if fenced or len(sample) < _LEAST_SIGNS or coded < _CODE_SHARE * len(sample):
        return None
    shown = [(sum(language.signs.match(line) is not None for line in sample), language) for language in LANGUAGES]
    signs, best = max(shown, key=lambda entry: entry[0])
    if signs >= max(_LEAST_SIGNS, _SIGN_SHARE * len(sample)):
        return best
    return OTHER if coded >= _PLAIN_SHARE * len(sample) and len(sample) >= _LEAST_PLAIN else None


def _telling(lines: Sequence[str]) -> Iterator[str]:
    """The lines at the beginning that are neither blank nor comments."""
    beginning = lines[:_BEGINNING]
    for line, comment in zip(beginning, comments(beginning), strict=True):
        if not comment and line.strip():
            yield line[:_LONGEST_LINE]
