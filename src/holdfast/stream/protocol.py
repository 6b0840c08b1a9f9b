"""Acts and outputs that are written as text, by an agent that has no tool calls.

An act is a fenced block, an element with tags, a labelled line, a JSON object or a bare command;
the output comes back in a user message. They are found without a vendor's syntax: the agent
repeats its own, and outputs begin alike or do not read as words, unlike a person's messages.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from os.path import commonprefix
from sys import maxunicode
from typing import NamedTuple

from holdfast.kernel.messages import Messages, Text, ToolCall
from holdfast.text.failures import exits, reports_failure
from holdfast.text.importance import FAILURE, alarm
from holdfast.text.memo import Memo
from holdfast.text.words import (
    DIGITS,
    FENCES,
    ends_like_sentence,
    fences,
    has_unworded_ends,
    is_all_words,
    is_heading,
    is_sentence,
    is_worded_line,
    masked,
    may_be_said,
    may_be_typed,
    reads_as_words,
    unwrapped,
    wraps_words,
)

from .commands import BARE, FEWEST_COMMANDS, are_commands, are_returned, tell_acts
from .frames import (
    FEWEST,
    LONG,
    NEARLY_ALL,
    OPENING,
    PICTURE,
    SIGN,
    UNNAMED,
    CalledName,
    Edges,
    beside_results,
    closings_of,
    edges_of,
    frames_words,
    named_in,
    reminders_of,
    text_above,
)
from .scratchpad import Scratchpad, scratchpad_of

_LINES = 2  # line breaks; people answer in fewer, except in sentences
_CLOSING = re.compile(r"</([A-Za-z][\w.-]*)>\Z")
_COMMAND = re.compile(r"[$%&!/@=>]+ ?(?=[^\W\d])")
_LABEL = re.compile(
    rf"^(?:(?:{PICTURE}+\s{{0,3}}|\*\*|)[^\W\d_][\w ]{{0,24}}(?:/\d+)?(?:\*\*:|[:：]|[ -]?>| ?=)"
    rf"|[^\W\d][\w.]*(?=\()|{_COMMAND.pattern}|(?:{PICTURE}+ |`)(?=[^\W\d])"
    rf"|(?:{PICTURE}|[\[(<{{|#:])+[^\W\d]\w*|#+ \w+$)",
    re.MULTILINE,
)
"""How a line with an act begins: a label, the name of a function, the mark of a command, a picture,
a name behind signs, or a heading.
"""
_LONGEST_NAME = 64  # characters of a closing tag; half and double found the same ones
_CLOSED = re.compile(rf"\[+[^\]]+\]|<[^>]+>|\{{[^:]+:|(?![^\W\d_])(?s:.){{{LONG}}}")
"""The opening of a program's text where no acts are known; a long one need not be closed."""
_PICTURED = re.compile(PICTURE)
_OBJECT = re.compile(r"[{\[]")
_OBJECT_LINE = re.compile(r"^[\[ ]*\{", re.MULTILINE)
_SIGNS_BEFORE = re.compile(r"\A\W+")
_SIGNED = re.compile(r".*(?:[]:>)}](?:\s+|\Z)|[：】])", re.DOTALL)
"""An opening up to its last sign, without words of the content that several outputs begin with."""
# the texts of a conversation, each with the role of its speaker
Said = Sequence[tuple[str, str]]
Syntax = str
"""How an act is written: ``fence``, ``element``, ``object``, ``call``, ``command``, or the start of
a line.
"""

_BARE_COMMAND: Syntax = "command"
_BLOCK: Syntax = "block"
"""A fence with words behind it, as in most answers about code: an act only if programs answer."""


class Protocol(NamedTuple):
    """The regular forms in a conversation: how acts are written, and how outcomes begin."""

    syntaxes: frozenset[Syntax]
    openings: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()
    """How outcomes end, backwards, as with the prompt of a shell."""
    unclear: tuple[str, ...] = ()
    """Openings of a program's form before what a person may have typed, as in ``Question 3:``."""
    is_bare: bool = False
    """Whether most outputs have none of these, so that any answer to an act may be one."""
    answers_act: bool = True
    """Whether a text is judged as the answer to an act."""
    headings: frozenset[str] = frozenset()
    """The last words of first lines that end with a colon, as in ``open part1.txt returned:``."""
    edges: Edges = Edges()
    frame: str = ""
    """The line with which a program begins what it adds to all user messages, such as its state."""
    reminders: tuple[str, ...] = ()
    """The sentences that a program writes below all outputs, from the last one up."""
    repeated: frozenset[str] = frozenset()
    """Texts that a program repeats beside tool results, with their numbers as 0."""
    named: CalledName = UNNAMED
    """What outputs have around the name of what was called."""
    scratchpad: Scratchpad | None = None
    """The labels of acts and outcomes, if the agent's messages have both."""

    def unframed(self, text: str, number: int) -> tuple[str, str]:
        """A numbered part of a user message, and what a program adds below it.

        That is its state, below all messages, and reminders, below outputs.
        """
        lines = text.split("\n") if self.frame else []
        found = [at for at, line in enumerate(lines) if masked(line) == self.frame]
        start = next((at for at in found if at or number), -1)
        if start >= 0:
            return "\n".join(lines[:start]).rstrip(), "\n".join(lines[start:])
        above = text_above(self.reminders, text) if self.answers_act and self.reminders else text
        return above, text[len(above) :].strip("\n")

    def is_outcome(self, text: str) -> bool:
        """Whether a user message is an output."""
        has_form = (
            self._start(text).startswith(self.openings)
            or _masked_end(text).startswith(self.closings)
            or (bool(self.repeated) and masked(text) in self.repeated)
        )
        if _BARE_COMMAND in self.syntaxes:
            return has_form or (self.answers_act and not may_be_typed(text))
        has_own = bool(self.openings or self.closings)
        are_known = self.is_bare or (has_own and not _may_be_order(text))
        is_programs = self.answers_act and are_known and has_unworded_ends(text)
        return has_form or bool(is_programs and not wraps_words(text))

    def is_unclear(self, text: str) -> bool:
        """Whether a user message that answers an act may be an output or a person's.

        Behind a line that heads an error, outputs seldom have the form of others; behind one that
        ends as others do, they may have another beginning. An element with words may hold either.
        """
        heading = _heading(text)
        heads_error = self.openings and heading and reports_failure(heading)
        ends_alike = heading.rpartition(" ")[2] in self.headings and not may_be_said(text)
        may_be_output = self.is_bare or heads_error or ends_alike or wraps_words(text)
        is_unclear = self.answers_act and self.syntaxes and may_be_output
        return bool(is_unclear) or self._start(text).startswith(self.unclear)

    def _start(self, text: str) -> str:
        return _masked_start(self.named.left_out(text) if self.named.behind else text)

    def may_be_returned(self, text: str) -> bool:
        """Whether a user message is an output, or may be one."""
        return self.is_outcome(text) or self.is_unclear(text)

    def returned(self, text: str) -> str:
        """The output without a first line that only opens it, such as ``Observation:``.

        A line with a number may be an exit code, and a bracket is content.
        """
        first, _, rest = text.lstrip().partition("\n")
        start = self._start(first)
        is_opening = not DIGITS.search(first) and first.rstrip() not in {"{", "["}
        is_opening = is_opening and any(opening.startswith(start) for opening in self.openings)
        opens = rest and is_opening and len(start) < OPENING and unwrapped(text) == text
        return rest if opens else text

    def fails(self, text: str) -> bool:
        """Whether an output reports that the act failed, in it or in what a program adds to all."""
        if reports_failure(self.returned(text)):
            return True
        output, status = self.edges.parted(text)
        output = self.returned(output)
        if (heading := _heading(output)) and self._start(heading).startswith(self.openings):
            output = output.partition(heading)[2]
        return exits(text) is None and (alarm(status) >= FAILURE or reports_failure(output))

    def opening(self, text: str) -> int:
        """The characters of the opening that all outputs have in common, 0 if there is none.

        It ends with a sign: what outputs have in common behind it is content, as an object is, and
        so is a number with the label before it, as in ``Exit code: 1``.
        """
        start = self._start(text)
        openings = [each for each in (*self.openings, *self.unclear) if start.startswith(each)]
        if not self.syntaxes or not openings:
            return 0
        opening = _OBJECT.split(max(openings, key=len), maxsplit=1)[0]
        before_number = DIGITS.split(opening, maxsplit=1)[0]
        signed = _SIGNED.match(before_number)
        bare = self.named.left_out(text)
        if (
            signed is None
            or not bare.startswith(signed[0])
            or signed[0] == before_number != opening
        ):
            return 0
        return len(text) - len(bare) + signed.end()

    def parted(self, text: str) -> tuple[str, str, str]:
        """Split a message into the act and the words before and behind it; each may be empty."""
        if self.scratchpad:  # the outcome stands behind it
            return self.scratchpad.parted(text)
        if _BARE_COMMAND in self.syntaxes:
            said, command = _before_command(text)
            return (said, command, "") if _may_be_command(command) else (text, "", "")
        syntax, start, end = self.act_in(text)
        if not syntax:
            return text, "", ""
        return text[:start].rstrip(), text[start:end].strip(), text[end:].strip()

    def act_in(self, text: str) -> tuple[Syntax, int, int]:
        """The syntax of the act in a message, its start and its end; empty if there is none."""
        syntax, start = ending(text) if self.syntaxes else ("", 0)
        if syntax in self.syntaxes:
            return syntax, start, len(text)
        # the last fence with its text, which may stand between words
        marks = fences(text) if _BLOCK in self.syntaxes else []
        if len(marks) < 2:
            return "", 0, 0
        opened, closed = marks[len(marks) // 2 * 2 - 2 :][:2]
        return _BLOCK, opened, closed + len(text[closed:].partition("\n")[0])


NATIVE = Protocol(frozenset())
"""A conversation without acts as text."""


def protocol_of(messages: Messages) -> Protocol:
    """The regular forms in these messages.

    An agent with tool calls writes no acts as text, unless it has changed from one to the other.
    What its user messages have beside results may be a program's too, as reminders are.
    """
    spoken = [
        (message.role, number, part.text)
        for message in messages
        if message.role in ("user", "assistant")
        for number, part in enumerate(message.parts)
        if isinstance(part, Text) and part.text
    ]
    said = [(role, text) for role, _, text in spoken]
    calls = sum(isinstance(part, ToolCall) for message in messages for part in message.parts)
    if 2 * calls < len(said):
        users = [message.parts for message in messages if message.role == "user"]
        heard = [
            "\n".join(part.text for part in parts if isinstance(part, Text)) for parts in users
        ]
        bare = NATIVE._replace(frame=_frame([text for text in heard if text]))
        may_be_one = all(message.role != "tool" and not message.results for message in messages)
        may_be_one &= any(text.count("\n") >= _LINES for by, text in said if by == "assistant")
        if may_be_one and not calls and (scratchpad := scratchpad_of(said)):
            return bare._replace(scratchpad=scratchpad)
        bared = [
            (by, bare.unframed(text, number)[0] if by == "user" else text)
            for by, number, text in spoken
        ]
        written = _as_text([each for each in bared if each[1]])
        if written.syntaxes:
            written = written._replace(frame=bare.frame)
        acts = sum(bool(written.parted(text)[1]) for role, text in said if role == "assistant")
        if acts > calls or not calls:
            return written
    beside = beside_results(messages)
    rounds = sum(isinstance(each.parts[-1], ToolCall) for each in messages if each.parts)
    openings, _ = _openings(beside, said, have_acts=False)
    # a person writes behind few results
    unclear = _of_nearly_all(beside, said) if 2 * len(beside) > rounds else ()
    alike = Counter(map(masked, beside)).items()
    often = frozenset(text for text, times in alike if text and times >= max(FEWEST, rounds / 2))
    return NATIVE._replace(openings=openings, unclear=unclear, repeated=often, answers_act=False)


def _of_nearly_all(beside: Sequence[str], said: Said) -> tuple[str, ...]:
    """The long openings that nearly all texts beside results have, also those people may write."""
    starts = list(map(_masked_start, beside))
    return tuple(
        opening
        for opening in chain(*_openings(beside, said, have_acts=True))
        if len(opening) >= LONG
        and sum(start.startswith(opening) for start in starts) >= NEARLY_ALL * len(starts)
    )


def _frame(texts: Sequence[str]) -> str:
    """The first line that nearly all user messages, the first too, have below text that differs."""
    if len(texts) < FEWEST:
        return ""
    seen = [_lines_below(texts[0])]
    found: list[str] = [line for line in seen[0] if any(map(str.isalpha, line))]
    lacking, spare = Counter[str](), (1 - NEARLY_ALL) * len(texts)
    for text in texts[1:]:
        if not found:  # as nearly always, which is soon known
            break
        seen.append(_lines_below(text))
        lacking.update(line for line in found if line not in seen[-1])
        found = [line for line in found if lacking[line] <= spare]
    for line in found:
        above = Counter(lines[line] for lines in seen if line in lines)
        if max(above.values()) < NEARLY_ALL * len(texts):
            return line
    return ""


def _lines_below(text: str) -> dict[str, int]:
    """Each line below the first, with its numbers as 0, and a hash of all lines above it."""
    first, *lines = map(masked, text.split("\n"))
    found: dict[str, int] = {}
    above = hash(first)
    for line in lines:
        found.setdefault(line, above)
        above = hash((above, line))
    return found


def _as_text(said: Said) -> Protocol:
    """The regular forms of acts that are written as text, and of their outputs."""
    ends = Counter(ending(text)[0] for role, text in said if role == "assistant")
    if ends.total() < FEWEST:
        return NATIVE
    repeated = frozenset(syntax for syntax, times in ends.items() if syntax and times >= FEWEST)
    is_regular = sum(ends[syntax] for syntax in repeated) >= max(FEWEST, ends.total() / 2)
    if not is_regular and (commands := _of_commands(said)):
        return commands
    known = _with_answers(said, repeated if is_regular else frozenset())
    if known.openings and "fence" in known.syntaxes:  # words may stand behind others of them
        known = _with_answers(said, known.syntaxes | {_BLOCK})
    are_answered = known.openings or known.closings or known.is_bare
    return known if known.syntaxes and are_answered else _with_blocks(said) or known


def _may_be_order(text: str) -> bool:
    """Whether a text is one line with a word in it, such as ``use 42``, that reports no failure."""
    return is_worded_line(text) and not reports_failure(text)


def _heading(text: str) -> str:
    """The first line, if it ends with a colon and stands above others."""
    first, _, rest = text.lstrip().partition("\n")
    return first.rstrip() if rest and is_heading(first) else ""


def _masked_start(text: str) -> str:
    """What the openings of outputs are compared with."""
    return DIGITS.sub("0", text.lstrip()[:OPENING])


def _masked_end(text: str) -> str:
    """What the closings of outputs are compared with: the end of the text, backwards."""
    return DIGITS.sub("0", text.rstrip()[-OPENING:])[::-1]


def _of_commands(said: Said) -> Protocol | None:
    """The protocol of an agent that says hardly anything but commands, as at a shell or in a game.

    Half of its messages are enough if it talks to its user between them.
    """
    rests = [_before_command(text)[1] for role, text in said if role == "assistant"]
    acts = list(filter(_may_be_command, rests))
    talks = len(acts) < NEARLY_ALL * len(rests)
    if 2 * len(acts) < len(rests) or not are_commands(acts, talks=talks):
        return None
    exchanges = [
        (act, answer)
        for _, text, answer in _exchanges(said, frozenset())
        if _may_be_command(act := _before_command(text)[1])
    ]
    answers = [answer for _, answer in exchanges]
    openings, _ = _openings(answers, said, have_acts=True)
    if openings or are_returned([act for act, _ in exchanges], answers, talks=talks):
        return Protocol(frozenset((_BARE_COMMAND,)), openings, is_bare=True)
    return None


@Memo  # for the same reason as ``ending``
def _before_command(text: str) -> tuple[str, str]:
    """The sentences at the beginning of a message, as a thought before a command, and the rest."""
    thought, _, command = text.strip().rpartition("\n\n")
    if ends_like_sentence(thought):
        return thought, command
    lines = text.strip().split("\n")
    first = next((at for at, line in enumerate(lines) if line and not is_sentence(line)), 0)
    return "\n".join(lines[:first]).strip(), "\n".join(lines[first:])


def _may_be_command(text: str) -> bool:
    """Whether a text has one paragraph that does not end like a sentence."""
    bare = text.strip()
    is_one = bool(bare) and "\n\n" not in bare and not bare.startswith(FENCES)
    return is_one and not ends_like_sentence(bare)


def _with_answers(said: Said, syntaxes: frozenset[Syntax]) -> Protocol:
    """The protocol with these acts, and what the user messages after them have in common.

    A form that only people answer, such as ``Final answer:``, is no act. Reminders below all
    answers read as if people typed them, so that they are left out where programs answer.
    """
    exchanges = _exchanges(said, syntaxes)
    reminders = reminders_of([each[1:] for each in exchanges]) if syntaxes else ()
    if reminders:
        bare = [(syntax, act, text_above(reminders, text)) for syntax, act, text in exchanges]
        known = _with_exchanges(said, syntaxes, bare)
        if 2 * sum(known.is_outcome(text) for _, _, text in bare) > len(bare):
            return known._replace(reminders=reminders)
    return _with_exchanges(said, syntaxes, exchanges)


def _with_exchanges(
    said: Said, syntaxes: frozenset[Syntax], exchanges: Sequence[tuple[Syntax, str, str]]
) -> Protocol:
    """The protocol with these acts and answers."""
    answers = [answer for _, _, answer in exchanges]
    named = named_in([each[1:] for each in exchanges]) if syntaxes else UNNAMED
    openings, unclear = _openings(answers, said, named, have_acts=bool(syntaxes))
    protocol = Protocol(syntaxes, openings, unclear=unclear, named=named)
    if not syntaxes:
        return protocol
    protocol = protocol._replace(closings=closings_of(_by_common_edge(answers, _masked_end)))
    formless = protocol._replace(answers_act=False)
    headings = {_heading(text).rpartition(" ")[2] for text in answers if formless.is_outcome(text)}
    protocol = protocol._replace(headings=frozenset(headings - {""}))
    others = [text for text in answers if not formless.is_outcome(text)]
    bared = [*map(named.left_out, answers)] if named.behind else answers
    starts, ends = list(map(_masked_start, bared)), list(map(_masked_end, bared))
    shared = [sum(start.startswith(form) for start in starts) for form in openings]
    shared += [sum(end.startswith(form) for end in ends) for form in protocol.closings]
    # without the label with which each begins
    acts = [protocol.parted(text)[1].rpartition(syntax)[2] for syntax, text, _ in exchanges]
    commands = [
        text for _, text, _ in exchanges if "\n" not in text.strip() and _COMMAND.match(text)
    ]
    is_bare = (
        _are_untyped(others, BARE)
        # some that are of one kind begin alike, as the lines of a log do
        or (2 * max(shared, default=0) < len(answers) and _are_untyped(answers, 0.5))
        or len(commands) >= NEARLY_ALL * len(exchanges)
        or (not openings and len(acts) >= FEWEST_COMMANDS and tell_acts(acts, answers))
    )
    protocol = protocol._replace(is_bare=is_bare)
    if len(exchanges) < FEWEST:  # outputs come in another role
        return protocol
    returned = [each for each in exchanges if protocol.may_be_returned(each[2])]
    kept = frozenset(syntax for syntax, _, _ in returned)
    return protocol._replace(syntaxes=kept, edges=edges_of([each[1:] for each in returned]))


def _are_untyped(answers: Sequence[str], share: float) -> bool:
    """Whether this share of the answers has several lines that nobody typed."""
    found = [text for text in answers if text.count("\n") >= _LINES and has_unworded_ends(text)]
    return len(found) >= max(FEWEST, share * len(answers))


def _with_blocks(said: Said) -> Protocol | None:
    """The protocol with code between words as acts; None if people may answer it.

    Most answers begin alike, in a first line that does not read as words: ``exit code: 0 (done)``.
    """
    syntaxes = frozenset(("fence", _BLOCK))
    exchanges = _exchanges(said, syntaxes)
    if len(exchanges) < FEWEST:
        return None
    reminders = reminders_of([each[1:] for each in exchanges])
    answers = [text_above(reminders, answer) for _, _, answer in exchanges]
    openings, _ = _openings(answers, said, have_acts=True)
    protocol = Protocol(syntaxes, openings, answers_act=False, reminders=reminders)
    returned = [text for text in answers if protocol.is_outcome(text)]
    shared = commonprefix(returned)  # noqa: RUF071
    start = 0 if may_be_said(shared) else len(shared)
    behind = [text[max(start, protocol.opening(text)) :].lstrip() for text in returned]
    spoken = sum(reads_as_words(text.partition("\n")[0]) for text in behind)
    are_programs = 2 * len(returned) > len(answers) and 2 * spoken < len(returned)
    return protocol._replace(answers_act=True) if are_programs else None


def _exchanges(said: Said, syntaxes: frozenset[Syntax]) -> list[tuple[Syntax, str, str]]:
    """The syntax of each act, its message and the user's answer; all messages if none are known."""
    found = [
        (Protocol(syntaxes).act_in(text)[0], text, answer)
        for (role, text), (next_role, answer) in pairwise(said)
        if (role, next_role) == ("assistant", "user")
    ]
    return [each for each in found if each[0] or not syntaxes]


def _openings(
    answers: Sequence[str], said: Said, named: CalledName = UNNAMED, *, have_acts: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The openings that several answers share: those of programs, and those anybody may write.

    One with the name of what was called is a program's. One that a user's very first message has
    too stands before all that the user sends, such as a name or a time: it is a program's only
    before what nobody types.
    """
    programs: list[str] = []
    unclear: list[str] = []
    seen = ""
    answers = [*map(named.left_out, answers)] if named.behind else answers
    for opening, group in _by_common_edge(answers, _masked_start):
        if seen and opening.startswith(seen):
            continue
        share = len(group) / len(answers)
        is_common = len(opening) >= LONG and share >= NEARLY_ALL
        is_long = have_acts and (len(opening) == OPENING or is_common)
        has_form = _may_be_programs(opening, share, have_acts=have_acts)
        if not (has_form or is_long):
            continue
        seen = opening if has_form else seen  # else one with a sign may begin with it
        are_named = named.opening and opening.startswith(_masked_start(named.opening))
        may_be_persons = not are_named and _may_be_persons(opening, group, have_acts=have_acts)
        is_frame = said[0][0] == "user" and _masked_start(said[0][1]).startswith(opening)
        if is_frame and (may_be_persons or not have_acts or frames_words(opening, group)):
            continue
        if has_form and not may_be_persons:
            programs.append(opening)
        elif is_long or (have_acts and _has_sign(opening)):
            unclear.append(opening)
    return tuple(programs), tuple(unclear)


def _has_sign(opening: str) -> bool:
    """Whether an opening has a program's sign; the number of an item in a list is none."""
    return SIGN.search(opening.lstrip("0.) ")) is not None


def _may_be_programs(opening: str, share: float, *, have_acts: bool) -> bool:
    """Whether an opening of this share of the answers may be a program's: it has a sign.

    Or it is a line of most answers, or begins with a symbol in nearly all. Where no acts are known,
    it is closed, as a tag is.
    """
    if not have_acts:
        return _CLOSED.match(opening) is not None
    is_line = 2 * share >= 1 and "\n" in opening
    return is_line or _has_sign(opening) or (share >= NEARLY_ALL and bool(_PICTURED.match(opening)))


def _may_be_persons(opening: str, group: Sequence[str], *, have_acts: bool) -> bool:
    """Whether people may have written most of the texts with this opening."""
    is_persons = may_be_said
    if have_acts:
        is_persons = may_be_typed if _has_sign(opening) else is_all_words
    return 2 * sum(map(is_persons, group)) > len(group)


def _by_common_edge(
    answers: Sequence[str], edge: Callable[[str], str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """What the edges of several answers have in common, shorter first, and these answers.

    Such answers are neighbours when they are sorted.
    """
    texts = sorted((edge(text), text) for text in answers)
    edges = [each for each, _ in texts]
    pairs = zip(edges, edges[FEWEST - 1 :], strict=False)
    for common in sorted({commonprefix(pair) for pair in pairs}):  # noqa: RUF071
        end = bisect_right(edges, common + chr(maxunicode))
        yield common, [text for _, text in texts[bisect_left(edges, common) : end]]


@Memo  # since the newest messages are read at each call, each of them twice
def ending(text: str) -> tuple[Syntax, int]:
    """The syntax of the act at the end of a text and its start; empty if there is none."""
    stripped = text.rstrip()
    if stripped.endswith(FENCES):
        marks = fences(stripped)
        opened = marks[-2] if len(marks) > 1 else stripped.rfind(stripped[-3:], 0, -3)
        if opened >= 0:
            return "fence", opened
    closing = _CLOSING.search(stripped[-_LONGEST_NAME:])
    if closing and (opened := stripped.rfind(f"<{closing[1]}")) >= 0:
        return "element", opened
    if stripped.endswith(("}", "}]")) and (first := _OBJECT_LINE.search(stripped)):
        return "object", first.start()
    # in the last paragraph, and in no fence
    labels = list(_LABEL.finditer(stripped, max(map(stripped.rfind, (*FENCES, "\n\n"))) + 1))
    edges = [*[label.start() for label in labels], len(stripped)]
    for start, end in pairwise(edges):
        # agents write thoughts as they write the act behind them, ``Thought: I should look there.``
        if not is_sentence(_SIGNS_BEFORE.sub("", stripped[start:end].strip())):
            label = labels[-1].group()
            is_call = stripped.endswith(")") and stripped.startswith("(", labels[-1].end())
            of_all = DIGITS.sub("0", label) if "/" in label else label  # ``Action 2/5:``
            return "call" if is_call else of_all, start
    return "", 0
