"""Whether an output reports that the act which returned it failed."""

import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile

from .importance import FAILURE, TROUBLE, alarm
from .json_values import Value, dump, parse
from .memo import Memo
from .question import words_of_name
from .visible import as_shown
from .words import elements, stem, unwrapped, words

# characters; a longer output says more than that the act failed. Half and double kept as much of
# recorded runs
_BRIEF = 400
# characters at the start of a report that say it failed: a terminal's line. All reports but one of
# 51 in recorded runs have half of it, and prose such as a clause often names trouble behind it
_EARLY = 80
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception):\s|(?i:error|fatal):\s")
"""How the last line of a program that failed begins, however much it wrote before."""
_LINE = re.compile(r"^\S", re.MULTILINE)
_DETAILS = 1_000  # characters below an error that tell more of it, all indented; half found as many
_EXIT = re.compile(
    r"(?:exit|return)(?:ed with)?[ _]?(?:code|status)[^\w\n]{1,4}(\d+)"
    r"|^(?:exit|rc)[^\w\n]{1,2}(\d+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""How a shell tells how it ended, before or behind an output, in words or in a field."""
_SUCCESS = frozenset("ok success succeeded successful".split())
_REPORT = frozenset("status code result outcome message msg detail".split())
"""Words of the fields of a JSON reply that say in a text or a code whether an act succeeded."""
_COUNTED = re.compile(r"\w+[\"']?[ \t]*[:=]?[ \t]*\d[\d.,]*(?!\w)")
"""A word with a number behind it."""
_OF_A_FILE = re.compile(r"\S*\d+[:→|-]")


@Memo  # since a conversation is read again at each step
def reports_failure(text: str) -> bool:
    """Whether an output ends with an error, or begins with a report of failure.

    At either end an exit code that is not 0 reports it too. A longer output begins with a report
    only if it is a JSON object. So does what stands within one element or fence, and what an
    element holds that is named for an error.
    """
    text = as_shown(text)
    return any(map(_reports, {text, unwrapped(text)})) or _holds_error(text)


@Memo  # as above
def refuses(answer: tuple[str, str]) -> bool:
    """Whether the output of an act, behind the name of the act, reports a failure.

    That what was asked for is done, such as ``blocked`` of ``block_card``, is none, and that it is
    not done is one.
    """
    name, text = answer
    fails = reports_failure(text)
    if not fails and len(text) > _BRIEF:
        return False
    asked = words_of_name(name)
    stems = set(map(stem, asked))
    done = {word for word in words(text) if word.endswith("ed") and stem(word) in stems}
    done.difference_update(asked)  # of ``list_failed_jobs`` nothing is to fail
    if not done or not fails:
        said = "".join(text.lower().split()).replace("'", '"')
        own = [each for each in done if stem(each) == stem(asked[0])]  # of a question it is content
        return fails or any(f"not{each}" in said or f'"{each}":false' in said for each in own)
    kept = re.sub(r"[^\W_]+", lambda word: "done" if word[0].lower() in done else word[0], text)
    return reports_failure(kept)


def exits(text: str) -> bool | None:
    """Whether an exit code at either end of an output tells a failure; None if there is none."""
    said = text.rstrip()
    first = said.partition("\n")[0]  # which may begin with the command
    ends = (said[:_EARLY], first[-_EARLY:], said[-_EARLY:])
    codes = [int(found[1] or found[2]) for end in ends for found in _EXIT.finditer(end)]
    return any(codes) if codes else None


def _reports(text: str) -> bool:
    ended, is_object = exits(text), text.lstrip()[:1] == "{"
    if ended or _ends_with_error(text.rstrip()) or _is_raised(text.rstrip()):
        return True
    # what succeeded may begin with a word of failure, as what a check has found and mended
    may_begin_so = is_object or (ended is None and len(text) <= _BRIEF)
    return may_begin_so and _begins_with_failure(text)


def _holds_error(text: str) -> bool:
    """Whether an element is named for an error, within those that stand alone."""
    fields = elements(text)
    while len(fields) == 1 and alarm(" ".join(words_of_name(fields[0][0]))) < FAILURE:
        fields = elements(fields[0][1])
    return bool(fields) and _denies(dict(fields))


def _is_raised(text: str) -> bool:
    """Whether the last line names what was raised, below a line of failure and indented ones."""
    rest, _, last = text.rpartition("\n")
    module, _, name = last.partition(":")[0].rpartition(".")
    is_word = not module and name in (name.capitalize(), name.upper())  # as Done below a log
    if is_word or not (name.isidentifier() and name[0].isupper()):  # as mostly, which is soon known
        return False
    above = rest.split("\n")[::-1]
    details = sum(1 for _ in takewhile(lambda line: line[:1].isspace(), above))
    return bool(details) and any(alarm(line) >= FAILURE for line in above[details : details + 1])


def _ends_with_error(text: str) -> bool:
    """Whether the last line that is not indented tells an error, or one behind indented lines."""
    start = max(0, len(text) - _DETAILS)
    *others, last = [line.start() for line in _LINE.finditer(text, start)] or [0]
    # what led to the error is indented, and more of its message may follow
    raised = [
        at for at in others if text[text.rfind("\n", 0, max(0, at - 1)) + 1 : at][:1].isspace()
    ]
    return any(
        _ERROR.match(text, at, at + _BRIEF) and alarm(text[at : at + _BRIEF]) >= TROUBLE
        for at in (last, *raised[-1:])
    )


def _begins_with_failure(text: str) -> bool:
    """Whether an output begins with a report of failure.

    A line of a file is no report. Of JSON it is what an object says of its success: the other
    fields, and records, are content.
    """
    if text.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError):
            found = parse(text)
            return len(found) == 1 and isinstance(found[0], dict) and _denies(found[0])
        if len(text) > _BRIEF:
            return False
    first = text.lstrip().partition("\n")[0]
    ends = (first, first.rpartition(": ")[2])  # a report names things before ": "
    return not _OF_A_FILE.match(first) and any(_tells_failure(end[:_EARLY]) for end in ends)


def _tells_failure(line: str) -> bool:
    """Whether a line tells trouble; a word such as ``missing`` before a number may be a column."""
    trouble = alarm(line)
    return trouble >= FAILURE or min(trouble, alarm(_COUNTED.sub("", line))) >= TROUBLE


def _denies(reply: Mapping[str, Value]) -> bool:
    """Whether a reply says that the act did not succeed.

    A flag of its success is false; or a field tells trouble that is named for an error, such as
    ``errorMessage``, or without a flag for a status or a message. Beside a code of success, such as
    0, a message tells no error. A long list under such a name is content, and so is one beside a
    list of what succeeded.
    """
    flags = [said for name, said in reply.items() if name.lower() in _SUCCESS]
    told = {name: key for name in reply if (key := _error_told_by(name, is_alone=not flags))}
    fine = {key for name, key in told.items() if _is_success(reply[name])}
    others = [said for name, said in reply.items() if said and name not in told]
    done = any(isinstance(said, list) for said in others)

    def tells_trouble(name: str, key: str) -> bool:
        said = reply[name]
        if not said or (key in fine and name.lower() != key) or (done and isinstance(said, list)):
            return False
        # one word beside other fields, such as blocked, is the state of what they tell of
        is_state = others and isinstance(said, str) and said.isalpha() and not alarm(key)
        return _tells(key, said, FAILURE if is_state else TROUBLE)

    return False in flags or any(map(tells_trouble, told, told.values()))


def _error_told_by(name: str, *, is_alone: bool) -> str:
    """What a field is named for: an error, or without a flag a status; else nothing."""
    spoken = words_of_name(name)
    others = [word for word in spoken if word not in _REPORT]
    if not others:
        return " ".join(spoken) if is_alone else ""
    if all(alarm(word) >= FAILURE for word in others):
        return " ".join(others)
    return name if alarm(f'"{name}"') >= FAILURE else ""


def _tells(key: str, said: Value, least: float) -> bool:
    """Whether a field tells failure: a long text that is not named for an error as any output."""
    report = dump({key: _spelled(said)})
    if len(report) <= _BRIEF or (isinstance(said, str) and alarm(key) >= FAILURE):
        return alarm(report) >= least
    return isinstance(said, str) and _reports(said)


def _is_success(said: Value) -> bool:
    """Whether a code says that nothing went wrong: zeros, false or a word of success."""
    return said not in (None, "") and str(said).strip("0").lower() in {"", "false", *_SUCCESS}


def _spelled(said: Value) -> Value:
    """A constant such as ``PERMISSION_DENIED`` in words, and anything else as it is."""
    return said.replace("_", " ") if isinstance(said, str) and said.isupper() else said
