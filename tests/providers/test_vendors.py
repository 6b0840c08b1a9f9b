"""The vendors' own packages, over HTTP against a server that speaks their wires: what is sent,
and what faults mean.
"""

import asyncio
import json

import pytest
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiProviderNameValues

from holdfast.calls.caller import Caller
from holdfast.calls.lineup import CallLimits, Lineup
from holdfast.kernel.errors import ConfigError, ContextOverflowError, ModelError
from holdfast.kernel.ports import Complete, Embed, Reply
from holdfast.model_usage import CallRecords
from holdfast.providers import open_embedder, open_model
from holdfast.providers.openai import OpenAIEmbedder, OpenAIModel
from holdfast.providers.vendor import TransientError


def test_a_model_sends_prompt_and_instructions_and_returns_text_and_usage(vendors, model):
    reply = model.complete("the question", system="the rules", max_tokens=77)
    assert isinstance(reply, Reply)
    assert reply.text == "the reply"
    assert (reply.input_tokens, reply.output_tokens) == (11, 5)
    sent = json.dumps(vendors.requests)
    assert all(word in sent for word in ("the question", "the rules", "77"))


def test_no_instructions_are_sent_where_there_are_none(vendors, model):
    model.complete("the question")
    assert "system" not in json.dumps(vendors.requests).lower()


def test_an_embedder_returns_the_vectors_in_the_order_of_the_texts(vendors, embedder):
    assert embedder.embed(["one", "three"]) == [[3.0, 1.0, 0.5], [5.0, 1.0, 0.5]]
    assert len(vendors.requests) == 1


def test_an_empty_text_is_embedded_too(embedder):
    assert len(embedder.embed(["", "one"])) == 2


@pytest.mark.parametrize("fault", ["busy", "broken", "cut", "malformed", "strange"])
def test_what_may_pass_is_told_apart_and_asked_for_once(vendors, model, fault):
    vendors.faults.append(fault)
    with pytest.raises(TransientError):
        model.complete("the question")
    assert len(vendors.requests) == 1
    assert model.complete("the question").text == "the reply"


def test_a_server_that_does_not_answer_in_time_may_answer_later(vendors):
    vendors.faults.append("hang")
    hasty = OpenAIModel("a-model", base_url=vendors.base("openai"), timeout=0.1)
    with pytest.raises(TransientError, match="could not be reached"):
        hasty.complete("the question")


def test_nobody_there_is_told_in_one_line(vendors, model):
    vendors.close()
    with pytest.raises(TransientError, match="could not be reached") as told:
        model.complete("the question")
    assert "\n" not in str(told.value)


def test_a_refusal_for_good_is_no_fault_that_may_pass(vendors, model):
    vendors.faults.append("refused")
    with pytest.raises(ModelError, match="this key is not known") as told:
        model.complete("the question")
    assert not isinstance(told.value, TransientError)


def test_a_context_that_is_too_long_is_one_error_with_its_figures(vendors, model):
    vendors.faults.append("long")
    with pytest.raises(ContextOverflowError) as told:
        model.complete("the question")
    assert (told.value.limit, told.value.size) == (8192, 9000)


def test_a_busy_vendor_is_waited_for_as_long_as_it_asks(vendors, model):
    vendors.headers = {"retry-after": "7"}
    vendors.faults.append("busy")
    with pytest.raises(TransientError, match="asks to wait 7 s") as told:
        model.complete("the question")
    assert told.value.retry_after == 7


def test_other_servers_are_asked_in_the_words_that_they_know(vendors):
    OpenAIModel("llama", base_url=vendors.base("openai")).complete("the question", max_tokens=9)
    assert vendors.requests[0]["max_tokens"] == 9
    assert "max_completion_tokens" not in vendors.requests[0]


def test_models_are_opened_by_name_with_what_the_environment_says(vendors, monkeypatch):
    for vendor, variable in (
        ("openai", "OPENAI"),
        ("anthropic", "ANTHROPIC"),
        ("gemini", "GEMINI"),
    ):
        monkeypatch.setenv(f"{variable}_API_KEY", "a-key")
        name = "GOOGLE_GEMINI_BASE_URL" if vendor == "gemini" else f"{variable}_BASE_URL"
        monkeypatch.setenv(name, vendors.base(vendor))
        assert open_model(f"{vendor}:a-model").complete("the question").text == "the reply"
    assert open_embedder("openai:").embed(["one"]) == [[3.0, 1.0, 0.5]]
    assert vendors.requests[-1]["model"] == "text-embedding-3-small"


@pytest.mark.parametrize("text", ["a" * 9_000, "検査" * 4_500, "x" + "🎉" * 4_000])
def test_a_text_that_is_embedded_is_cut_to_what_the_models_accept_in_any_script(vendors, text):
    OpenAIEmbedder(base_url=vendors.base("openai")).embed([text, ""])
    (sent, nothing), most = vendors.requests[-1]["input"], 8_000
    assert text.startswith(sent)
    assert most - 4 < len(sent.encode()) <= most, "a token has at least one byte"
    assert nothing == " "


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_a_missing_key_and_a_missing_name_are_told_with_what_to_do(monkeypatch, vendor):
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match=r"there is no key.*set [A-Z]+_API_KEY"):
        open_model(f"{vendor}:a-model")
    with pytest.raises(ConfigError, match=rf"no name.*{vendor}:"):
        open_model(vendor)


def test_every_call_names_its_provider_as_the_conventions_do(vendors, model, embedder):
    lineup = Lineup(len, model, embedder, limits=CallLimits(retries=0))
    vendors.faults.append("refused")
    records = CallRecords()
    asked = [(Complete("a"), records), (Complete("b"), records), (Embed(("c",)), records)]
    asyncio.run(Caller(lineup).together(asked))
    known = {each.value for each in GenAiProviderNameValues}
    assert {call.provider for call in records.calls} <= known
    assert [bool(call.fault) for call in records.calls].count(True) == 1
    assert len(records.calls) == 3
