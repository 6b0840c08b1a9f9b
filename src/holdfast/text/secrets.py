"""Secrets in a text: keys, tokens and passwords, masked so that a reader still sees what stood there.

What vendors mark with a prefix of their own is masked wherever it stands; anything else only where a name says
that it is secret (``api_key=…``, ``Authorization: …``, ``https://user:…@host``). Commit hashes, UUIDs, checksums
and images in base64 are therefore left alone. A masked text has nothing left to mask.
"""

from __future__ import annotations

import math
import re
from collections import Counter

_WORD = "[A-Za-z0-9_-]"
_TOKENS = {  # kind: its shape, as the vendor documents it; each starts with a literal, which makes the search fast
    "anthropic key": rf"sk-ant-{_WORD}{{20,300}}",
    "openai key": rf"sk-{_WORD}{{20,300}}",
    "github token": r"gh[pousr]_[A-Za-z0-9]{30,255}",
    "github access token": r"github_pat_\w{30,255}",
    "gitlab token": rf"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-{_WORD}{{20,60}}",
    "slack token": rf"xox[abeoprs]-{_WORD}{{10,250}}",
    "slack app token": rf"xapp-{_WORD}{{10,250}}",
    "slack webhook": r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}",
    "discord webhook": rf"https://discord(?:app)?\.com/api/webhooks/\d{{10,25}}/{_WORD}{{30,100}}",
    "aws key id": r"A(?:KIA|SIA)[A-Z0-9]{16}",
    "google key": rf"AIza{_WORD}{{35}}",
    "google token": rf"ya29\.{_WORD}{{20,1024}}",
    "google client secret": rf"GOCSPX-{_WORD}{{28}}",
    "stripe key": r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}",
    "stripe webhook secret": r"whsec_[A-Za-z0-9+/=]{24,100}",
    "hugging face token": r"hf_[A-Za-z0-9]{30,100}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "pypi token": rf"pypi-{_WORD}{{50,300}}",
    "docker token": rf"dckr_pat_{_WORD}{{20,60}}",
    "digitalocean token": r"do[opr]_v1_[a-f0-9]{64}",
    "sendgrid key": rf"SG\.{_WORD}{{16,32}}\.{_WORD}{{32,64}}",
    "twilio key": r"SK[0-9a-f]{32}",
    "mailgun key": r"key-[0-9a-f]{32}",
    "shopify token": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "square token": rf"sq0(?:atp|csp)-{_WORD}{{22,43}}",
    "vault token": rf"hv[sbr]\.{_WORD}{{24,300}}",
    "grafana token": r"glsa_\w{30,100}",
    "databricks token": r"dapi[a-f0-9]{32}(?:-\d)?",
    "atlassian token": r"ATATT3[\w=-]{60,300}",
    "linear key": r"lin_api_[A-Za-z0-9]{32,64}",
    "notion token": r"ntn_[A-Za-z0-9]{40,60}",
    "groq key": r"gsk_[A-Za-z0-9]{24,120}",
    "xai key": r"xai-[A-Za-z0-9]{24,120}",
    "nvidia key": rf"nvapi-{_WORD}{{24,120}}",
    "replicate token": r"r8_[A-Za-z0-9]{24,60}",
    "perplexity key": r"pplx-[A-Za-z0-9]{24,80}",
    "age key": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "jwt": rf"eyJ{_WORD}{{8,2000}}\.eyJ{_WORD}{{8,8000}}(?:\.{_WORD}{{8,2000}})?",
}
_SHAPES = [(kind, re.compile(shape + r"(?![A-Za-z0-9])")) for kind, shape in _TOKENS.items()]

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=:, \t\r\n-]|\\[nr])*+")  # of a key whose end is cut off

_IN_URL = re.compile(r"(://[^\s:/@\"'<>]{0,100}:)([^\s/@\"'<>]{1,300})(?=@)")
# The next two search a text in small letters. Each alternative begins with a letter, and looks back only when it
# has matched: so the search passes over most of a text without trying any of them.
_HEADER = re.compile(
    r"((?:bearer|basic|apikey|x-api-key:|authorization:(?: token)?)[ \t]{1,3})([a-z0-9._~+/=-]{12,4000})"
)
_NAME = (
    r"pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?key|private[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|credentials?"
    r"|token(?<!pagetoken)(?<!page[_-]token)(?<!nexttoken)(?<!next[_-]token)(?!i)"
    r"|x-amz-signature(?<=[?&]x-amz-signature)|signature(?<=[?&]signature)|sig(?<=[?&]sig)"
)
_NAMED = re.compile(
    rf"((?:{_NAME})[\w-]{{0,20}}[\"']?\s{{0,3}}(?::=|=>|[:=])\s{{0,3}})"
    rf"(?:\"([^\"\n]{{1,500}})\"|'([^'\n]{{1,500}})'|([^\s\"'`,;&<({{$*\[\])}}][^\s\"'`,;&(\[\])}}]{{0,500}}+(?![(\[])))"
)
_SMALL_LETTERS = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_HARMLESS_NAME = re.compile(
    r"(?:id|name|type|file|path|url|uri|length|len|count|size|expiry|hash|version|policy)s?\W*$", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"[<\[{$*%(].*|(?:your|my|the|some|example|dummy|fake|changeme|change_me|placeholder|redacted|xxx|\.\.\.|todo)\b.*"
    r"|(?:none|null|nil|true|false|undefined|required|optional|string|str|bytes|secret|password|token)",
    re.IGNORECASE | re.DOTALL,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SHORTEST = 12  # characters of a key or a token that only its name gives away
_RUN = re.compile(r"[A-Za-z0-9]+")
_SHORTEST_RUN = 10
_LEAST_ENTROPY = 3.0  # bits a character; English words have about 2.5 at such lengths, random hex 3.3, base64 more


def redact(text: str) -> tuple[str, Counter[str]]:
    """The text with every secret masked as ``[redacted jwt]``, and how many of each kind there were."""
    counts: Counter[str] = Counter()
    text = _without_private_keys(text, counts)
    for kind, shape in _SHAPES:
        text = _without_tokens(text, kind, shape, counts)
    text = _without_passwords_in_urls(text, counts)
    text = _without_headers(text, text.translate(_SMALL_LETTERS), counts)
    return _without_named(text, text.translate(_SMALL_LETTERS), counts), counts


def _mask(kind: str, counts: Counter[str]) -> str:
    counts[kind] += 1
    return f"[redacted {kind}]"


def _without_private_keys(text: str, counts: Counter[str]) -> str:
    pieces: list[str] = []
    at = 0
    while begins := _KEY_BEGINS.search(text, at):
        body = _KEY_BODY.match(text, begins.end())
        end = body.end() if body else begins.end()
        ends = _KEY_ENDS.search(text, begins.end(), end + 80)
        pieces += (text[at : begins.start()], _mask("private key", counts))
        at = ends.end() if ends else end
    return "".join((*pieces, text[at:]))


def _without_tokens(text: str, kind: str, shape: re.Pattern[str], counts: Counter[str]) -> str:
    def masked(found: re.Match[str]) -> str:
        before = text[found.start() - 1 : found.start()] if found.start() else ""
        if before.isalnum() or before in {"_", "-"} or not _is_random(found.group()):
            return found.group()
        return _mask(kind, counts)

    return shape.sub(masked, text)


def _without_passwords_in_urls(text: str, counts: Counter[str]) -> str:
    def masked(found: re.Match[str]) -> str:
        if _PLACEHOLDER.fullmatch(found[2]) and found[2] not in {"password", "secret"}:
            return found.group()
        return found[1] + _mask("password", counts)

    return _IN_URL.sub(masked, text)


def _without_headers(text: str, low: str, counts: Counter[str]) -> str:
    pieces: list[str] = []
    at = 0
    for found in _HEADER.finditer(low):
        start, end = found.span(2)
        before = low[found.start() - 1] if found.start() else " "
        if not (before.isalnum() or before == "_") and _is_random(text[start:end]):
            pieces += (text[at:start], _mask("authorization", counts))
            at = end
    return "".join((*pieces, text[at:]))


def _without_named(text: str, low: str, counts: Counter[str]) -> str:
    pieces: list[str] = []
    at = 0
    for found in _NAMED.finditer(low):
        name, (start, end) = found[1], found.span(found.lastindex or 0)
        if _is_secret(name, text[start:end], quoted=found[4] is None):
            kind = "password" if "pass" in name or "pwd" in name else "secret"
            pieces += (text[at:start], _mask(kind, counts))
            at = end
    return "".join((*pieces, text[at:]))


def _is_secret(name: str, value: str, *, quoted: bool) -> bool:
    if _HARMLESS_NAME.search(name) or _PLACEHOLDER.fullmatch(value) or "://" in value:
        return False
    if name.lower().startswith(("pass", "pwd")):
        plain = value.isalpha() and not quoted and not name.rstrip().endswith("=")
        return len(value) >= 4 and not plain and " " not in value
    if _UUID.fullmatch(value) and "token" in name.lower():
        return False
    return len(value) >= _SHORTEST and " " not in value and _is_random(value)


def _is_random(value: str) -> bool:
    """Whether the value looks drawn, not written: a long run of letters and digits, many different ones."""
    run = max(_RUN.findall(value), key=len, default="")
    if len(run) < _SHORTEST_RUN or run.isalpha() or run.isdigit():
        return False
    sample = value[:200]
    shares = [times / len(sample) for times in Counter(sample).values()]
    return -sum(share * math.log2(share) for share in shares) >= _LEAST_ENTROPY
