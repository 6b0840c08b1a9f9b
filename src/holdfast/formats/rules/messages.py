"""Rules on messages: their roles and order, what may not be empty, and thinking."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from holdfast.formats.payloads import (
    ROLES,
    Object,
    Path,
    is_list,
    is_object,
    objects_in,
    rewritten,
)
from holdfast.kernel.edits import Edit, Insert
from holdfast.kernel.integrity import Problems, Rule
from holdfast.kernel.messages import Message, Messages, Reasoning, Text, ToolCall

from . import (
    MessageByMessage,
    RewritingRule,
    blocks,
    free_name,
    keeping,
    made,
    message_of,
    original,
    wire_of,
    with_blocks,
    with_fields,
    without_field,
)

CONTINUES = "[conversation continues]"


class AtLeastOne(Rule):
    """There is a message."""

    name = "at_least_one_message"

    def problems(self, messages: Messages) -> Problems:
        """An empty list of messages."""
        if not messages:
            yield 0, "there is no message"

    def repair(self, messages: Messages) -> Sequence[Edit]:
        """A user's message without new information."""
        return () if messages else (Insert(0, "user", CONTINUES, self.name),)


class FirstIsUser(Rule):
    """The first message, apart from system messages, is a user's."""

    name = "first_message_is_users"

    def problems(self, messages: Messages) -> Problems:
        """A first message in another role."""
        for i, message in enumerate(messages):
            if message.role != "system":
                if message.role != "user":
                    yield i, f"the conversation starts with a message of the {message.role}"
                return

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only a user's message may come first."""
        return before is not None or message.role == "user"

    def repair(self, messages: Messages) -> Sequence[Edit]:
        """A user's message before it."""
        return [Insert(i, "user", CONTINUES, self.name) for i, _ in self.problems(messages)]


class _Following(RewritingRule):
    """A rule on which message may follow which.

    ``told`` is the problem of one that may not. It is joined to the message before it, or comes
    after a new user's message: where there is none before it, or one with calls that must be
    answered first (``joins_calls`` says that they need not be).
    """

    told: ClassVar[str]
    joins_calls: ClassVar[bool] = False

    def problems(self, messages: Messages) -> Problems:
        """The messages that may not follow the one before them."""
        for i, message in enumerate(messages):
            if not self.may_follow(messages[i - 1] if i else None, message):
                yield i, self.told.format(role=message.role)

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages, with those that may not follow joined or put after a user's message."""
        after: list[Message] = []
        for message in messages:
            last = after[-1] if after else None
            if self.may_follow(last, message):
                after.append(message)
            elif last and (self.joins_calls or not last.calls):
                after[-1] = with_blocks(last, blocks(last) + blocks(message))
            else:
                users = message_of(message, "user", [wire_of(message).block(Text(CONTINUES))])
                after += [users, message]
        return after


class RolesAlternate(_Following):
    """No two messages in a row have the same role.

    Anthropic's own API joins such messages, Bedrock refuses them.
    """

    name = "roles_alternate"
    told = "two messages of the {role} stand in a row"
    joins_calls = True

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only another role may follow."""
        return before is None or before.role != message.role


class CallsFollowUsers(_Following):
    """Gemini: a message with calls comes right after a user's message or results."""

    name = "calls_follow_users"
    told = "it calls a tool, and does not follow a user's message or results"

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Whether a message without calls, or one right after a user's message or results."""
        return not message.calls or (before is not None and before.role != "assistant")


class KnownRoles(MessageByMessage):
    """Every role is one that the API has."""

    name = "roles_known"

    def __init__(self, *names: str) -> None:
        self._names = names

    def problem(self, message: Message) -> str:
        """An unknown role."""
        role = original(message).get("role")
        if role is None or role in self._names:
            return ""
        return f"{role!r} is none of the roles {', '.join(sorted(self._names))}"

    def mended(self, message: Message) -> Message:
        """The message with the role as which this one is read, or that its calls require."""
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        meaning = ROLES.get(original(message)["role"], "assistant" if calls else "user")
        return with_fields(
            message, role=next((name for name in self._names if ROLES[name] == meaning), "user")
        )


_EMPTY = "the message is empty"


class ContentGiven(MessageByMessage):
    """Chat Completions: content may be null only in a message with a call, a refusal or sound."""

    name = "content_given"

    def problem(self, message: Message) -> str:
        """Content that is null, without one of these."""
        value = original(message)
        others = map(value.get, ("tool_calls", "function_call", "refusal", "audio"))
        if value.get("content") is not None or any(others):
            return ""
        return "content is null, and the message calls no tool"

    def mended(self, message: Message) -> Message:
        """The message with an empty text, which is accepted."""
        return with_fields(message, content="")


class CallListNotEmpty(MessageByMessage):
    """Chat Completions: a list of tool calls has at least one."""

    name = "call_list_not_empty"

    def problem(self, message: Message) -> str:
        """An empty list instead of null or no field."""
        return "tool_calls is an empty list" if original(message).get("tool_calls") == [] else ""

    def mended(self, message: Message) -> Message:
        """The message without the field."""
        return without_field(message, "tool_calls")


class ArgumentsGiven(MessageByMessage):
    """Chat Completions: a call has arguments, though some servers answer with null for none."""

    name = "arguments_given"

    def problem(self, message: Message) -> str:
        """Arguments that are null or missing."""
        calls = objects_in(original(message).get("tool_calls"))
        broken = any(_with_arguments(call) is not call for call in calls)
        return "a call has no arguments" if broken else ""

    def mended(self, message: Message) -> Message:
        """The message with an empty object for them."""
        calls = original(message)["tool_calls"]
        return with_fields(message, tool_calls=list(map(_with_arguments, calls)))


def _with_arguments(call: Object) -> Object:
    held: object = call.get("function")
    if not is_object(held) or held.get("arguments") is not None:
        return call
    return {**call, "function": {**held, "arguments": "{}"}}


class NotEmpty(MessageByMessage):
    """Every message has content, and no text is empty.

    ``blank`` says whether white space counts as empty. ``all``: not all texts of a message may be
    blank (Messages API; a last message of the assistant may be empty there, but not without
    content). ``any``: no text may be blank (Converse). Gemini accepts blank texts.
    """

    name = "message_not_empty"

    def __init__(self, blank: Literal["all", "any", ""]) -> None:
        self._blank = blank
        self.alone = blank != "all"  # where it matters which message is the last one

    def problems(self, messages: Messages) -> Problems:
        """An empty message, or one with an empty text."""
        ends = self._blank == "all" and bool(messages) and messages[-1].role == "assistant"
        for i, problem in super().problems(messages):
            if not (ends and i == len(messages) - 1 and problem == _EMPTY):
                yield i, problem

    def problem(self, message: Message) -> str:
        """The empty part."""
        if self._blank == "all" and original(message).get("content") is None:
            return "the message has no content"
        if not message.parts or message.plain == "":
            return _EMPTY
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if not all(texts):
            return "one of its texts is empty"
        blank = [not text.strip() for text in texts]
        if (self._blank == "all" and texts and all(blank)) or (self._blank == "any" and any(blank)):
            return "its text is only white space"
        return ""

    def mended(self, message: Message) -> Message | None:
        """The message without its blank texts."""
        return keeping(message, lambda part: not isinstance(part, Text) or bool(part.text.strip()))


class DocumentsWithText(MessageByMessage):
    """Converse: a document has a text beside it."""

    name = "documents_have_text"

    def problem(self, message: Message) -> str:
        """A document without a text."""
        held = {field for block in blocks(message) for field in block}
        return "it has a document and no text" if "document" in held and "text" not in held else ""

    def mended(self, message: Message) -> Message:
        """The message with a text that says what it has."""
        return with_blocks(message, [{"text": "[document]"}, *blocks(message)])


class UniqueDocuments(RewritingRule):
    """Converse: no two documents of a request have the same name."""

    name = "document_names_unique"

    def problems(self, messages: Messages) -> Problems:
        """A document with the name of an earlier one."""
        for i, _, name in _repeated(messages):
            yield i, f"a document before it has the name {name!r}"

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages with a number after each name that was given before."""
        taken = {name: 1 for message in messages for _, name in _documents(original(message))}
        names: dict[int, dict[Path, str]] = {}
        for i, path, name in _repeated(messages):
            names.setdefault(i, {})[path] = free_name(name, taken, "-")
        for i, message in enumerate(messages):
            now = rewritten(original(message), names.get(i, {}))
            yield made(message.wire, now, message) if i in names else message


def _repeated(messages: Messages) -> Iterator[tuple[int, Path, str]]:
    """The message, the path and the name of each document whose name was given before."""
    seen: set[str] = set()
    for i, message in enumerate(messages):
        for path, name in _documents(original(message)):
            if name in seen:
                yield i, path, name
            seen.add(name)


def _documents(holder: Object, *path: str | int) -> Iterator[tuple[Path, str]]:
    """The path and the name of each document in the content and in its results, in their order."""
    content = holder.get("content")
    for k, block in enumerate(content if is_list(content) else ()):
        for field in ("document", "toolResult"):
            held = block.get(field) if is_object(block) else None
            if is_object(held):
                inner = *path, "content", k, field
                yield from _documents(held, *inner)
                if field == "document" and isinstance(name := held.get("name"), str):
                    yield (*inner, "name"), name


class FinalTextTrimmed(RewritingRule):
    """Messages API: a last message of the assistant does not end in white space or thinking."""

    name = "final_text_trimmed"

    def problems(self, messages: Messages) -> Problems:
        """White space or thinking at the end of the last message."""
        if messages and _trails(messages[-1]):
            yield len(messages) - 1, "the assistant's last message ends in white space or thinking"

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages without that end, and without a message that is then empty."""
        after = list(messages)
        while after and _trails(after[-1]):
            last = after.pop()
            *others, final = blocks(last)
            text = final.get("text", "").rstrip()  # thinking has none
            if text and last.plain is not None:
                after.append(with_fields(last, content=text))
            elif text or others:
                now = [*others, {**final, "text": text}] if text else others
                after.append(with_blocks(last, now))
        return after


def _trails(message: Message) -> bool:
    if message.role != "assistant" or not message.parts:
        return False
    part = message.parts[-1]
    blank = isinstance(part, Text) and part.text != part.text.rstrip()
    return blank or isinstance(part, Reasoning)


class ThinkingSigned(MessageByMessage):
    """Thinking is signed, and in the assistant's role."""

    name = "thinking_signed"

    def problem(self, message: Message) -> str:
        """Thinking without a signature, or in another role."""
        thinking = _thinking(message)
        if thinking and message.role != "assistant":
            return f"there is thinking in a message of the {message.role}"
        if not all(part.signed for part in thinking):
            return "its thinking has no signature"
        return ""

    def mended(self, message: Message) -> Message | None:
        """The message without the refused thinking."""
        may_think = message.role == "assistant"
        return keeping(
            message, lambda part: not isinstance(part, Reasoning) or (may_think and part.signed)
        )


class ThinkingLeads(MessageByMessage):
    """A message with thinking starts with thinking."""

    name = "thinking_leads_its_message"

    def problem(self, message: Message) -> str:
        """Thinking that is only after another part."""
        late = message.role == "assistant" and not _led(message) and _thinking(message)
        return "it has thinking, and starts with something else" if late else ""

    def mended(self, message: Message) -> Message:
        """The message with its first thinking moved to the start, unchanged."""
        own = blocks(message)
        first = next(k for k, part in enumerate(message.parts) if isinstance(part, Reasoning))
        return with_blocks(message, [own[first], *own[:first], *own[first + 1 :]])


class ThinkingStays(RewritingRule):
    """If a tool loop has thinking, its first message starts with it.

    The loop is the assistant's messages since the user last spoke. The vendor requires this of the
    current loop only; earlier ones may lose their thinking. So an exchange without thinking stays
    with the one before it, and the last message that starts with thinking is kept.
    """

    name = "thinking_stays_with_its_loop"

    def problems(self, messages: Messages) -> Problems:
        """A loop whose first message does not start with its thinking."""
        loop, led = _loop(messages)
        if led and loop[0] < led[0]:
            yield loop[0], "the tool loop has thinking, and does not start with it"

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a message that starts with thinking to the next that does."""
        loop, led = _loop(messages)
        for before, i in pairwise(loop):
            if led and led[0] < i < led[-1] and not _led(messages[i]):
                yield from range(before + 1, i + 1)

    def keeps(self, messages: Messages) -> Iterable[int]:
        """The last message that starts with thinking."""
        return _loop(messages)[1][-1:]

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages without thinking in the loop, since only the vendor could add the rest."""
        loop, _ = _loop(messages)
        for i, message in enumerate(messages):
            now: Message | None = message
            if i in loop:
                now = keeping(message, lambda part: not isinstance(part, Reasoning))
            if now is not None:
                yield now


def _loop(messages: Messages) -> tuple[list[int], list[int]]:
    """The assistant's messages since the user last spoke, and those that start with thinking."""
    loop: list[int] = []
    for i in reversed(range(len(messages))):
        if messages[i].user_speaks:
            break
        if messages[i].role == "assistant":
            loop.append(i)
    loop.reverse()
    return loop, [i for i in loop if _led(messages[i])]


def _led(message: Message) -> bool:
    """Whether the message starts with thinking."""
    return bool(message.parts) and isinstance(message.parts[0], Reasoning)


def _thinking(message: Message) -> list[Reasoning]:
    return [part for part in message.parts if isinstance(part, Reasoning)]
