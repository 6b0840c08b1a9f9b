"""Recognising and masking secrets: keys, tokens and passwords.

Secrets with a vendor's prefix are masked anywhere. Others are masked only if a name says that they
are secret (``api_key=…``, ``Authorization: …``, ``https://user:…@host``) or if their check digits
are right (cards, IBAN). Commit hashes, UUIDs, checksums and images in base64 are therefore left
alone. Quotes may be escaped any number of times. Terminal colours inside a secret are ignored, and
removed from a text that holds one. Masking twice changes nothing. In JSON, secrets are masked
inside strings, so that it stays JSON.

Compared with a library: detect-secrets 1.5 finds 22 of 88 of these forms and reports 5 of 41
harmless texts, since it is made for lines of source files.
"""

import json
import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import ne

from .visible import COLOUR

_WORD = "[A-Za-z0-9_-]"
_TOKENS = r"""
    anthropic key: sk-ant-[\w-]{20,300}
    openai key: sk-[\w-]{20,300}
    github token: gh[pousr]_[A-Za-z0-9]{30,255}
    github access token: github_pat_\w{30,255}
    gitlab token: gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{20,60}
    slack token: xox[a-eoprs]-[\w-]{10,250}
    slack app token: xapp-[\w-]{10,250}
    slack webhook: https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}
    discord webhook: https://discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{10,25}/[\w-]{30,100}
    teams webhook: https://[\w-]{1,60}\.webhook\.office\.com/[A-Za-z0-9/@-]{60,300}
    password hash: \$(?:apr1|[156y]|2[aby]|argon2(?:id|i|d))\$[\w./$=,+-]{20,200}
    aws key id: A(?:KIA|SIA)[A-Z0-9]{16}
    google key: AIza[\w-]{35}
    google token: ya29\.[\w-]{20,1024}
    google client secret: GOCSPX-[\w-]{28}
    stripe key: [sr]k_(?:live|test)_[A-Za-z0-9]{16,247}
    stripe webhook secret: whsec_[A-Za-z0-9+/=]{24,100}
    hugging face token: hf_[A-Za-z0-9]{30,100}
    npm token: npm_[A-Za-z0-9]{36}
    pypi token: pypi-[\w-]{50,300}
    docker token: dckr_pat_[\w-]{20,60}
    digitalocean token: do[opr]_v1_[a-f0-9]{64}
    sendgrid key: SG\.[\w-]{16,32}\.[\w-]{32,64}
    twilio key: SK[0-9a-f]{32}
    mailgun key: key-[0-9a-f]{32}
    shopify token: shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
    square token: sq0(?:atp|csp)-[\w-]{22,43}
    vault token: hv[sbr]\.[\w-]{24,300}
    grafana token: glsa_\w{30,100}
    databricks token: dapi[a-f0-9]{32}(?:-\d)?
    atlassian token: ATATT3[\w=-]{60,300}
    new relic key: NRAK-[A-Z0-9]{27}
    sentry token: sntry[su]_[\w+/=-]{40,400}
    postman key: PMAK-[0-9a-f]{24}-[0-9a-f]{34}
    supabase token: sbp_[0-9a-f]{40}
    fly token: fm[12][ar]?_[A-Za-z0-9+/=]{40,2000}
    linear key: lin_api_[A-Za-z0-9]{32,64}
    notion token: ntn_[A-Za-z0-9]{40,60}
    groq key: gsk_[A-Za-z0-9]{24,120}
    xai key: xai-[A-Za-z0-9]{24,120}
    nvidia key: nvapi-[\w-]{24,120}
    replicate token: r8_[A-Za-z0-9]{24,60}
    perplexity key: pplx-[A-Za-z0-9]{24,80}
    discord token: [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}
    age key: AGE-SECRET-KEY-1[0-9A-Z]{58}
    jwt: eyJ(?<![\w-]eyJ)[\w-]{8,2000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{8,2000})?
    jwt: eyJ(?<![\w-]eyJ)[\w-]{8,2000}\.[\w-]{0,999}(?:\.[\w-]{8,8000}){3}
"""
"""Each kind with its shape, as the vendor documents it, in ASCII.

Each shape starts with a literal, which makes searching fast.
"""
_SHAPES = [
    (kind, re.compile(shape + r"(?![A-Za-z0-9])", re.ASCII))
    for kind, _, shape in (line.strip().partition(": ") for line in _TOKENS.strip().splitlines())
]

_KEY_EDGE = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# characters from the first line of a key to its last, with what stands before each; an RSA key of
# 16,384 bits has some 12,600
_KEY_LONGEST = 20_000
# a key whose end is cut off: its headers and lines
_KEY_BODY = re.compile(
    r"(?:[^\n]{0,40}\b(?:Version|Comment|Hash|Proc-Type|DEK-Info): [^\n]{0,200}\n"
    # a line of 64 characters or more, whatever stands around it
    r"|[^\n]{0,20}+\n(?:[\w+/]{0,59}+[^\w+/\n]){0,20}+[\w+/]{60}"
    r"|[\w+/=:, \t\r\n>|\"'-]|\\[nr]|[.;]$)*+",
    re.MULTILINE,
)
_COLOUR = re.compile(  # also as programs write them down
    rf"{COLOUR}|\\(?:u001b|x1b|033|e)\[[0-9;]{{0,20}}[A-Za-z]", re.IGNORECASE
)

# The next two search a text in lower case. Each alternative begins with a letter and looks back
# only after it has matched, so that the search skips most of a text.
_NAME = (
    r"pass(?:wor[dt]|wd|phrase)|kennwort|mot de passe|contraseña|senha(?<![a-z]senha)|[пП]ароль"
    r"|密[码碼]|パスワード|비밀번호|pass(?<=[_-]pass)(?=[\"'\\\s:=])"
    r"|pwd|pw(?<=[_-]pw)(?=[\"'\\\s:=])|secret"
    r"|pass(?<![a-z]pass)(?=[\"']?\s{0,3}[:=]\s{0,3}[\"'])"
    r"|api[ _-]?key|access[ _-]?key|account[_-]?key|auth[_-]?(?:key|token(?!i))"
    r"|private[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|credentials?|key(?<!publickey)(?<!public[ _-]key)"
    r"|token(?<!pagetoken)(?<!page[_-]token)(?<!nexttoken)(?<!next[_-]token)(?!i)"
    r"|x-amz-signature(?<=[?&]x-amz-signature)|signature(?<=[?&]signature)|sig(?<=[?&]sig)"
)
_QUOTE = r"(?:\\{0,15}[\"'`“”]|\*\*|&quot;|&#(?:3[49]|x2[27]);|%22)"
_HEADER = re.compile(
    r"((?:(?:bearer|basic|apikey|x-api-key:)[ \t]{1,3}"
    rf"|authorization(?:{_QUOTE}?[:=]|{_QUOTE},)[ \t]{{0,3}}{_QUOTE}?"
    r"(?:[\w-]{1,20}[ \t]{1,3})?))"
    r"([a-z0-9._~+/=-]{12,4000})"
)
_NAMED = re.compile(
    rf"((?:{_NAME})(?:[\w-]{{0,20}}+|[\w-]{{0,20}}?-(?=value\b))"
    # a subscript or a type may stand before the sign
    rf"(?:{_QUOTE}?(?:\[?\](?= ?= ?b?[\"'])"
    r"|(?:\s\{[^{}\n]{0,40}\}|\s[a-z]{1,20})(?= = [\"']))?\s{0,3}"
    r"(?::=|=>|::(?=\s)|:(?!:[a-z])|[=：]|(?:\|\||\?\?)=|(?:\|\||\?[?:]|<-)(?= ?[\"'`])|%3[ad])"
    r"(?:\*\*)?\s{0,3}"
    # as the block of a YAML file, its lines are below the name
    r"(?:[|>][-+\d]{0,2}\s{1,40}|&?[a-z]{1,20} {0,3}= {0,3}(?=[\"'])"  # or a type before it
    r"|(?:!!str|&(?!(?:mut|dyn|impl|const) )[\w-]{1,40}) {1,3})?"  # or YAML's tag or anchor
    # in a manifest: name and value
    rf"|{_QUOTE}?,?\s{{0,40}}{_QUOTE}?\bvalue{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}"
    # of an element, or of the one behind it
    rf"|{_QUOTE}?(?:\s[^<>\n]{{0,100}}|</[\w:]{{1,20}})?>\s{{0,40}}(?:<[\w:]{{1,20}}>\s{{0,40}})?"
    rf"|:? (?:is|was):? |{_QUOTE}?[ \t]{{0,40}}\|[ \t]{{0,40}}"  # in a sentence, in a table
    rf"|{_QUOTE}?,?[ \t]{{1,3}}))"  # of an option
    r"(?:[bfru](?=[\"'])|\"\"(?=\")|<!\[cdata\[)?"  # what may begin a value
    r"(?:\"([^\"\n]{1,500})\"|'([^'\n]{1,500})'"
    rf"|(?:\\{{1,15}}[\"']|[`“]|&quot;|&#(?:3[49]|x2[27]);|%22)([^\n]{{1,500}}?)(?={_QUOTE})"
    r"|([^\s\"'`,;&<({$*\[\])}\\][^\s\"'`,;&<(\[\])}\\]{0,500}+(?![(\[])))"
)
_PLAIN = r"[^\s\"'`“”,;&|\\]{0,500}+"
_VALUE_FIRST = re.compile(
    rf"(value{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?)({_PLAIN}(?:[&|](?!name|key|quot;|#3|#x2){_PLAIN}){{0,9}}+)"
    rf"(?={_QUOTE}?[;&|]?,?\s{{0,40}}{_QUOTE}?(?:name"
    rf"|key){_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?[\w.-]{{0,40}}({_NAME}))"
)
_ELEMENT = re.compile(r"(?<!:)<(?:[\w:.-][^<>\n]{0,60})?$")
_ARGUMENT = re.compile(r"\(\s{0,3}[\"'][\w.-]{0,60}$")
_ROW = re.compile(r"(?:^|\n|[:,\[]\s?\")\s*\|[^\n]*$")  # of a table, also one in JSON
_OPTION = re.compile(r"(?:^|[\s\"'`(\[])--?[\w-]{0,60}$")
# the short options by which common commands take a password
_COMMAND = re.compile(
    r"((?:\b(?:mysql\w{0,8}|mariadb)\b[^\n|;]{0,300}? -p"
    r"|\b(?:sshpass|(?:docker|podman|nerdctl|helm registry|az) login)\b[^\n|;]{0,300}? -p ?"
    r"|\bredis-cli\b[^\n|;]{0,300}? -a ?"
    r"|\bcurl\b(?:(?!\bcurl\b)[^\n|;]|(?<=\\)\n){0,300}?"  # the last of several
    r" (?:-u ?|--(?:proxy-)?user[ =])[\"']?[^\s:\"'$]{1,100}:"
    # in a .netrc file
    r"|\b(?:machine\s{1,9}\S{1,100}|default)\s{1,9}login\s{1,9}\S{1,100}\s{1,9}password\s{1,9}"
    r"|\b(?i:identified\s{1,9}(?:with\s{1,9}\S{1,60}\s{1,9})?by"
    r"|(?:user|role)\b[^\n;]{0,200}?\spassword)\s{1,9}(?=')"  # in SQL
    r")[\"']?)"
    r"([^\s\"'$<{][^\s\"']{3,300})"
)
_COMMANDS = (
    *("mysql", "mariadb", "sshpass", "redis-cli", "curl", "login"),
    *("IDENTIFIED ", "identified ", "PASSWORD '", "password '"),
)
"""Words at the start of the pattern: searching for words is much faster than trying it."""
_COOKIES = re.compile(rf"ookie2?{_QUOTE}?:\s{{0,3}}{_QUOTE}?([^\n\"'\\]{{1,4000}})")
_COOKIE = re.compile(r"=([^;,\s]{16,4000})")
_SMALL_LETTERS = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_PASSWORD = re.compile(r"(?i:pass|pw|kennwort|mot|contras|senha)|[пП]ар|密|パ|비")
_HARMLESS_NAME = re.compile(
    r"(?:id|name|type|file|path|url|uri|length|len|count|size|expiry|hash|version|policy)s?\W*$",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<\[{$*%(].*|(?:your|my|the|some|example|dummy|fake|changeme|change_me|placeholder|redacted"
    r"|xxx|\.\.\.|todo)\b.*"
    r"|(?:none|null|nil|true|false|undefined|required|optional|string|str|bytes|secret|password"
    r"|token)",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"(?:self|this)(?:\??\.[a-z_$][\w$]*)+"
    r"|(?:[a-z_$][\w$]*\??\.)+[a-z_$]{0,40}(?:pass|pwd|secret|credential)[a-z_$]{0,40}\d?"
    r"|!(?:!str|ref|sub|getatt|importvalue|vault|secret|env\w{0,9})",
    re.IGNORECASE,
)
"""What names a place of a password, in code or a file: ``settings.DB_PASSWORD``."""
_DIGITS = frozenset("0123456789")
_SIGNS = frozenset("!@#$%^&*()+=")
"""Those of Django's keys, beside letters, digits, dashes and underscores."""
_FEWEST_SIGNS = 3  # different ones in such a key; a query has two
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# characters by which a random key is told from a name; with half of it a name of the tests is
# masked, and with double three of their secrets are not
_SHORTEST = 10
_SAME_KIND = 3  # signs of one kind together, in the mean; base64 has 1.6, names of words 4 or more
_KEY_LEAST = 32  # characters of a key of 128 bits in hexadecimal digits
_LONG = 20  # characters of one that follows a name without a sign between them: as AWS key ids have
_LONG_RUN = re.compile(rf"[A-Za-z0-9]{{{_SHORTEST},}}")
_MIXED = re.compile("(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9]).*")
_MIXED_RUN = re.compile(
    "(?<![A-Za-z0-9])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]+"
)
_CAMEL = re.compile("[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*[0-9]*")  # a name, and no part of a secret
# bits a character; English words have about 2.5 at such lengths, random hex 3.3, base64 more
_LEAST_ENTROPY = 3.0


# a text with its secrets masked, and their number by kind
Masked = tuple[str, Counter[str]]


def redact(text: str) -> Masked:
    """The text with secrets masked as ``[redacted jwt]``, and their number by kind."""
    counts: Counter[str] = Counter()
    masked = _COLOUR.sub("", text)
    for search in _SEARCHES:
        pieces: list[str] = []
        at = 0
        for start, end, kind in search(masked):
            pieces += (masked[at:start], f"[redacted {kind}]")
            counts[kind] += 1
            at = end
        masked = "".join((*pieces, masked[at:]))
    return (masked if counts else text), counts


_Spans = Iterator[tuple[int, int, str]]
"""Where secrets are, each from its start to its end, and their kinds."""


def _private_keys(text: str) -> _Spans:
    edges = list(_KEY_EDGE.finditer(text))
    end = 0
    for n, edge in enumerate(edges):
        if edge[1] == "END" or edge.start() < end:
            continue
        then = edges[n + 1] if n + 1 < len(edges) else None
        if then and then[1] == "END" and then.start() - edge.end() <= _KEY_LONGEST:
            end = then.end()
        else:
            body = _KEY_BODY.match(text, edge.end(), edge.end() + _KEY_LONGEST)
            end = body.end() if body else edge.end()
        yield edge.start(), end, "private key"


def _tokens(kind: str, shape: re.Pattern[str], text: str) -> _Spans:
    for found in shape.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if not (before.isalnum() or before in {"_", "-"}) and _is_random(found.group()):
            yield *found.span(), kind


def _proven(shape: re.Pattern[str], kind: str, proves: Callable[[str], bool], text: str) -> _Spans:
    """The second groups of this pattern that prove to be a secret."""
    for found in shape.finditer(text):
        if proves(found[2]):
            yield *found.span(2), kind


def _commands(text: str) -> _Spans:
    if any(command in text for command in _COMMANDS):
        yield from _proven(_COMMAND, "password", _is_password, text)


def _cookies(text: str) -> _Spans:
    for header in _COOKIES.finditer(text):
        for found in _COOKIE.finditer(text, *header.span(1)):
            if _is_random(found[1]):
                yield *found.span(1), "cookie"


def _is_password(value: str) -> bool:
    return not _PLACEHOLDER.fullmatch(value) or value in {"password", "secret"}


def _is_login(value: str) -> bool:
    """Whether it is a name and a password, as in registries and HTTP."""
    try:
        said = b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in said and said.isprintable()


def _is_card(value: str) -> bool:
    """Whether its check digit is right (ISO/IEC 7812, Luhn)."""
    digits = [int(digit) for digit in reversed(value) if digit.isdigit()]
    return (
        len(set(digits)) > 1
        and sum(d if n % 2 == 0 else sum(divmod(2 * d, 10)) for n, d in enumerate(digits)) % 10 == 0
    )


def _is_account(value: str) -> bool:
    """Whether its two check digits are right (ISO 13616)."""
    told = value.replace(" ", "")
    return len(told) >= 15 and int("".join(str(int(c, 36)) for c in told[4:] + told[:4])) % 97 == 1


def _headers(text: str) -> _Spans:
    low = text.translate(_SMALL_LETTERS)
    for found in _HEADER.finditer(low):
        start, end = found.span(2)
        before = low[found.start() - 1] if found.start() else " "
        if before.isalnum() or before == "_":
            continue
        if _is_random(text[start:end]) or _is_login(text[start:end]):
            yield start, end, "authorization"


def _values(text: str) -> _Spans:
    low = text.translate(_SMALL_LETTERS)
    for found in _VALUE_FIRST.finditer(low):
        start, end = found.span(2)
        name, value = found[3], text[start:end]
        if _may_be_secret(name, value, quoted=True) and _is_secret(name, value):
            yield start, end, "secret"


def _named(text: str) -> _Spans:
    low = text.translate(_SMALL_LETTERS)
    seen = 0
    read: dict[str, tuple[int, int]] = {}
    while found := _NAMED.search(low, seen):
        name, (start, end) = text[slice(*found.span(1))], found.span(found.lastindex or 0)
        seen = found.start() + 1  # the next word may be a name itself
        is_password = _PASSWORD.match(name)
        # Of names in a row, the value of each holds those of all behind it. Whether one is a key,
        # its longest run decides: those that hold the same run need not be read.
        rule = name[:3] if found[1].startswith("key") else ""
        decided, last = read.get(rule, (-1, 0))
        if start <= decided and end >= last and not is_password:
            continue
        value = text[start:end]
        is_quoted = found[5] is None
        if not _may_be_secret(name, value, quoted=is_quoted) or not _is_told(low, found, value):
            continue
        if _is_secret(name, value):
            yield start, end, "password" if is_password else "secret"
            seen = end
        else:
            read[rule] = start + value.rfind(_longest_run(value)), end


def _is_told(low: str, found: re.Match[str], value: str) -> bool:
    """Whether the name is followed by the value: with a sign between, as an element or option.

    In a sentence or a table, or as the arguments of a call, the value must have letters and digits.
    Without any of these, it must look random.
    """
    between = found[1].rstrip("\"'`“* \xa0\t\r\n,\\")
    above, _, last = between.rpartition(" ")
    between = above.rstrip() if last.startswith(("!!str", "&")) else between  # YAML's tag or anchor
    before = low[max(0, found.start() - 64) : found.start()]
    is_quoted = found[5] is None
    if between.endswith(">") and not between.endswith(("=>", ": >")):
        if "<" not in between:
            return _ELEMENT.search(before) is not None
        return _MIXED.fullmatch(value) is not None
    if between.rstrip("\n|>-+ 0123456789").endswith((":", "=", "：", "?", "<", "%3d", "%3a")):
        return True
    if between.endswith("||"):
        return is_quoted
    if between.endswith("|") and not _ROW.search(before):
        return False  # as the name of a type may
    if between.endswith((" is", " was", "|")) or (
        is_quoted and ("," not in found[1] or _ARGUMENT.search(before))
    ):
        return _MIXED.fullmatch(value) is not None
    return _OPTION.search(before) is not None or (len(value) >= _LONG and _is_random(value))


def _may_be_secret(name: str, value: str, *, quoted: bool) -> bool:
    """Whether a value behind this name may be a secret, before it is read closely."""
    if (
        len(value) < 4  # the shortest password
        or " " in value
        or "://" in value
        or _HARMLESS_NAME.search(name)
        or _PLACEHOLDER.fullmatch(value)
    ):
        return False
    if _PASSWORD.match(name):
        plain = value.isalpha() and not quoted and not name.rstrip().endswith("=")
        is_folder = name.lower().startswith("pwd") and value.lstrip("~.").startswith("/")
        names_it = is_folder or (not quoted and _REFERENCE.fullmatch(value))
        return not plain and not names_it
    return len(value) >= _SHORTEST


def _is_secret(name: str, value: str) -> bool:
    """Whether a value that may be a secret is a password, or looks like a generated key."""
    if _PASSWORD.match(name):
        return True
    if _DIGITS.isdisjoint(value) or (
        _UUID.fullmatch(value) and name.lower().startswith("token")  # as that of a page may be
    ):
        return False
    runs = [run for run in _MIXED_RUN.findall(value) if not _CAMEL.fullmatch(run)]
    if name.lower().startswith("key"):  # of a cache, a row or a lock; a constant is a setting
        is_setting = name.startswith("KEY") and len(value) >= _KEY_LEAST and _is_random(value)
        return is_setting or any(len(run) >= _LONG and _turns_often(run) for run in runs)
    signs = {sign for sign in set(value) if not sign.isalnum()}.difference("-_")
    if len(value) >= _LONG and signs <= _SIGNS and len(signs) >= _FEWEST_SIGNS:
        return _is_varied(value)
    return bool(runs) or _is_random(value)


def _longest_run(value: str) -> str:
    return max(_LONG_RUN.findall(value), key=len, default="")


def _is_random(value: str) -> bool:
    """Whether the value looks random: a long run of many different letters and digits."""
    run = _longest_run(value)
    if not run or run.isalpha() or run.isdigit():
        return False
    return _is_varied(value)


def _turns_often(run: str) -> bool:
    """Whether letters, capitals and digits follow each other as in base64, unlike in a name."""
    kinds = [sign.isdigit() + 2 * sign.isupper() for sign in run]
    turns: int = sum(map(ne, kinds, kinds[1:]))
    return _SAME_KIND * turns >= len(run)


def _is_varied(value: str) -> bool:
    sample = value[:200]
    shares = [times / len(sample) for times in Counter(sample).values()]
    return -sum(share * math.log2(share) for share in shares) >= _LEAST_ENTROPY


_FORMS = [
    (re.compile(shape), kind, proves)
    for shape, kind, proves in (
        (
            (  # a password may hold that sign too
                r"(://[^\s:/@\"'<>]{0,100}:)"
                r"([^\s/@\"'<>]{1,300}(?:@[^\s/@\"'<>?#&,;:]{1,100}){0,3})(?=@)"
            ),
            "password",
            _is_password,
        ),
        (r"(://)([^\s:/@\"'<>]{20,300})(?=@)", "password", _is_random),
        (rf"(:)(?<=\d{{8}}:)(AA{_WORD}{{33}})(?![A-Za-z0-9])", "telegram token", _is_random),
        (
            rf"(auth{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?)([a-zA-Z0-9+/]{{8,400}}={{0,2}})",
            "authorization",
            _is_login,
        ),
        (
            r"(?<![\w.,-])()((?:3[47]|[4-6]\d|2[2-7])\d\d(?:[ -]?\d){11,12})(?![\w-])(?!\.\d)",
            "card",
            _is_card,
        ),
        (
            (
                r"(?<![A-Za-z0-9])()([A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)"
                r"(?![A-Za-z0-9])"
            ),
            "account",
            _is_account,
        ),
    )
]
"""Patterns whose second group is a secret of that kind, if it proves to be one."""

_SEARCHES: Sequence[Callable[[str], _Spans]] = (
    _private_keys,
    *(partial(_tokens, kind, shape) for kind, shape in _SHAPES),
    _commands,
    _cookies,
    *(partial(_proven, *form) for form in _FORMS),
    _headers,
    _values,
    _named,
)
"""What finds secrets, in order: what one has found, the next ones see masked."""


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BARE = re.compile(rf"{_STRING.pattern}|(\[redacted [a-z ]+\])", re.DOTALL)
_BETWEEN = "\n\n\n\n\x00\n\n\n\n"  # no secret spans it


def redact_any(text: str) -> Masked:
    """Like ``redact``; in JSON, strings are read without their escapes, and it stays JSON."""
    if not text.lstrip().startswith(("{", "[")) or not _is_json(text):
        return redact(text)
    inside, found = _within(text)
    masked, more = redact(inside)
    if more:
        # it was a number
        masked = _BARE.sub(lambda value: f'"{value[1]}"' if value[1] else value[0], masked)
        if not _is_json(masked):
            return _within(text, escaped=False)
    return masked, found + more


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False, parse_int=len)
    except (ValueError, RecursionError):
        return False
    return True


def _within(text: str, *, escaped: bool = True) -> Masked:
    """The JSON with secrets masked inside its strings; on request only in strings with escapes."""
    strings = [s for s in _STRING.findall(text) if "\\" in s or not escaped]
    said: list[str] = [json.loads(string, strict=False) for string in strings]
    # all at once, since starting a search is what takes time
    joined, counts = redact(_BETWEEN.join(said))
    masked = joined.split(_BETWEEN)
    if not counts or len(masked) != len(said):
        return text, Counter()
    now = {
        s: json.dumps(m, ensure_ascii=s.isascii())
        for s, m, was in zip(strings, masked, said, strict=True)
        if m != was
    }
    return _STRING.sub(lambda string: now.get(string[0], string[0]), text), counts
