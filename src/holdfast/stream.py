"""A conversation as events, in any format: words, acts, outcomes, material, earlier notes.

Material is logs, code and files in a message of a user. If it is unclear, a passage counts as
words: words are never shortened while anything else can be.

Acts are tool calls, or commands that an agent writes as text because it has none: a fenced block,
an element with tags, a labelled line, a JSON object; the output comes back in a user message. Such
acts are found without a vendor's syntax: whatever the syntax, the agent repeats it; and outputs
begin alike or do not read as words, unlike a person's messages.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from os.path import commonprefix
from sys import maxunicode
from typing import Literal, NamedTuple

from holdfast.kernel.messages import Media, Message, Part, Text, ToolCall, ToolResult
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.memo import Memo
from holdfast.text.words import DIGITS, AnyScript

UNCLEAR = "reply"
"""The speaker of words that a person or a program may have written in answer to an act.

They are not shortened, like a person's words, and are no instruction, like an output.
"""

BESIDE = -1
"""The position of what stands beside the messages: no message has it."""

# characters; a longer outcome says more than that it failed. Half and double kept as much of
# recorded runs
_BRIEF = 400
_OF_A_FILE = re.compile(r"\S*\d+[:→|-]")

Function = Literal["instruction", "words", "act", "outcome", "material", "notes"]


class StreamEvent(NamedTuple):
    """One thing that was said, done or returned.

    ``message`` is the index of its message and ``part`` that of its part. ``by`` is who said it
    (``user``, ``assistant``, ``system``), or the name of the tool. ``act`` is the index of the act
    among the events that an outcome or an unclear reply follows, -1 if it is not known.
    ``failed``: the outcome reports that the act did not succeed. ``opening`` counts the characters
    at the start of its text that all outcomes of the conversation begin with, as in
    ``Observation: ``; they say nothing.
    """

    function: Function
    by: str
    text: str
    message: int
    part: int
    act: int = -1
    failed: bool = False
    opening: int = 0

    @property
    def content(self) -> str:
        """The text without what all outcomes begin with."""
        return self.text[self.opening :]

    @property
    def is_users_words(self) -> bool:
        """Whether these are a user's own words."""
        return self.by == "user" and self.function == "words"


def events_of(
    messages: Sequence[Message], notes: Mapping[int, str], envelope: Sequence[Part] = ()
) -> list[StreamEvent]:
    """The events of these messages in order; ``notes`` has the bodies of earlier notes by index.

    Acts written as text are recognised by their regularity over all messages. A system prompt in
    the ``envelope`` comes first, as where it is a message.
    """
    protocol = protocol_of(messages)
    elsewhere = protocol._replace(is_bare=False)  # an output without an opening follows its act
    system = [part.text for part in envelope if isinstance(part, Text)]
    found = [StreamEvent("instruction", "system", text, BESIDE, 0) for text in system]
    calls: dict[str, int] = {}
    last_act = -1
    for at, message in enumerate(messages):
        if at in notes:
            found.append(StreamEvent("notes", message.role, notes[at], at, 0))
            continue
        known = protocol if last_act == len(found) - 1 >= 0 else elsewhere
        for event in _of_message(message, at, known, calls, last_act):
            if event.function == "act":
                last_act = len(found)
                if isinstance(part := message.parts[event.part], ToolCall):
                    calls[part.id] = last_act
            found.append(event)
    return found


def _of_message(
    message: Message, at: int, protocol: Protocol, calls: Mapping[str, int], last_act: int
) -> Iterator[StreamEvent]:
    for number, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            yield StreamEvent("act", part.name, part.arguments, at, number)
        elif isinstance(part, ToolResult):
            act = calls.get(part.call_id, -1)
            failed = part.is_error or _reports_failure(part.text)
            yield StreamEvent("outcome", "tool", _shown(part), at, number, act, failed)
        elif isinstance(part, Media):
            yield StreamEvent("material", message.role, f"[{part.kind}]", at, number)
        elif isinstance(part, Text) and part.text:
            yield from _of_text(part.text, message, at, number, protocol, last_act)


def _of_text(
    text: str, message: Message, at: int, number: int, protocol: Protocol, last_act: int
) -> Iterator[StreamEvent]:
    role = message.role
    may_be_outcome = last_act >= 0 or not protocol.syntaxes  # before the first act, it is the task
    if role == "system":
        yield StreamEvent("instruction", role, text, at, number)
    elif role == "tool" or (role == "user" and protocol.is_outcome(text) and may_be_outcome):
        failed = _reports_failure(protocol.returned(text))
        opening = protocol.opening(text)
        yield StreamEvent("outcome", "tool", text, at, number, last_act, failed, opening)
    elif role == "assistant":
        words, act = protocol.parted(text)
        for is_material, passage in passages_of(words) if words else ():
            yield StreamEvent("material" if is_material else "words", role, passage, at, number)
        if act:
            yield StreamEvent("act", "", act, at, number)
    else:
        is_unclear = last_act >= 0 and protocol.is_unclear(text)
        by, answered = (UNCLEAR, last_act) if is_unclear else (role, -1)
        opening = protocol.opening(text) if is_unclear else 0
        for is_material, passage in passages_of(text):
            function: Function = "material" if is_material else "words"
            yield StreamEvent(function, by, passage, at, number, answered, opening=opening)
            opening = 0


def _reports_failure(text: str) -> bool:
    """Whether a short outcome begins with a report of failure, not with a line of a file."""
    first = text.lstrip()[:_BRIEF].partition("\n")[0]
    return len(text) <= _BRIEF and not _OF_A_FILE.match(first) and alarm(first) >= TROUBLE


def _shown(result: ToolResult) -> str:
    media = " ".join(f"[{medium.kind}]" for medium in result.media)
    return f"{result.text} {media}".strip() if media else result.text


# words and material

_FENCES = ("```", "~~~")
# characters that lines of a log have in common at their start; half kept as much of recorded runs
_LOG_OPENING = 12
_ENDS = tuple(".!?:,。！？：")
_TYPED = 800  # characters; few people type more. Half and double kept as much of recorded runs
_SAYING = 5  # words; fewer say little beside what they open with. Half and double kept as much
# lines in a row that are not sentences; fewer may be a list, an address, a poem. In recorded runs
# half and double kept less
_RUN = 6


def _passages(text: str) -> Iterator[tuple[bool, str]]:
    held: list[str] = []
    kind = False
    for is_material, line in _lines(text):
        if held and is_material != kind:
            yield kind, "\n".join(held)
            held = []
        kind = is_material
        held.append(line)
    if held:
        yield kind, "\n".join(held)


passages_of: Memo[str, Sequence[tuple[bool, str]]] = Memo(lambda text: tuple(_passages(text)))
"""The passages of a text in order, and whether each is material.

Cached, since a growing conversation is read at each call.
"""


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is in a fence, a quotation or a long run that no person types.

    Many lines that all begin with the same characters and a number, as in a log, are such a run.
    """
    lines = text.split("\n")
    marks = [False] * len(lines)
    fenced = False
    unworded: list[int] = []
    alike: list[int] = []
    before = ""
    for number, line in enumerate(lines):
        bare = line.lstrip()
        opens = bare.startswith(_FENCES)
        if fenced or opens:
            marks[number] = True
            fenced = fenced != opens
            continue
        if bare.startswith(">"):
            marks[number] = True
        elif bare:
            opens_as = without_numbers(bare, _LOG_OPENING)
            if reads_as_words(line):
                unworded.clear()
            else:
                unworded.append(number)
            if opens_as != before or "0" not in opens_as:
                alike.clear()
            alike.append(number)
            before = opens_as
            for run in (unworded, alike):
                for each in run if len(run) == _RUN else run[-1:] if len(run) > _RUN else ():
                    marks[each] = True
    return zip(marks, lines, strict=True)


def without_numbers(text: str, most: int) -> str:
    """The first characters of a text, each number as 0."""
    return DIGITS.sub("0", text.lstrip()[:most])


def is_all_words(text: str) -> bool:
    """Whether each line reads as words."""
    return all(reads_as_words(line) for line in text.split("\n") if line)


def has_unworded_ends(text: str) -> bool:
    """Whether neither the first nor the last line reads as words; a person says what is pasted."""
    lines = text.strip().split("\n")
    return not reads_as_words(lines[0]) and not reads_as_words(lines[-1])


def is_pasted(text: str) -> bool:
    """Whether a text has material, and no sentence before or after it that a person would type."""
    lines = text.strip().split("\n")
    has_material = any(is_material for is_material, _ in passages_of(text))
    return has_material and not _is_sentence(lines[0]) and not _is_sentence(lines[-1])


def _is_unworded(text: str) -> bool:
    """Whether hardly a person typed a text: it begins and ends with no words, or is pasted."""
    return has_unworded_ends(text) or is_pasted(text)


def may_be_typed(text: str) -> bool:
    """Whether a person may have typed a text: some words, or anything and a last sentence."""
    is_of_typed_length = len(text) <= _TYPED and len(text.split()) >= _SAYING
    last = text.strip().rpartition("\n")[2]
    return is_of_typed_length and (is_all_words(text) or _is_sentence(last))


def _is_sentence(line: str) -> bool:
    ends = line.rstrip().endswith(_ENDS)
    return ends and line[0].isalpha() and len(line.split()) > 1 and reads_as_words(line)


_SPOKEN = AnyScript(  # the ranges are nearly [^\W\d_], in half the time
    lambda beyond: rf"\s[A-Za-z{beyond}]{{2,}}+(?:['’][a-z]+)?[,.!?;:]?(?!\S)",
    r"À-ÖØ-öø-\u1fff\u3040-\ud7ff",
)
# share of words in a line from which it reads as a sentence; in recorded runs .3 and .8 kept less
_SENTENCE = 0.6


@cache
def _unspaced() -> re.Pattern[str]:
    """Chinese and Japanese with their punctuation, which have no spaces between words."""
    return re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\uffef]+")


def reads_as_words(line: str) -> bool:
    """Whether most tokens of the line are plain words; of unspaced script, two characters are one.

    So many have most words of Chinese and Japanese.
    """
    unspaced = 0
    if not line.isascii():
        unspaced = sum((len(run) + 1) // 2 for run in _unspaced().findall(line))
        line = _unspaced().sub(" ", line)
    spoken, tokens = len(_SPOKEN.findall(f" {line}")), len(line.split())
    return spoken + unspaced >= _SENTENCE * (tokens + unspaced)


# acts and outputs that are written as text

# times that a regularity must appear, and in half of the messages that could show it; in recorded
# runs 1 and 6 kept less
_FEWEST = 3
# least share of outputs of several lines if there is no common opening; half and double kept as
# much of recorded runs, as they did of the next two
_BARE = 0.25
_LINES = 2  # line breaks; people answer in fewer, except in sentences
_OPENING = 60  # characters at the start of outputs that are compared
# characters; a shorter opening needs a closed sign where no acts are known. In recorded runs half
# and double kept less
_LONG = 12
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_CLOSING = re.compile(r"</([A-Za-z][\w.-]*)>\Z")
_COMMAND = re.compile(r"[$%&!/@=>]+ ?(?=[^\W\d])")
_DECORATION = r"(?:[^\w\s\x00-\x7f]+\s{0,3}|\*\*|)"  # a picture, or bold type
_LABEL = re.compile(
    rf"^(?:({_DECORATION})[^\W\d_][\w ]{{0,24}}(?:/\d+)?(?:\*\*:|:)"
    rf"|[^\W\d]\w*(?=\()|{_COMMAND.pattern})",
    re.MULTILINE,
)
"""How a line with an act begins: a label, the name of a function, or the mark of a command."""
# share of acts that are commands alone, to which hardly a person answers; half kept as much
_NEARLY_ALL = 0.9
_LONGEST_NAME = 64  # characters of a closing tag; half and double found the same ones
_CLOSED = re.compile(r"\[+[^\]]+\]|<[^>]+>|\{[^:]+:")
_SIGN = re.compile(r"[][<>(){}=\\|$%`:;_]")
"""What a program puts into the opening of its outputs, and few people into theirs: they mention
somebody with @, and begin a command with / or a list with a sign.
"""

_SIGNED = re.compile(r".*[]:>)}](?:\s+|\Z)", re.DOTALL)
"""An opening up to its last sign, without words of the content that several outputs begin with."""

Syntax = str
"""How an act is written: ``fence``, ``element``, ``object``, ``call``, ``command``, or the start of
a line.
"""

_BARE_COMMAND: Syntax = "command"
_FEWEST_COMMANDS = 4  # without any mark, three may be chance
_ANSWERED = ("assistant", "user")


class Protocol(NamedTuple):
    """The regular forms in a conversation: how acts are written, and how outcomes begin."""

    syntaxes: frozenset[Syntax]
    openings: tuple[str, ...]
    unclear: tuple[str, ...] = ()
    """Openings of a program's form before what a person may have typed, as in ``Question 3:``."""
    is_bare: bool = False
    """Whether outputs have no common opening, so that what answers an act may be one."""

    def is_outcome(self, text: str) -> bool:
        """Whether a user message is an output."""
        if _BARE_COMMAND in self.syntaxes:
            return not may_be_typed(text)
        return without_numbers(text, _OPENING).startswith(self.openings) or (
            self.is_bare and _is_unworded(text)
        )

    def is_unclear(self, text: str) -> bool:
        """Whether a user message that answers an act may be an output or a person's."""
        return self.is_bare or without_numbers(text, _OPENING).startswith(self.unclear)

    def may_be_returned(self, text: str) -> bool:
        """Whether a user message is an output, or may be one."""
        return self.is_outcome(text) or self.is_unclear(text)

    def returned(self, text: str) -> str:
        """An output without its first line, if that is only an opening."""
        first, _, rest = text.lstrip().partition("\n")
        start = without_numbers(first, _OPENING)
        return rest if any(opening.startswith(start) for opening in self.openings) else text

    def opening(self, text: str) -> int:
        """The characters of the opening that all outputs have in common, 0 if there is none.

        It ends with a sign: what outputs have in common behind it is content, and so is a number
        with the label before it, as in ``Exit code: 1``.
        """
        openings = (*self.openings, *self.unclear)
        if not self.syntaxes or len(openings) != 1:
            return 0
        before_number = DIGITS.split(openings[0], maxsplit=1)[0]
        signed = _SIGNED.match(before_number)
        has_number = before_number != openings[0]
        bare = text.lstrip()
        if signed is None or not bare.startswith(signed[0]):
            return 0
        if has_number and signed[0] == before_number:
            return 0
        return len(text) - len(bare) + signed.end()

    def parted(self, text: str) -> tuple[str, str]:
        """Split a message into the agent's words and the act at its end, which may be empty."""
        if _BARE_COMMAND in self.syntaxes:
            return ("", text.strip()) if _may_be_command(text) else (text, "")
        syntax, start = ending(text)
        if syntax not in self.syntaxes:
            return text, ""
        return text[:start].rstrip(), text[start:].strip()


NATIVE = Protocol(frozenset(), ())
"""A conversation without acts as text."""


def protocol_of(messages: Sequence[Message]) -> Protocol:
    """The regular forms in these messages; an agent with tool calls writes no acts as text."""
    if any(isinstance(part, ToolCall) for message in messages for part in message.parts):
        return NATIVE
    said = [
        (message.role, part.text)
        for message in messages
        if message.role in ("user", "assistant")
        for part in message.parts
        if isinstance(part, Text) and part.text
    ]
    ends = Counter(ending(text)[0] for role, text in said if role == "assistant")
    if ends.total() < _FEWEST:
        return NATIVE
    repeated = frozenset(syntax for syntax, times in ends.items() if syntax and times >= _FEWEST)
    is_regular = sum(ends[syntax] for syntax in repeated) >= max(_FEWEST, ends.total() / 2)
    if not is_regular and _are_commands(said):
        return Protocol(frozenset((_BARE_COMMAND,)), (), is_bare=True)
    return _with_answers(said, repeated if is_regular else frozenset())


def _are_commands(said: Sequence[tuple[str, str]]) -> bool:
    """Whether the agent says nothing but commands without any mark, as at a shell or in a game.

    Hardly a message of it is a sentence, and most begin with a word that others begin with and go
    on differently. Most answers are none that a person would type, and some do not read as words.
    """
    acts = [text.strip() for role, text in said if role == "assistant"]
    answers = [text for (role, _), (by, text) in pairwise(said) if (role, by) == _ANSWERED]
    verbs = Counter(act.partition(" ")[0] for act in acts)
    repeated = {act for act in acts if verbs[act.partition(" ")[0]] > 1 and " " in act}
    return (
        len(acts) >= _FEWEST_COMMANDS
        and sum(map(_may_be_command, acts)) >= _NEARLY_ALL * len(acts)
        and 2 * sum(act in repeated for act in acts) >= len(acts)
        and len(repeated) >= _FEWEST
        and 2 * sum(map(may_be_typed, answers)) <= len(answers)
        and sum(map(_is_unworded, answers)) >= _BARE * len(answers)
    )


def _may_be_command(text: str) -> bool:
    """Whether a text has one paragraph that does not end like a sentence."""
    bare = text.strip()
    return bool(bare) and "\n\n" not in bare and not bare.endswith(_ENDS)


def _with_answers(said: Sequence[tuple[str, str]], syntaxes: frozenset[Syntax]) -> Protocol:
    """The protocol with these acts, and what the user messages after them have in common.

    What ends in one of these forms and only people answer, as ``Final answer:``, is no act.
    """
    exchanges = [
        (text, answer)
        for (role, text), (next_role, answer) in pairwise(said)
        if role == "assistant" and next_role == "user"
        if not syntaxes or ending(text)[0] in syntaxes
    ]
    answers = [answer for _, answer in exchanges]
    openings, unclear = _openings(answers, have_acts=bool(syntaxes))
    others = [text for text in answers if not without_numbers(text, _OPENING).startswith(openings)]
    untyped = [text for text in others if text.count("\n") >= _LINES and has_unworded_ends(text)]
    is_bare = bool(syntaxes) and (
        len(untyped) >= max(_FEWEST, _BARE * len(answers))
        or sum(_is_command(act) for act, _ in exchanges) >= _NEARLY_ALL * len(exchanges)
    )
    protocol = Protocol(syntaxes, openings, unclear, is_bare)
    if not syntaxes:
        return protocol
    returned = {ending(act)[0] for act, text in exchanges if protocol.may_be_returned(text)}
    only_said = {ending(act)[0] for act, _ in exchanges} - returned
    return protocol._replace(syntaxes=syntaxes - only_said) if returned else protocol


def _is_command(text: str) -> bool:
    """Whether a message is a command on a line, and nothing else."""
    return "\n" not in text.strip() and _COMMAND.match(text) is not None


def _openings(
    answers: Sequence[str], *, have_acts: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The openings that several answers have in common, of programs and of either.

    Such answers are neighbours when they are sorted. A group that people may have typed is theirs,
    unless acts are known and its opening has a program's sign: then it is unclear.
    """
    texts = sorted((without_numbers(text, _OPENING), text) for text in answers)
    starts = [start for start, _ in texts]
    pairs = zip(starts, starts[_FEWEST - 1 :], strict=False)
    programs: list[str] = []
    unclear: list[str] = []
    seen = ""
    for opening in sorted({commonprefix(pair) for pair in pairs}):  # noqa: RUF071
        if seen and opening.startswith(seen):
            continue
        end = bisect_right(starts, opening + chr(maxunicode))
        group = [text for _, text in texts[bisect_left(starts, opening) : end]]
        has_sign = have_acts and (_SIGN.search(opening) is not None or _has_picture(opening))
        is_a_line = have_acts and "\n" in opening and 2 * len(group) >= len(texts)
        if not (has_sign or is_a_line if have_acts else _is_of_programs(opening)):
            continue
        seen = opening
        is_typed = may_be_typed if has_sign else is_all_words
        if 2 * sum(map(is_typed, group)) <= len(group):
            programs.append(opening)
        elif has_sign:
            unclear.append(opening)
    return tuple(programs), tuple(unclear)


def _has_picture(opening: str) -> bool:
    """Whether a long opening begins with a symbol that no keyboard has, such as an emoji."""
    symbol = opening[:1]
    return len(opening) >= _LONG and not symbol.isascii() and not symbol.isalnum()


def _is_of_programs(opening: str) -> bool:
    is_long = len(opening) >= _LONG and not opening[0].isalpha()
    return is_long or _CLOSED.match(opening) is not None


def ending(text: str) -> tuple[Syntax, int]:
    """The syntax of the act at the end of a text and its start; empty if there is none."""
    stripped = text.rstrip()
    if stripped.endswith(_FENCES):
        fences = [found.start() for found in _FENCE.finditer(stripped)]
        opened = fences[-2] if len(fences) > 1 else stripped.rfind(stripped[-3:], 0, -3)
        return ("fence", opened) if opened >= 0 else ("", len(text))
    closing = _CLOSING.search(stripped[-_LONGEST_NAME:])
    if closing:
        start = stripped.rfind(f"<{closing[1]}")
        return ("element", start) if start >= 0 else ("", len(text))
    if stripped.endswith("}"):
        opened = 0 if stripped.startswith("{") else stripped.find("\n{") + 1
        if opened or stripped.startswith("{"):
            return "object", opened
    paragraph = stripped.rfind("\n\n") + 2 if "\n\n" in stripped else 0
    labels = list(_LABEL.finditer(stripped, paragraph))
    if labels:
        label = labels[-1].group()
        is_call = label.isidentifier() and stripped.endswith(")")
        return "call" if is_call else _uncounted(label), _after_sentences(stripped, labels)
    return "", len(text)


def _uncounted(label: str) -> str:
    """The label of each of several acts in a message, ``Action 2/5:``, as that of all."""
    return DIGITS.sub("0", label) if "/" in label else label


def _after_sentences(text: str, labels: Sequence[re.Match[str]]) -> int:
    """Where the act starts: at its first label, or at the first behind labelled sentences.

    Agents write thoughts before an act as they write the act, ``Thought: I should look there.``
    """
    for label, following in pairwise(labels):
        said = text[label.start() : following.start()].strip()
        if not _is_sentence(said.removeprefix(label[1] or "")):
            return label.start()
    return labels[-1].start()


def unfenced(act: str) -> str:
    """The act without the fence around it."""
    lines = act.split("\n")
    is_fenced = len(lines) > 2 and lines[0].startswith(_FENCES) and lines[-1] in _FENCES
    return "\n".join(lines[1:-1]) if is_fenced else act
