"""Conversations as nobody would write them: every kind of message, in any order, with anything
broken.
"""

from __future__ import annotations

from hypothesis import strategies as st

_IDS = st.sampled_from(["a", "b", "c", "call.1", "ü"])
_NAMES = st.sampled_from(["read", "grep"])
_TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "\n", "hello", "ends here ", "\x00", "\ud800", "日本語", "{}", '{"a": 1}']
    ),
    st.text(max_size=8),
)
_UNKNOWN = st.fixed_dictionaries({"type": st.just("hologram"), "depth": st.integers()})


def _object(required: dict, **optional: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(required, optional=optional)


# Chat Completions

_OPENAI_PARTS = st.one_of(
    _object({"type": st.just("text"), "text": _TEXTS}),
    _object(
        {"type": st.just("image_url"), "image_url": _object({"url": st.just("https://x/y.png")})}
    ),
    _object(
        {
            "type": st.just("input_audio"),
            "input_audio": _object({"data": st.just("AAA"), "format": st.just("wav")}),
        }
    ),
    _object({"type": st.just("file"), "file": _object({"file_id": st.just("file-1")})}),
    _UNKNOWN,
)
_OPENAI_CONTENT = st.one_of(_TEXTS, st.lists(_OPENAI_PARTS, max_size=3))
_OPENAI_CALLS = st.one_of(
    _object(
        {
            "id": _IDS,
            "type": st.just("function"),
            "function": _object(
                {"name": _NAMES, "arguments": st.one_of(_TEXTS, st.just({"path": "x"}))}
            ),
        }
    ),
    _object(
        {
            "id": _IDS,
            "type": st.just("custom"),
            "custom": _object({"name": _NAMES, "input": _TEXTS}),
        }
    ),
)
_FUNCTION = _object({"name": _NAMES, "arguments": _TEXTS})

openai_messages = st.one_of(
    _object(
        {"role": st.sampled_from(["system", "developer", "critic"]), "content": _OPENAI_CONTENT},
        name=_NAMES,
    ),
    _object(
        {
            "role": st.sampled_from(["user", "human"]),
            "content": st.one_of(_OPENAI_CONTENT, st.none()),
        }
    ),
    _object(
        {
            "role": st.sampled_from(["assistant", "ai"]),
            "content": st.one_of(_OPENAI_CONTENT, st.none()),
        },
        tool_calls=st.one_of(st.none(), st.lists(_OPENAI_CALLS, max_size=3)),
        function_call=st.one_of(st.none(), _FUNCTION),
        refusal=st.one_of(st.none(), _TEXTS),
        reasoning_content=_TEXTS,
    ),
    _object(
        {
            "role": st.just("tool"),
            "tool_call_id": _IDS,
            "content": st.one_of(_OPENAI_CONTENT, st.none()),
        },
        name=_NAMES,
    ),
    _object({"role": st.just("function"), "name": _NAMES, "content": _TEXTS}),
)
openai_conversations = st.lists(openai_messages, max_size=12)

# Messages API

_CACHED = st.just({"type": "ephemeral"})
_IMAGE = _object(
    {
        "type": st.just("image"),
        "source": _object({"type": st.just("url"), "url": st.just("https://x/y.png")}),
    }
)
_TEXT_BLOCK = _object({"type": st.just("text"), "text": _TEXTS}, cache_control=_CACHED)
_RESULT_CONTENT = st.one_of(_TEXTS, st.lists(st.one_of(_TEXT_BLOCK, _IMAGE, _UNKNOWN), max_size=2))
_USER_BLOCKS = st.one_of(
    _TEXT_BLOCK,
    _IMAGE,
    _object(
        {"type": st.just("tool_result"), "tool_use_id": _IDS},
        content=_RESULT_CONTENT,
        is_error=st.booleans(),
    ),
    _object({"type": st.just("tool_result"), "tool_use_id": _IDS, "content": _RESULT_CONTENT}),
    _UNKNOWN,
)
_ASSISTANT_BLOCKS = st.one_of(
    _TEXT_BLOCK,
    _object({"type": st.just("thinking"), "thinking": _TEXTS}, signature=st.just("c2ln")),
    _object({"type": st.just("redacted_thinking"), "data": st.just("AAA")}),
    _object(
        {
            "type": st.just("tool_use"),
            "id": _IDS,
            "name": _NAMES,
            "input": st.dictionaries(_NAMES, st.integers()),
        }
    ),
    _object({"type": st.just("server_tool_use"), "id": _IDS, "name": _NAMES, "input": st.just({})}),
)
anthropic_messages = st.one_of(
    _object(
        {"role": st.just("user"), "content": st.one_of(_TEXTS, st.lists(_USER_BLOCKS, max_size=3))}
    ),
    _object(
        {
            "role": st.just("assistant"),
            "content": st.one_of(_TEXTS, st.lists(_ASSISTANT_BLOCKS, max_size=4)),
        }
    ),
    _object({"role": st.sampled_from(["system", "human", "ai", "critic"]), "content": _TEXTS}),
)
anthropic_conversations = st.lists(anthropic_messages, max_size=12)
