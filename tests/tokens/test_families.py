from __future__ import annotations

import pytest
import tiktoken.model

from holdfast.tokens import family_of
from holdfast.tokens.families import STAND_INS, plain_name

MODELS = """
gpt-4o                                                   o200k_base     exact
gpt-4o-2024-11-20                                        o200k_base     exact
chatgpt-4o-latest                                        o200k_base     exact
openai/gpt-4o-mini                                       o200k_base     exact
azure/GPT-4o                                             o200k_base     exact
openai:gpt-4o-mini                                       o200k_base     exact
ft:gpt-4o-mini-2024-07-18:acme::abc123                   o200k_base     exact
openrouter/openai/gpt-4o:free                            o200k_base     exact
gpt-4.1-nano                                             o200k_base     exact
gpt-4.5-preview                                          o200k_base     exact
gpt-5                                                    o200k_base     exact
gpt-5.1-codex-max                                        o200k_base     exact
o1                                                       o200k_base     exact
o1-mini                                                  o200k_base     exact
o3                                                       o200k_base     exact
O4-MINI-2025-04-16                                       o200k_base     exact
openai.gpt-oss-120b-1:0                                  o200k_harmony  exact
ollama/gpt-oss:20b                                       o200k_harmony  exact
gpt-4                                                    cl100k_base    exact
gpt-4-turbo-2024-04-09                                   cl100k_base    exact
gpt-4-32k                                                cl100k_base    exact
gpt-3.5-turbo                                            cl100k_base    exact
azure/gpt-35-turbo-16k                                   cl100k_base    exact
ft:gpt-3.5-turbo:acme                                    cl100k_base    exact
text-embedding-3-large                                   cl100k_base    exact
text-embedding-ada-002                                   cl100k_base    exact
davinci-002                                              cl100k_base    exact
gpt-3                                                    r50k_base      approximate
davinci                                                  r50k_base      approximate
gpt2                                                     r50k_base      approximate
text-davinci-003                                         p50k_base      approximate
azure/my-gpt-4o-in-europe                                o200k_base     approximate
claude-3-sonnet                                          cl100k_base    approximate
claude-3-5-sonnet@20240620                               cl100k_base    approximate
anthropic/claude-opus-4-1                                cl100k_base    approximate
bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0     cl100k_base    approximate
arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-haiku-4-5 cl100k_base approximate
databricks-claude-sonnet-4                               cl100k_base    approximate
gemini/gemini-2.5-pro                                    o200k_base     approximate
vertex_ai/gemini-1.5-flash-002                           o200k_base     approximate
models/gemma-3-27b-it                                    o200k_base     approximate
ollama/llama2                                            cl100k_base    approximate
ollama/qwen3:8b                                          cl100k_base    approximate
ollama/deepseek-r1                                       cl100k_base    approximate
ollama/something-of-my-own                               cl100k_base    approximate
groq/llama-3.3-70b-versatile                             cl100k_base    approximate
together_ai/meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo  cl100k_base    approximate
meta.llama3-70b-instruct-v1:0                            cl100k_base    approximate
mistral/mistral-large-latest                             o200k_base     approximate
open-mixtral-8x22b                                       cl100k_base    approximate
codestral-latest                                         cl100k_base    approximate
Qwen/Qwen2.5-72B-Instruct                                cl100k_base    approximate
deepseek/deepseek-chat                                   o200k_base     approximate
deepseek.r1-v1:0                                         o200k_base     approximate
xai/grok-4                                               o200k_base     approximate
cohere/command-r-plus                                    o200k_base     approximate
amazon.nova-pro-v1:0                                     o200k_base     approximate
moonshot/kimi-k2-thinking                                o200k_base     approximate
zai/glm-4.6                                              o200k_base     approximate
MiniMax-M2                                               o200k_base     approximate
ibm/granite-3.3-8b-instruct                              cl100k_base    approximate
microsoft/phi-4                                          cl100k_base    approximate
accounts/fireworks/models/llama-v3p1-70b-instruct        cl100k_base    approximate
totally-made-up                                          cl100k_base    unknown
azure/production                                         cl100k_base    unknown
marco-o1                                                 cl100k_base    unknown
""".strip().splitlines()


@pytest.mark.parametrize("line", MODELS, ids=[line.split()[0] for line in MODELS])
def test_every_family_has_its_vocabulary_and_an_honest_accuracy(line):
    model, vocabulary, kind = line.split()
    family = family_of(model)
    assert (family.vocabulary, family.accuracy.kind) == (vocabulary, kind)
    assert family_of(model.upper()) == family


def test_exact_is_said_of_what_tiktoken_says_and_the_vocabularies_are_the_same():
    models = [*tiktoken.model.MODEL_TO_ENCODING, *tiktoken.model.MODEL_PREFIX_TO_ENCODING]
    for model in models:
        family = family_of(model + "2099-01-01" if model.endswith("-") else model)
        published = tiktoken.model.encoding_name_for_model(model)
        if published in ("o200k_base", "cl100k_base", "o200k_harmony"):
            assert (family.vocabulary, family.accuracy.kind) == (published, "exact"), model
        else:
            assert family.accuracy.kind != "exact", model


def test_no_model_at_all_is_approximate():
    assert [family_of(model).vocabulary for model in (None, "", " ")] == ["o200k_base"] * 3
    assert {family_of(model).accuracy.kind for model in (None, "", " ")} == {"approximate"}


def test_an_error_is_said_with_every_approximation_and_with_nothing_else():
    for line in MODELS:
        accuracy = family_of(line.split()[0]).accuracy
        match accuracy.kind:
            case "exact":
                assert accuracy.error == 0
            case "approximate":
                assert 0 < accuracy.error < 0.5
            case _:
                assert accuracy.error is None


def test_newer_claude_models_are_said_to_be_further_off_than_older_ones():
    older = [
        "claude-3-opus",
        "claude-3-7-sonnet",
        "claude-sonnet-4-20250514",
        "claude-opus-4-6",
        "claude-haiku-4-5",
    ]
    newer = [
        "claude-opus-4-7",
        "claude-opus-4.8",
        "claude-sonnet-5",
        "us.anthropic.claude-opus-5-5-v1:0",
    ]
    assert {family_of(model).accuracy.error for model in older} == {0.25}
    assert {family_of(model).accuracy.error for model in newer} == {0.42}


def test_every_vocabulary_that_is_named_can_be_counted():
    for line in MODELS:
        vocabulary = family_of(line.split()[0]).vocabulary
        assert STAND_INS.get(vocabulary, vocabulary) in ("o200k_base", "cl100k_base")


@pytest.mark.parametrize(
    "model", ["a" * 100_000, "a." * 50_000, "/" * 100_000, "gpt-" * 25_000, "-" * 100_000, "\ud800"]
)
def test_no_name_is_too_strange(model):
    assert family_of(model).accuracy.kind in ("approximate", "unknown")


def test_a_plain_name_is_what_the_vendor_calls_it():
    assert (
        plain_name("us-gov.anthropic.claude-3-haiku-20240307-v1:0")
        == "claude-3-haiku-20240307-v1:0"
    )
    assert plain_name(" openai:ft:GPT-4o:acme ") == "gpt-4o:acme"
    assert plain_name("gpt-4.1") == "gpt-4.1"
    assert plain_name("mistral:7b") == "mistral:7b"
