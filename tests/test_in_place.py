"""Pruning in the caller's own list: dicts of each format, and objects with parts."""

import copy
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai.types import Content
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import holdfast
from holdfast import ConfigError, InputError, prune_old_tool_outputs
from holdfast.compressors.prune import PLACEHOLDER, Prune
from tests.formats.rules.messages import assistant, result, use, user
from tests.talks import agent_run, same, words

SMALL = Prune(protect_tokens=200, minimum_tokens=50)


def part(kind: str, content: Any, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(part_kind=kind, content=content, **fields)


def of(*parts: Any) -> SimpleNamespace:
    return SimpleNamespace(parts=list(parts), kind="request")


def returned(content: Any, call_id: str = "c") -> SimpleNamespace:
    return part("tool-return", content, tool_name="read", tool_call_id=call_id)


def objects(*contents: Any) -> list[SimpleNamespace]:
    """Two turns; the tool returns these in the first, oldest first."""
    calls = SimpleNamespace(part_kind="tool-call", tool_name="read", args="{}", tool_call_id="c")
    answered = [message for content in contents for message in (of(calls), of(returned(content)))]
    return [
        of(part("user-prompt", "go")),
        *answered,
        of(part("user-prompt", "and?")),
        of(part("text", "ok")),
    ]


def pruned(messages, prune=SMALL, **settings):
    return prune_old_tool_outputs(messages, prune=prune, **{"counter": "words", **settings})


def test_the_list_is_the_callers_own_and_a_cleared_message_is_a_new_dict_in_it():
    messages = agent_run(6)
    before, snapshot = list(messages), copy.deepcopy(messages)
    done = pruned(messages)
    assert done.messages is messages
    assert [m["content"] for m in messages if m["role"] == "tool"][:4] == [PLACEHOLDER] * 4
    assert before == snapshot
    assert [i for i, (a, b) in enumerate(zip(messages, before, strict=True)) if a is not b] == [
        3,
        5,
        7,
        9,
    ]
    assert done.reclaimed == 4 * (100 - 5)


def test_it_unpacks_into_the_list_and_what_was_reclaimed():
    messages = agent_run(6)
    same_list, reclaimed = pruned(messages)
    assert same_list is messages
    assert reclaimed == 380


def test_the_second_time_nothing_is_left_to_do():
    messages = agent_run(6)
    pruned(messages)
    once = list(messages)
    assert pruned(messages).reclaimed == 0
    assert same(messages, once)


def test_undo_puts_every_dict_back():
    messages = agent_run(6)
    before = list(messages)
    assert pruned(messages).undo() is messages
    assert same(messages, before)


def test_undo_puts_messages_of_langchain_back():
    messages = [HumanMessage("go")]
    for n in range(3):
        call = {"name": "read", "args": {}, "id": f"c{n}"}
        messages.append(AIMessage("", tool_calls=[call]))
        messages.append(ToolMessage(words(150), tool_call_id=f"c{n}"))
    messages += [AIMessage("ok"), HumanMessage("and?")]
    before = list(messages)
    done = pruned(messages)
    assert [message.content for message in messages].count(PLACEHOLDER) == 1
    assert same(done.undo(), before)


def test_undo_still_works_when_the_list_has_grown():
    messages = agent_run(6)
    before = list(messages)
    done = pruned(messages)
    messages.append(user("more"))
    done.undo()
    assert same(messages[:-1], before)


def test_blocks_of_anthropic_are_cleared_in_a_new_message():
    blocks = user(*(result(f"c{n}", words(150)) for n in range(3)))
    messages = [
        user("go"),
        assistant(*(use(f"c{n}") for n in range(3))),
        blocks,
        assistant("ok"),
        user("and?"),
    ]
    before = copy.deepcopy(messages)
    done = pruned(messages)
    assert [block["content"] for block in messages[2]["content"]] == [
        PLACEHOLDER,
        words(150),
        words(150),
    ]
    assert done.undo() == before
    assert messages[2] is blocks


def test_the_default_is_the_preset_of_the_design():
    messages = agent_run(3, 30_000)
    assert prune_old_tool_outputs(messages, counter="words").reclaimed == 0  # one turn alone
    messages.append(user("And now?"))
    assert prune_old_tool_outputs(messages, counter="words").reclaimed == 30_000 - 5
    assert [len(m["content"].split()) for m in messages if m["role"] == "tool"] == [
        5,
        30_000,
        30_000,
    ]


def test_shares_are_of_the_window_of_the_model():
    strategy = Prune(protect_tokens=0.5, minimum_tokens=0)
    assert pruned(agent_run(3, 30_000), strategy, model="gpt-4o").reclaimed == 0
    assert pruned(agent_run(5, 30_000), strategy, model="gpt-4o").reclaimed == 2 * (30_000 - 5)
    assert pruned(agent_run(5, 30_000), strategy).reclaimed == 30_000 - 5


def test_an_empty_list_comes_back_at_once():
    messages: list[Any] = []
    done = prune_old_tool_outputs(messages)
    assert done.messages is messages
    assert done.reclaimed == 0


# objects


def test_the_content_of_an_objects_part_is_set():
    messages = objects(words(300), words(150), words(100))
    parts = [message.parts[0] for message in messages]
    done = pruned(messages)
    assert [message.parts[0].content for message in messages[2:7:2]] == [
        PLACEHOLDER,
        words(150),
        words(100),
    ]
    assert same([message.parts[0] for message in messages], parts)
    assert done.reclaimed == 300 - 5


def test_undo_sets_the_old_content_back():
    content = {"rows": [words(300)]}
    messages = objects(content, words(250))
    done = pruned(messages)
    assert messages[2].parts[0].content == PLACEHOLDER
    done.undo()
    assert messages[2].parts[0].content is content


def test_prompts_calls_and_texts_of_objects_are_never_touched():
    messages = objects(words(300), words(300))
    messages[0].parts[0].content = words(5_000)
    messages[-1].parts[0].content = words(5_000)
    pruned(messages)
    assert messages[0].parts[0].content == messages[-1].parts[0].content == words(5_000)


def test_a_message_with_several_prompts_is_one_turn():
    strategy = Prune(protect_tokens=200, minimum_tokens=50, min_user_turns=2)
    messages = objects(words(300), words(300))
    several = [
        of(part("user-prompt", "a"), part("user-prompt", "b")),
        *messages[1:-2],
        messages[-1],
    ]
    assert pruned(several, strategy).reclaimed == 0
    assert pruned(messages, strategy).reclaimed == 295


@dataclass(frozen=True)
class Frozen:
    content: str
    part_kind: str = "tool-return"
    tool_call_id: str = "c"


class ReadOnly:
    part_kind, tool_call_id = "tool-return", "c"
    content = property(lambda self: words(300))


class Strict:
    """As a model that validates what is set."""

    part_kind, tool_call_id = "tool-return", "c"

    def __init__(self):
        self.__dict__["content"] = words(300)

    def __setattr__(self, name, value):
        raise ValueError(f"{name} cannot be set")


@pytest.mark.parametrize(
    "immutable", [Frozen(words(300)), ReadOnly(), Strict()], ids=["frozen", "property", "model"]
)
def test_an_immutable_part_is_left_and_counts_nothing(immutable):
    messages = objects(words(300), words(250))
    messages[2].parts.append(immutable)
    done = pruned(messages)
    assert immutable.content == words(300)
    assert done.reclaimed == 295
    done.undo()
    assert messages[2].parts[0].content == words(300)


def test_parts_may_be_a_tuple_as_long_as_they_can_be_set():
    messages = objects(words(300), words(250))
    for message in messages:
        message.parts = tuple(message.parts)
    assert pruned(messages).reclaimed == 295


@pytest.mark.parametrize("content", [None, 5, "", [], {"a": 1}], ids=range(5))
def test_short_and_missing_contents_are_not_worth_it(content):
    messages = objects(content, words(300))
    assert pruned(messages, Prune(protect_tokens=0, minimum_tokens=0)).reclaimed == 295
    assert messages[2].parts[0].content == content


def test_a_part_without_content_is_left():
    messages = objects(words(300), words(300))
    messages[2].parts.insert(0, SimpleNamespace(part_kind="tool-return"))
    assert pruned(messages).reclaimed == 295


@dataclass
class Note:
    """A message of the caller's own class."""

    parts: list[Any] = field(default_factory=list)


def test_any_class_with_parts_will_do():
    messages = [Note(message.parts) for message in objects(words(300), words(250))]
    assert pruned(messages).reclaimed == 295


@pytest.mark.parametrize(
    "messages", [None, 5, "x", (), {"messages": []}, ({"role": "user", "content": "x"},)]
)
def test_only_a_list_is_changed_in_place(messages):
    with pytest.raises(InputError, match="messages: only a list can be changed in place, not a "):
        prune_old_tool_outputs(messages)


@pytest.mark.parametrize(
    "messages", [[None], [SimpleNamespace()], [SimpleNamespace(parts=5)], [{"content": "x"}]]
)
def test_messages_of_no_known_form_are_named(messages):
    with pytest.raises(InputError, match=r"^messages\[0\]: "):
        prune_old_tool_outputs(messages)


@pytest.mark.parametrize("prune", [5, "prune", Prune])
def test_only_a_prune_prunes(prune):
    with pytest.raises(ConfigError, match=r"^prune: .* does not belong here; give a Prune"):
        prune_old_tool_outputs(agent_run(), prune=prune)


def test_it_agrees_with_the_pure_form():
    messages = agent_run(6)
    pure = holdfast.compress(messages, 450, strategy=SMALL, counter="words")
    pruned(messages)
    assert messages == pure.messages


def test_contents_of_googles_package_are_no_objects_whose_parts_tell_their_kind():
    def content(role, part):
        return Content.model_validate({"role": role, "parts": [part]})

    answer = {"name": "read", "response": {"result": words(900)}}
    messages = [
        content("user", {"text": "go"}),
        content("model", {"function_call": {"name": "read", "args": {}}}),
        content("user", {"function_response": answer}),
        content("user", {"text": "and?"}),
    ]
    before = list(messages)
    done = pruned(messages, Prune(protect_tokens=0, minimum_tokens=0, min_user_turns=1))
    assert done.reclaimed > 800
    (part,) = Content.model_validate(messages[2]).parts
    assert part.function_response.response == {"result": PLACEHOLDER}
    assert done.undo() == before
