"""A request body made to fit, as every door does it."""

import gzip
import json
import re
import zlib
from time import monotonic

import pytest
import zstandard

import holdfast
from holdfast.formats.convert import convert
from holdfast.http import Budgets, Fitter, RequestRefusedError
from holdfast.http.fitter import Given
from holdfast.http.requests import Endpoint, endpoint_of, vendor_of
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError
from holdfast.stores.in_process import InProcessStore
from tests.doors import talks

CHAT = "/v1/chat/completions"
CLAUDE = "/v1/messages"
SECRET = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
CALLED = {"type": "function_call", "call_id": "c", "name": "env", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": f"GITHUB_TOKEN={SECRET}"}


def body_of(messages, **more):
    return json.dumps({"model": "gpt-4o", "messages": messages, **more}).encode()


def fitter(budget="8k", **options):
    return Fitter(Budgets(budget), options)


def total(body, **options):
    return holdfast.count(json.loads(body), **options).total


def test_a_body_within_the_budget_is_the_very_same():
    raw = body_of(talks.chat(1))
    fitted = fitter().fit(CHAT, raw)
    assert fitted.body is raw
    assert not fitted.changed


@pytest.mark.parametrize(
    ("path", "messages", "wire"),
    [(CHAT, talks.chat(30), "openai_chat"), (CLAUDE, talks.claude(30), "anthropic")],
)
def test_a_body_beyond_the_budget_is_fitted_and_valid(path, messages, wire):
    raw = body_of(messages, temperature=0.5, tools=[])
    fitted = fitter().fit(path, raw)
    sent = json.loads(fitted.body)
    assert fitted.changed
    assert total(fitted.body, model="gpt-4o", format=wire) == fitted.after <= 8_000 < fitted.before
    assert holdfast.validate(sent, provider=wire) == []
    assert sent["temperature"] == 0.5


@pytest.mark.parametrize("redact", [False, True])
@pytest.mark.parametrize("wire", talks.PATHS)
def test_half_of_a_character_does_not_keep_a_body_from_being_fitted(wire, redact):
    path, body = talks.request(wire, [*talks.chat(30), {"role": "user", "content": "\ud83d"}])
    fits = fitter(redact=redact)
    for _ in range(2):
        fitted = fits.fit(path, json.dumps(body).encode(), thread="\ud83d")
        assert not fitted.fault
        assert fitted.after <= 8_000 < fitted.before
        assert holdfast.validate(json.loads(fitted.body), provider=wire) == []


@pytest.mark.parametrize("wire", talks.PATHS)
def test_what_was_sent_stands_at_the_beginning_of_what_is_sent_next(wire):
    fits = fitter("10k")

    def sent(rounds):
        path, body = talks.request(wire, talks.chat(rounds))
        return fits.fit(path, json.dumps(body).encode()), body

    (first, _), (again, whole) = sent(30), sent(31)
    assert again.grown
    before, after = json.loads(first.body), json.loads(again.body)
    field = next(each for each in ("messages", "input", "contents") if each in after)
    assert after[field][: len(before[field])] == before[field]
    assert again.after <= 10_000
    model = talks.MODELS.get(wire, "gpt-4o")
    assert again.before == holdfast.count(whole, model=model, format=wire).total


def test_a_view_that_has_grown_to_the_budget_is_made_anew():
    fits = fitter()
    grown = [fits.fit(CHAT, body_of(talks.chat(n))) for n in range(20, 40)]
    assert {each.grown for each in grown} == {True, False}
    assert all(each.after <= 8_000 for each in grown)


def test_the_same_request_sent_again_is_fitted_alike():
    fits, raw = fitter(), body_of(talks.chat(30))
    assert fits.fit(CHAT, raw).body == fits.fit(CHAT, raw).body


def test_marks_of_what_is_to_be_cached_do_not_make_another_conversation_of_it():
    fits = fitter()
    fits.fit(CLAUDE, body_of(talks.claude(30)))
    marked = talks.claude(31)
    marked[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    marked[20]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert fits.fit(CLAUDE, body_of(marked)).grown


def test_conversations_of_different_owners_are_never_taken_for_one():
    fits, raw = fitter(), body_of(talks.chat(30))
    mine = fits.fit(CHAT, raw, owner="me")
    theirs = fits.fit(CHAT, raw, owner="you")
    assert not theirs.grown
    assert mine.thread != theirs.thread


def test_two_conversations_that_begin_alike_have_threads_of_their_own():
    fits = fitter()
    one = fits.fit(CHAT, body_of(talks.chat(30)))
    other = talks.chat(30)
    other[2]["tool_calls"][0]["function"]["arguments"] = '{"shard": 99}'
    assert fits.fit(CHAT, body_of(other)).thread != one.thread
    assert fits.fit(CHAT, body_of(talks.chat(31))).thread == one.thread


def in_two_frames(raw):
    frame = zstandard.ZstdCompressor().compress
    return frame(raw[:1_000]) + frame(raw[1_000:])


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("zstd", zstandard.ZstdCompressor().compress),
        ("zstd", in_two_frames),
    ],
)
def test_compressed_bodies_are_fitted_too(coding, packed):
    raw = body_of(talks.chat(30))
    assert fitter().fit(CHAT, packed(raw), coding).body == fitter().fit(CHAT, raw).body


@pytest.mark.parametrize(
    ("raw", "coding", "note"),
    [
        (b"{{{", "", "it is not JSON"),
        (body_of(talks.chat(30))[:-1] + b', "top_p": 1e400}', "", "1e400 is no number"),
        (body_of(talks.chat(30))[:-1] + b', "top_p": NaN}', "", "NaN is no number"),
        (b"[1]", "", "it is not a JSON object"),
        (b'{"messages": 7, "x": "' + b"y" * 9_000 + b'"}', "", ""),
        (b"not gzip" * 2_000, "gzip", "this is not gzip"),
        (b"x" * 9_000, "br", "the content coding 'br' is not known"),
        (gzip.compress(b" " * 70_000_000), "gzip", "it is longer than"),
    ],
)
def test_what_cannot_be_read_is_passed_by_as_it_was(raw, coding, note):
    fitted = Fitter(Budgets(1), {}).fit(CHAT, raw, coding)
    assert fitted.body is raw
    assert note in fitted.note


@pytest.mark.parametrize("wire", talks.PATHS)
def test_text_that_surely_fits_is_passed_by_without_counting_it_whatever_it_speaks_of(wire):
    messages = talks.chat(3)
    messages[-1]["content"] += (
        "\nwrote file.py, image.png and audio.mp3 from the document inlineData"
    )
    path, body = talks.request(wire, messages)
    fitted = fitter("100k").fit(path, json.dumps(body).encode())
    assert (fitted.note, fitted.before) == ("within the budget", 0)


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ("openai_chat", {"content": [{"type": "image_url", "image_url": {"url": "https://x/y"}}]}),
        ("openai_chat", {"content": [{"type": "file", "file": {"file_id": "file-1"}}]}),
        ("openai_chat", {"role": "assistant", "audio": {"id": "audio_1"}}),
        ("openai_responses", {"content": [{"type": "input_image", "file_id": "file-1"}]}),
        ("openai_responses", {"type": "item_reference", "id": "msg_1"}),
        (
            "anthropic",
            {"content": [{"type": "document", "source": {"type": "url", "url": "https://x/y"}}]},
        ),
        ("gemini", {"parts": [{"fileData": {"fileUri": "https://x/y"}}]}),
        ("gemini", {"parts": [{"inline_data": {"mime_type": "video/mp4", "data": "AAAA"}}]}),
    ],
)
def test_what_names_content_elsewhere_is_counted_however_short_it_is(wire, message):
    path, body = talks.request(wire, talks.chat(1))
    field = next(each for each in ("messages", "input", "contents") if each in body)
    body[field].append({"role": "user", **message})
    asked = Given(endpoint_of(path), json.dumps(body).encode())
    assert fitter("100k").at_once(asked) is None


def test_other_paths_are_passed_by():
    raw = body_of(talks.chat(30))
    for path in ("/v1/embeddings", "/v1/messages/count_tokens", "/v1/models", "/"):
        assert fitter().fit(path, raw).body is raw


@pytest.mark.parametrize(
    ("path", "vendor"),
    [
        ("/v1/messages", "anthropic"),
        ("/v1/messages/batches", "anthropic"),
        ("/v1/threads/thread_1/messages", "openai"),
        ("/v1/chat/completions/chatcmpl-1/messages", "openai"),
        ("/v1/models/gemini-2.5-pro:generateContent", "google"),
        ("/v1/models/ft:gpt-4o:acme:sorter:A1b2C3", "openai"),
    ],
)
def test_no_key_goes_to_another_vendor(path, vendor):
    assert vendor_of(path, {"authorization": "Bearer k"}) == vendor


def test_what_the_provider_keeps_is_passed_by():
    raw = body_of(talks.chat(30), previous_response_id="resp_1")
    assert fitter().fit(CHAT, raw).body is raw


def test_a_fault_sends_the_request_as_it_was_and_says_so(caplog):
    class Broken:
        name = "broken"
        accuracy = holdfast.count([{"role": "user", "content": "x"}]).accuracy

        def count(self, text):
            raise RuntimeError("out of order")

    raw = body_of(talks.chat(30))
    fitted = fitter(counter=Broken()).fit(CHAT, raw)
    assert fitted.body is raw
    assert fitted.fault
    assert "out of order" in fitted.note
    assert "out of order" in caplog.text


def test_where_secrets_are_masked_a_fault_refuses_the_request_in_one_line():
    with pytest.raises(
        RequestRefusedError, match="secrets cannot be masked: body: it is not JSON"
    ) as told:
        fitter(redact=True).fit(CHAT, b'{"messages": sk-1234567890')
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("profile", [{}, {"profile": "fast"}])
def test_secrets_are_masked_also_where_all_fits(profile):
    messages = talks.chat(1)
    messages[-1]["content"] += f"\nGITHUB_TOKEN={SECRET}"
    fitted = fitter(redact=True, **profile).fit(CHAT, body_of(messages))
    assert SECRET.encode() not in fitted.body
    assert fitted.changed
    assert json.loads(fitted.body)["messages"][1] == messages[1]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"input": [OUTPUT], "previous_response_id": "resp_1"}),
        ("/v1/responses", {"input": [CALLED, OUTPUT], "conversation": "conv_1"}),
        ("/v1/responses", {"input": [CALLED, OUTPUT], "model": "nobody-knows-it"}),
        ("/v1/responses/input_tokens", {"input": [CALLED, OUTPUT]}),
        ("/v1/responses/compact", {"input": [CALLED, OUTPUT]}),
        ("/v1/messages/count_tokens", convert([CALLED, OUTPUT], "anthropic")),
        ("/v1beta/models/gemini-2.5-pro:countTokens", convert([CALLED, OUTPUT], "gemini")),
    ],
)
def test_secrets_are_masked_also_in_what_is_not_fitted(path, body):
    raw = json.dumps({"model": "gpt-4o", **body}).encode()
    fitted = Fitter(Budgets(), {"redact": True}).fit(path, raw)
    sent = json.loads(fitted.body)
    assert SECRET.encode() in raw
    assert SECRET.encode() not in fitted.body
    assert fitted.changed
    assert {**sent, **body} == json.loads(raw)


@pytest.mark.parametrize("field", ["generateContentRequest", "generate_content_request"])
def test_secrets_are_masked_in_a_whole_request_that_gemini_counts(field):
    asked = {"model": "models/gemini-2.5-pro", **convert([CALLED, OUTPUT], "gemini")}
    raw = json.dumps({field: asked}).encode()
    path = "/v1beta/models/gemini-2.5-pro:countTokens"
    fitted = Fitter(Budgets(), {"redact": True}).fit(path, raw)
    assert SECRET.encode() in raw
    assert SECRET.encode() not in fitted.body
    assert json.loads(fitted.body)[field]["contents"][0] == asked["contents"][0]
    assert Fitter(Budgets(), {}).fit(path, raw).body is raw


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/v1/responses", {"previous_response_id": "resp_1"}),
        ("/v1/responses", {"conversation": "conv_1"}),
        ("/v1/responses/compact", {}),
    ],
)
def test_a_refusal_of_what_is_not_fitted_says_nothing_about_other_requests(path, more):
    refused = "This model's maximum context length is 128000 tokens. However, you requested 130000."
    fits = fitter("100k", redact=True)
    few = {"model": "gpt-4o", "input": [CALLED, OUTPUT]}
    sent = fits.fit(path, json.dumps({**few, **more}).encode())
    assert fits.fit_harder(sent, 400, refused) is None
    items = convert(talks.chat(30), "openai_responses")["input"]
    later = fits.fit("/v1/responses", json.dumps({**few, "input": items}).encode())
    assert not later.changed


@pytest.mark.parametrize("model", ["gpt-4o", "nobody-knows-it"])
def test_secrets_are_masked_also_in_a_decoded_body(model):
    body = {"model": model, "input": [CALLED, OUTPUT]}
    endpoint = Endpoint("openai_responses")
    sent = Fitter(Budgets(), {"redact": True}).fit_body(body, endpoint)
    assert SECRET not in str(sent)
    assert sent["input"][0] is CALLED
    assert Fitter(Budgets(), {}).fit_body(body, endpoint) is body


@pytest.mark.parametrize("messages", [7, {"0": {"role": "tool", "content": SECRET}}, [7]])
def test_where_secrets_are_masked_messages_that_cannot_be_read_are_refused(messages):
    with pytest.raises(RequestRefusedError, match="secrets cannot be masked: messages"):
        fitter(redact=True).fit(CHAT, body_of(messages))


@pytest.mark.parametrize(
    ("path", "body"),
    [(CHAT, {"messages": []}), (CHAT, {}), ("/v1/responses", {"input": "What is due?"})],
)
def test_where_secrets_are_masked_a_body_without_any_is_passed_by(path, body):
    raw = json.dumps(body).encode()
    assert fitter(redact=True).fit(path, raw).body is raw


def test_budgets_are_told_by_model_and_by_share_of_the_window():
    budgets = Budgets("32k", {"gpt-4o*": "50%", "local-*": 4_000, "Qwen/Qwen3*": 5_000})
    assert budgets.of("gpt-4o-mini", {}).tokens() == 64_000
    assert budgets.of("local-llama", {}).limit == 4_000
    assert budgets.of("Qwen/Qwen3-32B", {}).limit == 5_000
    assert budgets.of("gpt-5", {}).tokens() == 32_000
    assert Budgets().of("gpt-4o", {"max_tokens": 8_000}).tokens() == 120_000
    assert Budgets().of("nobody-knows-it", {}) is None


@pytest.mark.parametrize(
    ("size", "said", "tokens"),
    [
        ("40k", {}, 28_500),
        ("50%", {}, 46_500),
        (None, {}, 94_500),
        (None, {"max_tokens": 8_000}, 90_000),
        (Budget(limit=9_000), {}, 9_000),
    ],
)
def test_what_a_size_leaves_open_is_told_beside_it(size, said, tokens):
    budgets = Budgets(size, beside=Budget(headroom=0.25, reserve=2_000))
    assert budgets.of("gpt-4o", said).tokens() == tokens


def test_a_view_that_is_made_anew_leaves_room_to_grow_beside_what_is_fixed():
    tools = [{**talks.CHAT_TOOL, "n": n, "about": "a long text " * 150} for n in range(10)]
    fixed = total(body_of([{"role": "system", "content": "Be terse."}], tools=tools))
    fitted = fitter("8k").fit(CHAT, body_of(talks.chat(30), tools=tools))
    assert 3_000 < fixed < 5_000
    assert 0.6 * (8_000 - fixed) < fitted.after - fixed <= 0.76 * (8_000 - fixed)
    stated = fitter(Budget(limit=8_000, target=0.5)).fit(CHAT, body_of(talks.chat(30)))
    assert stated.after <= 4_000


def test_where_tokens_are_estimated_the_declared_error_stays_free():
    assert Budgets("100k").of("claude-sonnet-4-5", {}).tokens() == 75_000
    assert Budgets(Budget(limit=100_000, headroom=0.1)).of("claude-opus-4-8", {}).tokens() == 90_000


@pytest.mark.parametrize("size", ["many", "0%", "120%", "", 0, -5, 2.5])
def test_what_is_no_budget_is_one_line(size):
    with pytest.raises(ConfigError, match="budget: .*"):
        Budgets(size)


def test_a_refusal_for_length_is_answered_by_fitting_harder():
    fits, raw = fitter(), body_of(talks.chat(30))
    sent = fits.fit(CHAT, raw)
    refused = (
        "This model's maximum context length is 4000 tokens. However, your messages "
        "resulted in 7000 tokens."
    )
    smaller = fits.fit_harder(sent, 400, refused)
    takes = sent.after * 4_000 / 7_000
    assert smaller.after <= takes
    assert fits.fit(CHAT, body_of(talks.chat(31))).after <= takes
    assert fits.fit_harder(sent, 400, "unknown model") is None
    assert fits.fit_harder(sent, 500, refused) is None


def test_the_room_for_an_answer_that_is_too_long_does_not_shrink_what_others_get():
    fits, messages = fitter(), talks.chat(30)
    whole = fits.fit(CHAT, body_of(messages)).after
    refused = (
        "This model's maximum context length is 8192 tokens. However, you requested 10058 tokens "
        "(58 in the messages, 10000 in the completion)."
    )
    for _ in range(3):
        greedy = fits.fit(CHAT, body_of(messages[:1], max_tokens=10_000), owner="one")
        fits.fit_harder(greedy, 400, refused)
    assert fits.fit(CHAT, body_of(messages), owner="one").after == whole
    large = fits.fit(CHAT, body_of(messages, max_tokens=4_000), owner="two")
    told = f"maximum context length is 8000 tokens. You requested {large.after + 4_000} tokens"
    assert 2_000 < fits.fit_harder(large, 400, told).after < 4_000
    assert fits.fit(CHAT, body_of(messages, max_tokens=4_000), owner="two").after < 4_000
    other = [{"role": "system", "content": "Be brief."}, *messages[1:]]
    assert fits.fit(CHAT, body_of(other, max_tokens=4_000), owner="two").after < 4_000
    other[0] = {"role": "system", "content": "Be kind."}
    assert fits.fit(CHAT, body_of(other, max_tokens=1_000), owner="two").after == whole
    assert fits.fit(CHAT, body_of(messages, max_tokens=4_000), owner="three").after == whole


@pytest.mark.parametrize(
    "refused",
    ["Request exceeds the maximum size (request_too_large)", "Could not fit the context window"],
)
def test_a_refusal_that_states_no_limit_shrinks_no_other_conversation(refused):
    fits = fitter()
    other = [{"role": "system", "content": "Be brief."}, *talks.chat(30)]
    whole = fitter().fit(CHAT, body_of(other)).after
    images = fits.fit(CHAT, body_of(talks.chat(3)))
    assert fits.fit_harder(images, 413, refused).after < images.before
    assert fits.fit(CHAT, body_of(other)).after == whole


def test_a_limit_that_a_refusal_stated_is_asked_about_again_after_an_hour(monkeypatch):
    now = monotonic()
    monkeypatch.setattr("holdfast.http.fitter.monotonic", lambda: now)
    fits = fitter()
    other = [{"role": "system", "content": "Be brief."}, *talks.chat(30)]
    whole = fitter().fit(CHAT, body_of(other)).after
    refused = "The maximum context length is 4000 tokens. You requested 7000 tokens."
    fits.fit_harder(fits.fit(CHAT, body_of(talks.chat(30))), 400, refused)
    assert fits.fit(CHAT, body_of(other)).after < whole
    now += 3_601
    other[0] = {"role": "system", "content": "Be kind."}
    assert fits.fit(CHAT, body_of(other)).after == whole


def test_what_one_model_refuses_does_not_shrink_what_another_gets():
    fits, messages = fitter(), talks.chat(30)
    large = fits.fit(CHAT, body_of(messages))
    small = fits.fit(CHAT, body_of(messages, model="gpt-4"))
    refused = "This model's maximum context length is 2000 tokens, but you sent 7000 tokens."
    smaller = fits.fit_harder(small, 400, refused)
    assert smaller.after < large.after / 2
    again = fits.fit(CHAT, body_of(messages))
    assert again.grown
    assert again.body == large.body
    assert large.thread == small.thread == smaller.thread


def test_a_thread_that_continues_the_messages_of_another_has_originals_of_its_own():
    store = InProcessStore()
    fits = fitter(store=store)
    messages = holdfast.sample()
    fits.fit(CHAT, body_of(messages), thread="one")
    longer = [*messages, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "on"}]
    fitted = fits.fit(CHAT, body_of(longer), thread="two")
    keys = re.findall(r"\[original: (\w+)", fitted.body.decode())
    assert keys
    assert all(holdfast.recall(key, store=store, thread=fitted.thread) for key in keys)


def test_a_conversation_that_begins_like_another_is_the_same_thread_for_every_model():
    fits, one = fitter(), talks.chat(30)
    other = [*one[:-2], *talks.chat(34)[-6:]]
    fits.fit(CHAT, body_of(one))
    first = fits.fit(CHAT, body_of(other))
    assert fits.fit(CHAT, body_of(other, model="gpt-4")).thread == first.thread


def test_a_request_that_is_not_continued_is_not_when_it_was_fitted_harder_either():
    fits, messages = fitter(), talks.chat(30)
    large = fits.fit(CHAT, body_of(messages))
    more = {"role": "user", "content": "".join(f"What of shard {n}? " for n in range(200))}
    aside = fits.fit(CHAT, body_of([*messages, more]), aside=True)
    refused = "maximum context length is 9990 tokens, however you requested 10000 tokens"
    assert fits.fit_harder(aside, 400, refused).after < aside.after
    assert fits.fit(CHAT, body_of(messages)).body == large.body
