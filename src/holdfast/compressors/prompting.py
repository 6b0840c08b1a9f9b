"""What a model is asked, from the texts in ``prompts/``; what it is to read is quoted, so as to be no request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Template

from holdfast.kernel.messages import Media, Message, Text, ToolCall, ToolResult
from holdfast.kernel.ports import Complete

_HERE = Path(__file__).parent / "prompts"
_WORDS_A_TOKEN = 0.7  # of English, a little less than the usual three quarters
_QUOTE = "| "


def request(name: str, tokens: int, values: Mapping[str, str]) -> Complete:
    """The request of the prompt ``name`` for a reply of at most so many tokens."""
    given = {"words": str(max(1, int(tokens * _WORDS_A_TOKEN))), "instructions": "", **values}
    return Complete(_text(name).substitute(given).strip(), _text("system").template.strip(), tokens)


@cache
def _text(name: str) -> Template:
    return Template((_HERE / f"{name}.txt").read_text("utf-8"))


def wording() -> str:
    """Everything that is asked: it decides what an answer is worth."""
    return "\n".join(_text(path.stem).template for path in sorted(_HERE.glob("*.txt")))


def quoted(text: str) -> str:
    """The text as material: every line of it behind a bar, so that nothing inside can end the quotation."""
    return "\n".join(_QUOTE + line for line in encodable(text).splitlines()) or _QUOTE


def encodable(text: str) -> str:
    """The text without halves of characters, which no provider takes."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def rendered(messages: Iterable[tuple[int, Message]]) -> Iterator[str]:
    """Each message, given with its position, as a block: who spoke, and the quotation."""
    tools: dict[str, str] = {}
    for position, message in messages:
        tools.update((call.id, call.name) for call in message.calls)
        said = "\n".join(_said(message, tools))
        if said:
            yield f"Message {position}, {message.role}:\n{quoted(said)}"


def _said(message: Message, tools: Mapping[str, str]) -> Iterator[str]:
    """What a reader would see of each part; reasoning is not part of what was said."""
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield part.text
        elif isinstance(part, ToolCall):
            yield f"calls {part.name}({part.arguments})"
        elif isinstance(part, ToolResult):
            yield f"result of {tools.get(part.call_id, 'a tool')}: {part.text}"
        elif isinstance(part, Media):
            yield f"[{part.kind}]"
