"""No input makes it fail or slow, and what is wrong with an argument is one clear line."""

import math

import pytest

import holdfast
from holdfast import Budget, ConfigError, FormatError, InputError
from holdfast.compressors.pipeline import Stepwise
from holdfast.profiles import load_profile
from tests.formats.rules.messages import assistant, calling, tool, user
from tests.talks import agent_run, chat, system, words

DEEP: list = []
for _ in range(200_000):
    DEEP = [DEEP]

HOLDING: dict = {"role": "user"}
HOLDING["content"] = [HOLDING]


class Needy:
    """A counter that cannot be made from nothing."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary


ODD = [
    "",
    " ",
    "\n",
    "\x00",
    "\ud800",
    "a\ud83d",
    "<|endoftext|>",
    "e\u0301" * 50,
    "\u202e",
    "[" * 999,
    "x" * 999,
]


@pytest.mark.parametrize("profile", ["fast", "balanced"])
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_any_text_goes_through_and_comes_back(odd, profile):
    messages = [
        system(odd),
        user(odd),
        calling("a"),
        tool("a", odd * 30),
        assistant(odd),
        user(odd),
        user("go"),
    ]
    for budget in (1, 30, 100):
        done = holdfast.compress(messages, budget, profile=profile)
        assert holdfast.restore(done) == messages
        assert done.messages[-1] is messages[-1]
        assert done.tokens == holdfast.count(done.messages).total <= done.metrics.tokens_before


@pytest.mark.parametrize("messages", [[], (), {"messages": []}])
def test_nothing_comes_back_as_nothing(messages):
    for budget in (1, 100):
        assert holdfast.compress(messages, budget).messages == messages


@pytest.mark.parametrize(
    "message", [system(words(900)), {"role": "assistant", "content": None}, calling("a")]
)
def test_one_message_comes_back_itself_unless_it_may_be_clamped(message):
    assert holdfast.compress([message], 50, profile="fast").messages[0] is message


@pytest.mark.parametrize("letter", ["word ", "a", " ", "\n", "{", '"'], ids=repr)
def test_a_message_of_twenty_megabytes_is_no_trouble(letter):
    text = letter * (20_000_000 // len(letter))
    messages = [user("go"), calling("a"), tool("a", text), assistant("ok"), user("next")]
    done = holdfast.compress(messages, 1_000, profile="fast", counter="estimate")
    assert done.budget_met
    assert holdfast.restore(done)[2] is messages[2]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"budget": 0}, "budget: 0 does not belong here; give a positive number"),
        ({"budget": -5}, "budget: -5 does not belong here; give a positive number"),
        (
            {"budget": True},
            "budget: True does not belong here; give a positive number of tokens, such as 8000",
        ),
        (
            {"budget": "8 apples"},
            "budget: '8 apples' is not a positive number of tokens; give one such as 8000 or 8k",
        ),
        (
            {"budget": Budget(reserve=5)},
            "budget: no budget is given; give budget=",
        ),
        (
            {"budget": Budget(limit=5, reserve=5)},
            "budget: reserve and headroom leave nothing of 5 tokens; lower",
        ),
        (
            {"budget": Budget(reserve=5), "model": "gtp-4o"},
            "model: the window of 'gtp-4o' is not known; check",
        ),
        ({"model": 5}, "model: 5 does not belong here; give text"),
        ({"format": "nope"}, "there is no format named 'nope'; "),
        ({"format": 5}, "format: 5 does not belong here; give text"),
        ({"profile": "fats"}, "there is no profile named 'fats'; did you mean 'fast'? known are "),
        ({"profile": None}, "profile: None does not belong here"),
        (
            {"profile": "gone.toml"},
            "gone.toml: it cannot be read (No such file or directory); name a TOML or YAML file",
        ),
        ({"query": 5}, "query: 5 does not belong here"),
        ({"query": ["x"]}, "query: ['x'] does not belong here"),
        (
            {"tools": "x"},
            "tools: a str does not belong here; give the list of schemas that the request sends",
        ),
        ({"tools": {"name": "x"}}, "tools: a dict does not belong here"),
        (
            {"tools": [print]},
            "tools[0]: a builtin_function_or_method does not belong here; give the list",
        ),
        (
            {"tools": [user("hi")]},
            "tools[0]: this is a message, no schema of a tool; give the list of schemas",
        ),
        ({"step": 2}, "step: 2 does not belong here; give a share in [0, 1)"),
        ({"step": "x"}, "step: 'x' does not belong here; give a share in [0, 1)"),
        ({"step": math.nan}, "step: nan does not belong here; give a share in [0, 1)"),
        (
            {"pin": ["a"]},
            "pin: ['a'] is not a list of positions; give a list of positions, or a function",
        ),
        ({"pin": "first"}, "pin: 'first' is not a list of positions"),
        ({"pin": 5}, "pin: 5 is not a list of positions"),
        ({"pin": [True]}, "pin: [True] is not a list of positions"),
        ({"pin": [1.0]}, "pin: [1.0] is not a list of positions"),
        ({"pin": [99]}, "pin: there is no message 99; there are 15 messages, counted from 0"),
        ({"pin": [-16]}, "pin: there is no message -16; there are 15 messages, counted from 0"),
        ({"strategy": ""}, "there is no strategy named ''; known are digest, "),
        ({"strategy": "tirm"}, "there is no strategy named 'tirm'; did you mean 'trim'?"),
        (
            {"strategy": 5},
            "strategy: 5 is not a strategy; give a name, an object with name and plan",
        ),
        ({"strategy": ["trim", None]}, "strategy: None is not a strategy"),
        ({"strategy": [["trim"]]}, "strategy: ['trim'] is not a strategy"),
        ({"strategy": {"trim": {}}}, "strategy: {'trim': {}} is not a strategy"),
        ({"strategy": b"trim"}, "strategy: b'trim' is not a strategy"),
        (
            {"strategy": Needy("x")},
            "strategy: a Needy is not a strategy; give a name, an object with name and plan",
        ),
        ({"strategy": int}, "strategy: 0 is not a strategy"),
        ({"strategy": Stepwise}, "strategy: it cannot be made from nothing ("),
        ({"strategy": lambda needed: None}, "strategy: it cannot be made from nothing ("),
        (
            {"on_failure": "explode"},
            "on_failure: 'explode' does not belong here; give 'degrade' or 'fit' or 'raise'",
        ),
        (
            {"counter": 5},
            "counter: int is not a token counter; give a model's or a counter's name, a function",
        ),
        (
            {"counter": "o200k"},
            "there is no token counter named 'o200k'; did you mean 'o200k_base'?",
        ),
        (
            {"counter": "fixed:many"},
            "counter: 'fixed:many' names no number of tokens; write fixed:100",
        ),
        ({"counter": "fixed:" + "9" * 5_000}, "counter: 'fixed:9999"),
        (
            {"counter": Needy},
            "counter: <class 'tests.test_odd_input.Needy'> cannot be made from nothing (",
        ),
        (
            {"tools": [{"name": "x", "deep": DEEP}]},
            "tools[0]: it is nested too deeply to be counted",
        ),
        (
            {"counter": lambda text: -1},
            "counter: <lambda> gave -1; a counter gives an int of 0 or more",
        ),
        ({"counter": lambda text: None}, "counter: <lambda> gave None;"),
        ({"counter": lambda text: 1.5}, "counter: <lambda> gave 1.5"),
        ({"store": 5}, "store: an int is not a store; give a URL"),
        (
            {"store": "sqlite:a.db"},
            "store: 'sqlite:a.db' is not a URL; a file is written 'sqlite:///a.db'",
        ),
        (
            {"store": "mongodb://x"},
            "store: there is no store named 'mongodb'; known are az, file, gs, memory, ",
        ),
    ],
    ids=range(53),
)
def test_an_argument_that_is_wrong_is_named_in_one_line_with_what_to_do(given, told):
    with pytest.raises(ConfigError if "tools" not in given else FormatError) as caught:
        holdfast.compress(agent_run(6), **{"budget": 100, **given})
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)
    assert caught.value.advice or "positive" in told or "share" in told


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (None, "null is not a list of messages; give a list such as"),
        ("hello", "a str is not a list of messages"),
        (5, "an int is not a list of messages"),
        (iter([]), "a list_iterator is not a list of messages"),
        (
            {},
            'an object without "messages" is not a conversation; give a list of messages, '
            "or a request body",
        ),
        ({"messages": "hello"}, "messages: a str is not a list of messages"),
        ([None], 'messages[0]: null is not a message; give a dictionary with "role" and "content"'),
        ([user("x"), "hello"], "messages[1]: a str is not a message"),
        ([[user("x")]], "messages[0]: a list is not a message"),
        (
            [{"content": "x"}],
            'messages[0]: the message has no "role"; give a role such as user or assistant',
        ),
        ([{"role": 5, "content": "x"}], "messages[0].role: an int is not a role"),
        ([user("x"), {"role": " ", "content": "x"}], "messages[1].role: the role is empty"),
        ([{"role": "user", "content": 5}], "messages[0].content: an int does not belong here"),
        (
            [{"role": "tool", "content": "x"}],
            'messages[0]: the tool result has no "tool_call_id"; give the id',
        ),
        (
            [user("x"), {**calling("a"), "tool_calls": 5}],
            "messages[1].tool_calls: an int does not belong here",
        ),
        (
            [{**calling("a"), "tool_calls": [{}]}],
            'messages[0].tool_calls[0]: the tool call has no "id"',
        ),
        (
            [user({"type": "new", "deep": DEEP})],
            "messages[0].content[0]: it is nested too deeply to be counted",
        ),
        (
            [assistant({"type": "tool_use", "id": "a", "name": "f", "input": {"deep": DEEP}})],
            "messages[0].content[0]",
        ),
        ([HOLDING], "a message is nested too deeply, or holds itself"),
    ],
    ids=range(19),
)
@pytest.mark.parametrize(
    "door", [lambda m: holdfast.compress(m, 100), holdfast.count, holdfast.validate]
)
def test_messages_that_are_wrong_are_named_in_one_line_with_their_place(messages, told, door):
    with pytest.raises(InputError) as caught:
        door(messages)
    assert str(caught.value).startswith(told)
    assert caught.value.advice
    assert "\n" not in str(caught.value)


def test_a_wrong_option_of_the_two_method_form_is_named_when_it_is_made():
    with pytest.raises(ConfigError, match="query: 5 does not belong here; give text"):
        holdfast.ContextCompressor(query=5)


class Strange:
    """A counter object of the caller's that gives what it likes."""

    name, accuracy = "strange", holdfast.count([]).accuracy

    def __init__(self, gives):
        self.gives = gives

    def count(self, text):
        return self.gives


@pytest.mark.parametrize("gives", [-1, None, 1.5, "3", math.nan])
def test_a_counter_that_gives_no_number_of_tokens_is_named(gives):
    with pytest.raises(
        ConfigError, match=r"^counter: strange gave .*; a counter gives an int of 0 or more"
    ):
        holdfast.compress(agent_run(), 100, counter=Strange(gives))


def test_content_null_on_a_call_is_no_trouble():
    messages = [user("go"), calling("a"), tool("a", words(500)), {"role": "user", "content": None}]
    done = holdfast.compress(messages, 60, strategy="trim")
    assert done.messages[-1] is messages[-1]


@pytest.mark.parametrize("name", [7, None, 2.5, ("a", "b")])
def test_a_field_with_a_name_that_is_no_text_is_no_trouble(name):
    messages = [user("go"), {**user(words(500)), name: 1, "metadata": {name: "x"}}, user("on")]
    assert holdfast.count(messages).total > holdfast.count([user("go"), user("on")]).total
    assert holdfast.restore(holdfast.compress(messages, 60)) == messages


def test_two_thousand_messages_with_pins_between_them_are_mended_at_once():
    done = holdfast.compress(
        chat(1_000, 5), 1_000, format="bedrock", profile="fast", pin=range(0, 2_000, 7)
    )
    assert holdfast.validate(done.messages, provider="bedrock") == []


RESULT = holdfast.compress([user("hello")], 100)


@pytest.mark.parametrize("thing", [5, ["result.json"], b"result.json", print])
@pytest.mark.parametrize(
    "takes_a_path",
    [RESULT.save, RESULT.report, RESULT.load, holdfast.load_config, load_profile],
)
def test_what_is_no_path_is_named_in_one_line_with_what_to_give(takes_a_path, thing):
    with pytest.raises(ConfigError, match="does not belong here; give text or a path") as caught:
        takes_a_path(thing)
    assert caught.value.place in ("path", "profile")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["\ud800.txt", "\0.txt"])
@pytest.mark.parametrize("write", [RESULT.save, RESULT.report])
def test_a_name_that_no_file_can_have_is_an_error_of_one_line(write, name):
    with pytest.raises(
        InputError, match=r"it cannot be written \(.*\); name another file"
    ) as caught:
        write(name)
    assert caught.value.place == name
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        holdfast.count,
        holdfast.repair,
        holdfast.prune_old_tool_outputs,
        lambda messages, model: holdfast.shrink("a few words", 1, model=model),
    ],
)
@pytest.mark.parametrize("model", [len, 5, ["gpt-4o"]])
def test_a_model_that_is_no_name_is_named_in_one_line(call, model):
    with pytest.raises(ConfigError, match="^model: .* does not belong here; give text$"):
        call([user("hello")], model=model)


@pytest.mark.parametrize("kind", [[], 5, {"kind": "log"}])
def test_a_kind_of_text_that_is_no_name_is_named_in_one_line(kind):
    with pytest.raises(ConfigError, match="^kind: .* does not belong here; give text$"):
        holdfast.shrink("a few words", 1, kind=kind)
