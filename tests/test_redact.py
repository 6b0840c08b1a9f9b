"""Secrets are masked before anything is kept, and the result says where."""

import asyncio
import json

import pytest

import holdfast
from holdfast.compressors.references import key_in
from holdfast.compressors.shrink import Shrink
from holdfast.compressors.squeeze import Squeeze
from holdfast.designs.llm4s import llm4s_history
from holdfast.kernel.compressor import Plan, ask
from holdfast.kernel.edits import Drop
from holdfast.kernel.ports import Complete, Save
from holdfast.profiles import read_profile
from holdfast.providers.scripted import Scripted
from holdfast.redact import masked_values
from tests.compressors.shrink.exchanges import log, outputs, run
from tests.formats.rules.messages import assistant, calling, tool, user
from tests.stores.doubles import AwaitedTextStore, TextStore

KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
MASK = "[redacted openai key]"
TALK = [
    *run(
        (
            "bash",
            {"command": f'curl -H "x: {KEY}"'},
            f"{log(300)}\nsent {KEY}\n{log(300, 'later')}",
        ),
        ("bash", {"command": "ls"}, "nothing"),
        question=f"Use {KEY} to send it.",
    ),
    assistant(f"I sent it with {KEY}."),
    user("And?"),
]


def compressed(budget: int, **options) -> holdfast.CompressionResult:
    return holdfast.compress(
        TALK, budget, redact=True, **{"strategy": [Shrink(), "trim"], **options}
    )


def test_what_the_model_and_its_tools_said_is_masked_and_the_users_words_stay_in_view():
    result = compressed(2_000, query=f"sent {KEY}")
    assert result.budget_met
    assert result.messages[1] is TALK[1]
    assert KEY not in json.dumps([m for m in result.messages if m["role"] != "user"])
    assert MASK in result.messages[-2]["content"]
    assert result.messages[2]["tool_calls"][0]["function"]["arguments"] == json.dumps(
        {"command": f'curl -H "x: {MASK}"'}
    )


def test_nothing_that_is_kept_holds_a_secret_and_the_result_says_which_messages_are_not_exact():
    result = compressed(2_000)
    back = holdfast.restore(result)
    assert result.masked == (2, 3, 6)
    assert dict(result.redacted) == {"openai key": 3}
    assert [i for i, (now, was) in enumerate(zip(back, TALK, strict=True)) if now != was] == [
        2,
        3,
        6,
    ]
    assert json.dumps(back) == json.dumps(TALK).replace(KEY, MASK).replace(MASK, KEY, 1)
    kept = json.loads(result.to_json())
    assert KEY not in json.dumps(kept["steps"])


def test_a_users_words_are_masked_when_they_leave_the_view():
    result = compressed(25)
    assert result.masked == (1, 2, 3, 6)
    assert dict(result.redacted) == {"openai key": 4}
    assert KEY not in result.to_json()
    assert json.dumps(holdfast.restore(result)) == json.dumps(TALK).replace(KEY, MASK)


def test_the_facts_survive_json():
    result = compressed(25)
    again = holdfast.CompressionResult.from_json(result.to_json())
    assert (again.masked, again.redacted) == (result.masked, result.redacted)
    assert holdfast.restore(again) == holdfast.restore(result)


@pytest.mark.parametrize("make", [TextStore, AwaitedTextStore])
def test_what_is_stored_is_the_masked_text_and_its_key_that_of_the_masked_text(make):
    store = make()
    result = holdfast.compress(TALK, 2_000, strategy=Shrink(), store=store, redact=True, secret="s")
    key = key_in(outputs(result)[0])
    assert holdfast.recall(key, store=store, secret="s") == TALK[3]["content"].replace(KEY, MASK)
    later = make()
    asyncio.run(
        holdfast.acompress(TALK, 2_000, strategy=Shrink(), store=later, redact=True, secret="s")
    )
    assert later.entries.keys() == store.entries.keys()


def test_even_a_strategy_that_saves_a_users_words_saves_them_masked():
    class Archive:
        name = "archive"

        def plan(self, transcript, allowance):
            self.key = yield from ask(Save(transcript.messages[1].content_text))
            return Plan((Drop((1,), "archived"),))

    store, archive = TextStore(), Archive()
    holdfast.compress(TALK, 100, strategy=[archive, "trim"], store=store, redact=True)
    assert holdfast.recall(archive.key, store=store) == f"Use {MASK} to send it."


def test_what_fits_is_left_as_it_is():
    result = compressed(100_000)
    assert all(now is was for now, was in zip(result.messages, TALK, strict=True))
    assert (result.masked, dict(result.redacted)) == ((), {})


def test_unasked_nothing_is_masked():
    result = holdfast.compress(TALK, 60)
    assert holdfast.restore(result) == TALK
    assert not result.masked


def test_the_report_counts_by_kind_and_does_not_promise_what_was_masked():
    text = holdfast.report(compressed(25))
    assert "secrets masked: 3 openai key" in text
    assert "come back exactly, but for the secrets masked in 4 of them" in text
    assert KEY not in text
    page = holdfast.report(compressed(25), "html")
    assert "but for the secrets masked in 4 of them" in page
    assert KEY not in page


def test_the_first_step_is_the_masking():
    first = compressed(2_000).steps[0]
    assert (first.name, first.reason, first.applied) == ("redact", "redacted", True)
    assert first.before == holdfast.count(TALK).total
    assert first.after == holdfast.count(list(first.messages)).total


def test_a_profile_can_ask_for_it_and_a_caller_can_refuse(tmp_path):
    path = tmp_path / "careful.toml"
    path.write_text('name = "careful"\nredact = true\n[[steps]]\nstrategy = "trim"\n')
    assert holdfast.compress(TALK, 60, profile=str(path)).masked
    assert not holdfast.compress(TALK, 60, profile=str(path), redact=False).masked
    with pytest.raises(holdfast.ConfigError, match="redact"):
        read_profile('name = "x"\nredact = "yes"')
    with pytest.raises(holdfast.ConfigError, match="redact"):
        holdfast.compress(TALK, 60, redact="yes")


def test_signed_thinking_is_never_changed_and_blocks_beside_it_are():
    thinking = {"type": "thinking", "thinking": f"I have {KEY}.", "signature": "c2lnbmVk"}
    messages = [
        user("Go."),
        {
            "role": "assistant",
            "content": [
                thinking,
                {"type": "tool_use", "id": "a", "name": "f", "input": {"k": KEY}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": f"{log()} {KEY}"}],
        },
    ]
    result = holdfast.compress(messages, 400, redact=True)
    blocks = result.messages[1]["content"]
    assert blocks[0] == thinking
    assert blocks[1]["input"] == {"k": MASK}
    assert result.masked == (1, 2)


def told_of_secrets(turns=12):
    """A talk in which everybody says secrets, of the kinds that a summary or a digest would
    repeat.
    """
    talk = []
    for n in range(turns):
        talk += [
            user(
                f"Deploy {n}: the key is {KEY}{n}, you must never use "
                f"password=hunter{n}Xq7 on db-{n}.example.org."
            ),
            *run(
                (
                    "bash",
                    {"command": f"login --token {KEY}{n}"},
                    f"host db-{n}.example.org\nkey {KEY}{n}\nok {n}",
                ),
                question=f"And then? My key {n} is {KEY}{n}x.",
            ),
            assistant(
                f"I decided to use {KEY}{n} for deploy {n}. It is done on db-{n}.example.org."
            ),
        ]
    return [m for m in talk if m["role"] != "system"] + [user("What is left to do?")]


def spilled(messages, given):
    """What of the secrets stands in a message that is none of a user as it was given."""
    others = [m for m in messages if not any(m is each for each in given if each["role"] == "user")]
    return [m for m in others if KEY in json.dumps(m) or "Xq7" in json.dumps(m)]


@pytest.mark.parametrize(
    "choice",
    [
        {"profile": "balanced"},
        {"profile": "fast"},
        {"profile": "four_step"},
        {"strategy": ["summarizing", "digest", "trim"]},
        {"strategy": ["semantic", "hierarchical", "trim"]},
        {"strategy": ["llm4s_history", "squeeze", "rules", "trim"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [0.7, 0.4, 0.2, 0.1])
@pytest.mark.parametrize("llm", [None, "model"])
def test_no_secret_of_anybody_is_told_again(choice, share, llm):
    messages, store = told_of_secrets(), TextStore()
    model = llm and Scripted(lambda prompt: f"They deployed. The last line was: {prompt[-300:]}")
    budget = int(holdfast.count(messages).total * share)
    result = holdfast.compress(
        messages, budget, redact=True, store=store, llm=model, thread="t", **choice
    )
    assert not spilled(result.messages, messages)
    assert not any(KEY in value or "Xq7" in value for value in store.entries.values())
    assert not any(
        KEY in call.prompt or "Xq7" in call.prompt for call in (model.calls if model else ())
    )
    again = holdfast.compress(
        result.messages, budget, redact=True, store=store, llm=model, thread="t", **choice
    )
    assert again.messages == result.messages


def test_a_summary_that_was_made_unmasked_is_masked_when_it_is_extended():
    messages, model = told_of_secrets(), Scripted(lambda prompt: f"They deployed: {prompt[-200:]}")
    options = {
        "llm": model,
        "store": TextStore(),
        "thread": "t",
        "strategy": ["summarizing", "trim"],
    }
    open_ = holdfast.compress(messages, 700, **options).messages
    assert spilled(open_, messages)
    more = [*open_, *(user(f"Go on with step {n}. " * 20) for n in range(12))]
    assert not spilled(holdfast.compress(more, 700, redact=True, **options).messages, more)


def test_notes_that_were_made_unmasked_are_masked_when_they_are_squeezed():
    messages = told_of_secrets()
    open_ = holdfast.compress(messages, 900, strategy=llm4s_history(2)).messages
    assert spilled(open_, messages)
    model = Scripted("They deployed to every host.")
    squeezed = holdfast.compress(
        open_, 500, redact=True, llm=model, strategy=Squeeze(cap_tokens=80)
    )
    assert squeezed.steps[-1].applied
    assert not spilled(squeezed.messages, messages)


def document(text):
    return {
        "type": "document",
        "source": {"type": "content", "content": [{"type": "text", "text": text}]},
    }


SEARCHED = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": KEY}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"url": f"https://a.example/?k={KEY}"}],
    },
]
UNREAD = [
    {"role": "user", "content": [document(f"{KEY} {log()}")]},
    {"role": "assistant", "content": SEARCHED},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": KEY, "signature": "c2lnbmVk"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "x", "citations": [{"cited_text": KEY}]}],
    },
]


@pytest.mark.parametrize(
    "message", UNREAD, ids=["document", "server tool", "signed thinking", "citation"]
)
def test_what_has_left_the_view_is_masked_even_in_parts_that_may_not_be_changed(message):
    messages = [user(f"Go. {log()}"), message, assistant(f"Done. {log()}"), user("And?")]
    result = holdfast.compress(messages, 60, format="anthropic", strategy="trim", redact=True)
    assert message not in result.messages
    assert KEY not in result.to_json()
    assert KEY not in holdfast.report(result, "html")
    assert result.masked == (1,)
    assert holdfast.restore(result) == json.loads(json.dumps(messages).replace(KEY, MASK))
    assert not result.detail


def test_what_was_masked_in_part_before_it_left_is_masked_in_every_step_and_counted_once():
    thinking = {"type": "thinking", "thinking": f"I have {KEY}.", "signature": "c2lnbmVk"}
    said = {
        "role": "assistant",
        "content": [thinking, {"type": "text", "text": f"It is {KEY}. {log()}"}],
    }
    talk = [user("Go."), said, assistant("So."), user("And?")]
    result = holdfast.compress(talk, 40, format="anthropic", strategy="trim", redact=True)
    assert [step.name for step in result.steps] == ["redact", "trim"]
    assert KEY not in result.to_json()
    assert dict(result.redacted) == {"openai key": 2}


def test_a_secret_in_view_that_may_not_be_masked_is_told():
    thinking = {"type": "thinking", "thinking": f"I have {KEY}.", "signature": "c2lnbmVk"}
    said = {"role": "assistant", "content": [thinking, *SEARCHED]}
    talk = [user(f"Go. {log()}"), assistant("Yes."), user("On."), said, user("And?")]
    result = holdfast.compress(talk, 200, format="anthropic", strategy="trim", redact=True)
    assert talk[3] in result.messages
    assert "secrets left in parts that may not be changed: 3 openai key" in result.detail


def test_a_secret_that_is_the_id_of_a_call_in_view_is_told():
    talk = [user(f"Go. {log()}"), assistant("Yes."), user("On."), calling(KEY), tool(KEY, "So.")]
    result = holdfast.compress(talk, 200, strategy="trim", redact=True)
    assert talk[3:] == result.messages[-2:]
    assert "secrets left in parts that may not be changed: 2 openai key" in result.detail


def test_values_of_any_depth_and_loops_are_walked_without_end():
    deep = [KEY]
    for _ in range(50_000):
        deep = [deep]
    masked, counts = masked_values({"deep": deep, "id": KEY})
    assert counts == {"openai key": 1}
    while isinstance(masked, dict | list):
        masked = masked["deep"] if isinstance(masked, dict) else masked[0]
    assert masked == MASK
    loop = {"text": "nothing"}
    loop["self"] = loop
    assert masked_values(loop)[0] is loop


class Asking:
    name = "asking"

    def __init__(self, request):
        self.request = request

    def plan(self, transcript, allowance):
        self.reply = yield from ask(self.request)
        return Plan((Drop((1,), "told"),))


def test_what_a_model_replies_has_no_secrets():
    options = {"llm": Scripted(f"Use {KEY}."), "redact": True}
    alone, later, many = (Asking(Complete("Tell.")) for _ in range(3))
    holdfast.compress(TALK, 100, strategy=[alone, "trim"], **options)
    asyncio.run(holdfast.acompress(TALK, 100, strategy=[later, "trim"], **options))
    holdfast.compress_many([TALK], 100, strategy=[many, "trim"], **options)
    assert {alone.reply, later.reply, many.reply} == {f"Use {MASK}."}
    open_ = Asking(Complete("Tell."))
    holdfast.compress(TALK, 100, strategy=[open_, "trim"], llm=options["llm"])
    assert open_.reply == f"Use {KEY}."


@pytest.mark.parametrize("strategy", ["hierarchical", "squeeze", "summarizing"])
def test_no_strategy_puts_a_secret_that_a_model_wrote_into_the_view(strategy):
    messages = [
        m for n in range(8) for m in (user(f"q{n} {log(20)}"), assistant(f"a{n} {log(20)}"))
    ]
    model = Scripted(f"The key was {KEY}, and they agreed to go on.")
    result = holdfast.compress(
        [*messages, user("And?")], 2_000, strategy=strategy, llm=model, redact=True
    )
    assert KEY not in result.to_json()


@pytest.mark.parametrize("redact", [True, False])
def test_a_session_masks_what_it_recalls_and_keeps_what_was_said(redact):
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": "read", "arguments": f'{{"token": "{secret}"}}'},
    }
    said = [
        {"role": "user", "content": "Read the settings of the zebra crossing."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": f"zebra = on\nkey = {secret}"},
        *(
            {"role": "user", "content": f"Row {n} of the garden has grown well this week."}
            for n in range(60)
        ),
    ]
    with holdfast.Session("t", budget=400, redact=redact) as session:
        session.append(*said)
        view = session.fit("Which key has the zebra crossing?")
        told = next(message["content"] for message in view.messages if "zebra = on" in str(message))
        assert ("Tool read(token [redacted " in told) is redact
        assert (secret in told) is not redact
        assert session.restore() == said
        assert all(secret not in session.report(form) for form in ("text", "html"))


@pytest.mark.parametrize("redact", [True, False])
@pytest.mark.parametrize("budget", [40, 8_000])
def test_a_report_masks_always_and_a_result_that_fits_says_that_nothing_was_masked(redact, budget):
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    said = [
        {"role": "user" if n % 2 else "assistant", "content": f"{n} {secret} " + "word " * 9}
        for n in range(9)
    ]
    result = holdfast.compress(said, budget, redact=redact)
    assert all(secret not in holdfast.report(result, form) for form in ("text", "html"))
    if budget == 8_000:
        assert secret in str(result.messages)
        assert "fits and is not changed" in holdfast.report(result)
        assert ("so no secret is masked" in holdfast.report(result)) == redact


@pytest.mark.parametrize(
    "secret", ["password=hunter2", "sk-a1B2c3D4e5F6g7H8i9J0k1L2", "card 4111 1111 1111 1111"]
)
def test_masks_alone_do_not_make_a_conversation_larger(secret):
    messages = [user("hi"), assistant(f"The {secret}."), user("ok?")]
    whole = holdfast.count(messages).total
    result = holdfast.compress(messages, whole - 1, redact=True, pin=[0, 1, 2])
    assert result.metrics.tokens_after <= whole
    assert secret[-6:] not in str(result.messages)
