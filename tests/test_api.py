"""The path of a conversation, seen from outside."""

import asyncio
import copy
import itertools
from dataclasses import replace

import pytest

import holdfast
from holdfast import Budget, BudgetError, ConfigError, StrategyError
from tests.formats.rules.messages import assistant, result, use, user
from tests.talks import Somebody, agent_run, chat, drops, exchange, same, system, words


def fitted(messages, budget=300, **settings):
    return holdfast.compress(
        messages, budget, **{"counter": "words", "strategy": "trim", **settings}
    )


def test_what_fits_comes_back_as_the_very_same_messages_in_a_new_list():
    messages = agent_run(6)
    done = fitted(messages, 619)
    assert done.messages is not messages
    assert same(done.messages, messages)
    assert (done.status, done.reason, done.edits) == ("skipped", "within_budget", ())
    assert [(step.name, step.applied, step.reason) for step in done.steps] == [
        ("trim", False, "within_budget")
    ]
    assert (done.metrics.compression_ratio, done.metrics.reduction_percent) == (1.0, 0.0)
    assert (done.tokens, done.spent.within, done.utilization) == (619, True, 100)


def test_one_token_more_is_too_much():
    assert fitted(agent_run(6), 618).status == "compacted"


def test_an_untouched_message_is_the_very_same_object_and_nothing_of_the_callers_is_changed():
    messages = agent_run(6)
    before = copy.deepcopy(messages)
    done = fitted(messages, strategy=["prune", "trim"])
    untouched = [m for m in done.messages if any(m is old for old in messages)]
    assert len(untouched) >= 5
    assert messages == before


def test_an_edited_message_keeps_its_unknown_fields_and_their_order():
    call, answer = exchange(0, 900)
    odd = {"x_first": [1], **answer, "x_last": {"big": 12345678901234567890}}
    done = fitted([user("go"), call, odd, assistant("ok")])
    assert [*done.messages[2]] == ["x_first", "role", "tool_call_id", "content", "x_last"]
    assert {**done.messages[2], "content": odd["content"]} == odd
    assert done.messages[2]["x_last"] is odd["x_last"]


def test_a_tuple_stays_a_tuple():
    done = fitted(tuple(agent_run(6)))
    assert type(done.messages) is tuple
    assert type(holdfast.restore(done)) is tuple
    assert holdfast.restore(done) == tuple(agent_run(6))


def test_a_request_body_stays_one_with_its_own_order_of_keys():
    body = {"temperature": 0, "messages": agent_run(6), "model": "gpt-4o", "x": None}
    done = fitted(body)
    assert [*done.messages] == [*body]
    assert same([done.messages[key] for key in ("temperature", "model", "x")], [0, "gpt-4o", None])
    assert done.messages is not body
    assert body["messages"] == agent_run(6)
    assert holdfast.restore(done) == body


def test_what_stands_beside_the_messages_of_a_body_is_counted_and_stays():
    tools = [{"name": "read", "description": words(100), "input_schema": {"type": "object"}}]
    body = {"system": words(100), "tools": tools, "messages": [user(words(50)), *chat(4)]}
    done = fitted(body, 250)
    assert done.tokens == holdfast.count(done.messages, counter="words").total <= 250
    assert done.messages["tools"] is tools
    assert len(done.messages["messages"]) < 9


def test_schemas_that_are_given_are_counted():
    tools = [{"type": "function", "function": {"name": "read", "description": words(100)}}]
    with_tools, without = fitted(agent_run(6), tools=tools), fitted(agent_run(6))
    assert with_tools.metrics.tokens_before > without.metrics.tokens_before + 99
    assert len(with_tools.messages) < len(without.messages)


def test_a_message_that_the_caller_changes_in_place_is_counted_anew():
    messages = agent_run(2, 20)
    assert fitted(messages).status == "skipped"
    messages[3]["content"] = words(900)
    again = fitted(messages)
    assert again.metrics.tokens_before == 900 + 20 + 11
    assert again.status == "compacted"
    messages[2]["tool_calls"][0]["function"]["arguments"] = words(50)
    assert fitted(messages).metrics.tokens_before == again.metrics.tokens_before + 49


def test_a_text_is_counted_once_over_all_calls():
    asked = []

    def letters(text):
        asked.append(text)
        return len(text)

    messages = []
    for number in range(30):
        messages = [*messages, *exchange(number, 20)]
        holdfast.compress(messages, 1_500, profile="fast", counter=letters)
    whole = [text for text in asked if text.startswith("out")]
    assert len(whole) == len(set(whole))


@pytest.mark.parametrize(
    "counter", [len, lambda text: len(text) // 4, "fixed:7", "estimate", "cl100k_base"]
)
def test_any_counter_will_do(counter):
    whole = holdfast.count(agent_run(6), counter=counter).total
    done = holdfast.compress(agent_run(6), whole // 2, counter=counter, strategy="trim")
    assert done.tokens == holdfast.count(done.messages, counter=counter).total <= whole // 2


def test_a_breakdown_says_where_the_tokens_are():
    body = {
        "system": "be kind",
        "messages": [user("w " * 60), assistant(use("a")), user(result("a", "x y"))],
    }
    counted = holdfast.count(body, counter="words")
    assert [(row.role, row.tokens) for row in counted.messages] == [
        ("user", 60),
        ("assistant", 2),
        ("user", 2),
    ]
    assert counted.total == 64 + counted.overhead
    assert counted.messages[0].preview == ("w " * 60)[:50]
    assert counted.messages[1].preview == "read({})"
    assert (counted.counter, counted.accuracy.kind) == ("words", "approximate")


def test_the_result_says_how_far_its_counts_can_be_trusted():
    said = [{"role": "user", "content": words(500)}, {"role": "assistant", "content": words(9)}]
    assert holdfast.compress(said, 300, model="gpt-4o").accuracy.kind == "exact"
    assert holdfast.count(said, model="gpt-4o").accuracy.kind == "exact"
    assert holdfast.compress(agent_run(), 300, model="gpt-4o").accuracy.kind == "approximate"
    assert holdfast.compress(agent_run(), 300).accuracy.kind == "approximate"
    assert holdfast.compress(agent_run(), 300, counter=len).accuracy.kind == "unknown"


# pins


@pytest.mark.parametrize(
    "pin",
    [[3], (-17,), {3}, range(3, 4), iter([3]), lambda m: m["content"].startswith("w3 ")],
    ids=range(6),
)
def test_pins_are_positions_from_either_end_or_a_predicate(pin):
    messages = chat(10)
    done = fitted(messages, 100, pin=pin)
    assert any(m is messages[3] for m in done.messages)
    assert done.budget_met


def test_a_pinned_result_stays_with_its_call():
    messages = agent_run(6)
    done = fitted(messages, pin=[5])
    assert same(done.messages[2:4], messages[4:6]) or same(done.messages[1:3], messages[4:6])


def test_a_profile_is_never_left_out_for_a_strategy_unsaid():
    with pytest.raises(ConfigError, match="^profile: a profile and strategies exclude each other"):
        fitted(chat(10), profile="fast")


def test_a_predicate_of_the_caller_that_raises_is_named():
    def pins(message):
        return message["no_such_field"]

    line = "^pin: the function failed: KeyError: 'no_such_field'$"
    with pytest.raises(ConfigError, match=line) as caught:
        fitted(chat(10), pin=pins)
    assert isinstance(caught.value.__cause__, KeyError)
    (done,) = holdfast.compress_many([chat(10)], 100, pin=pins)
    assert (done.status, done.detail) == ("failed", str(caught.value))


# budgets


def test_compression_starts_at_the_trigger_and_goes_down_to_the_target():
    budget = Budget(limit=700, trigger=0.9, target=0.5)
    assert fitted(agent_run(6), budget).status == "skipped"
    done = fitted(agent_run(7), budget)
    assert done.tokens <= 350
    assert done.limit == 700


def test_between_target_and_trigger_nothing_happens():
    budget, messages, worked = Budget(limit=1_000, trigger=0.9, target=0.5), agent_run(1)[:-1], []
    for number in range(1, 40):
        messages = [*messages, *exchange(number, 50)]
        done = fitted(messages, budget)
        worked.append(done.status == "compacted")
        messages = done.messages
    assert 3 <= sum(worked) <= 8
    assert not any(a and b for a, b in itertools.pairwise(worked))


def test_a_soft_budget_that_cannot_be_met_says_so():
    done = fitted([system(words(500)), user("go")], 100)
    assert (done.budget_met, done.status, done.reason) == (False, "skipped", "nothing_may_go")
    assert done.detail == "501 tokens remain, and no step removes more"
    assert done.smallest == 501
    cut = holdfast.compress([system("You help."), user("go on, please " * 40)], 10)
    assert cut.detail.endswith(" tokens remain, with a few words of each text that may be cut")
    assert cut.smallest < cut.tokens


def test_a_hard_budget_that_cannot_be_met_is_an_error_with_the_facts():
    with pytest.raises(BudgetError) as caught:
        fitted(
            [system(words(500)), user(words(100)), *agent_run(3)[2:]], Budget(limit=100, hard=True)
        )
    fault = caught.value
    assert (fault.limit, fault.tokens) == (100, 500 + 100 + 308)
    assert f"the smallest budget that would do is {fault.smallest:,}" in str(fault)


@pytest.mark.parametrize(
    "settings", [{"profile": "fast"}, {"profile": "balanced"}, {"strategy": "trim"}], ids=str
)
@pytest.mark.parametrize("counter", ["words", "o200k_base", "ceil4_overhead", "estimate"])
def test_the_smallest_budget_that_is_named_does(settings, counter):
    messages = [
        system(words(150)),
        user(words(40)),
        *agent_run(9)[2:],
        user(words(70)),
        *exchange(99, 300),
    ]
    for limit in (1, 20, 150):
        budget = Budget(limit=limit, hard=True)
        with pytest.raises(BudgetError) as caught:
            holdfast.compress(messages, budget, counter=counter, **settings)
        smallest = Budget(limit=caught.value.smallest, hard=True)
        assert holdfast.compress(messages, smallest, counter=counter, **settings).budget_met


@pytest.mark.parametrize(
    ("budget", "profile"),
    [
        (Budget(limit=150, headroom=0.2, reserve=100), "balanced"),
        (Budget(limit=900, window=150, headroom=0.35), "balanced"),
        (Budget(limit=50, trigger=0.5, target=0.3), "balanced"),
        (Budget(limit=50), "four_step"),
        (Budget(limit=50), "four_step_rolling"),
        (Budget(limit=50), "tunacode"),
    ],
)
def test_the_smallest_budget_has_the_headroom_and_the_reserve_of_the_one_that_failed(
    budget, profile
):
    messages = [system(words(150)), user(words(70))]
    least = holdfast.compress(messages, budget, profile=profile).smallest
    again = replace(budget, limit=least, window=None)
    assert holdfast.compress(messages, again, profile=profile).budget_met


def test_a_hard_budget_that_is_met_is_none():
    assert fitted(agent_run(6), Budget(limit=300, hard=True)).budget_met


# failures


def test_a_failing_strategy_raises_only_when_asked_to():
    fault = RuntimeError("out of luck")
    with pytest.raises(StrategyError) as caught:
        fitted(agent_run(6), strategy=[Somebody(fault), "trim"], on_failure="raise")
    assert caught.value.__cause__ is fault
    assert caught.value.strategy == "somebody"
    assert str(caught.value) == "strategy somebody failed: RuntimeError: out of luck"


def test_an_illegal_edit_raises_too_when_asked_to():
    with pytest.raises(
        StrategyError, match="IntegrityError: message 0: this message may not be dropped"
    ) as caught:
        fitted(agent_run(6), strategy=[drops(0), "trim"], on_failure="raise")
    assert isinstance(caught.value.__cause__, holdfast.IntegrityError)


def test_a_strategy_that_was_never_needed_does_not_fail():
    assert fitted(
        agent_run(6), strategy=["trim", Somebody(RuntimeError())], on_failure="raise"
    ).budget_met


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_failure(interruption):
    with pytest.raises(interruption):
        fitted(agent_run(6), strategy=Somebody(interruption()))


# two doors more


CASES = [
    (agent_run(6), {"profile": "fast"}),
    (agent_run(6), {"profile": "balanced"}),
    (agent_run(2, 10), {}),
    (chat(10), {"strategy": ["prune", Somebody(RuntimeError("no")), "trim"]}),
    ({"system": "s", "messages": chat(10)}, {"step": 0.1, "pin": [2]}),
    ([], {}),
]


@pytest.mark.parametrize(("messages", "settings"), CASES, ids=range(len(CASES)))
def test_the_asynchronous_door_gives_the_equal_result(messages, settings):
    asynchronous = asyncio.run(holdfast.acompress(messages, 200, **settings))
    synchronous = holdfast.compress(messages, 200, **settings)
    assert without_times(asynchronous) == without_times(synchronous)


def without_times(result):
    """The JSON of the result, but for what a strategy says about how long it took."""
    data = holdfast.CompressionResult.from_json(result.to_json())
    return [
        data.messages,
        data.metrics,
        data.edits,
        data.status,
        data.reason,
        [(s.name, s.after) for s in data.steps],
    ]


def test_the_asynchronous_door_raises_alike():
    with pytest.raises(BudgetError):
        asyncio.run(holdfast.acompress(agent_run(), Budget(limit=1, hard=True)))
    failing = holdfast.acompress(
        agent_run(), 99, strategy=Somebody(ValueError()), on_failure="raise"
    )
    with pytest.raises(StrategyError):
        asyncio.run(failing)


def test_the_two_method_form_gives_the_messages_or_the_whole_result():
    compressor = holdfast.ContextCompressor(strategy="trim", counter="words")
    for messages in (agent_run(6), tuple(agent_run(6)), {"messages": agent_run(6)}):
        whole = compressor.compress_with_metrics(messages, 300)
        assert compressor.compress(messages, 300) == whole.messages
        assert type(compressor.compress(messages, Budget(limit=300))) is type(messages)
        assert whole == fitted(messages)
