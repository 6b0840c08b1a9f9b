"""The proxy, over real HTTP."""

import gzip
import http.client
import json
import socket
import struct
import threading
import time
from urllib.parse import urlsplit

import httpx2
import pytest
import zstandard

import holdfast
from holdfast.formats import named
from holdfast.formats.convert import convert, described
from holdfast.kernel.errors import ConfigError
from holdfast.proxy import Settings
from holdfast.proxy.recalls import _alone
from tests.doors import talks
from tests.doors.provider import Provider
from tests.doors.proxies import post, proxy, raw_server

CHAT = "/v1/chat/completions"
CLAUDE = "/v1/messages?beta=true"
SECRET = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"


@pytest.fixture
def provider():
    with Provider() as found:
        yield found


@pytest.fixture
def address(provider):
    with proxy(provider.url) as found:
        yield found


def chat(rounds=30, **more):
    return {"model": "gpt-4o", "messages": talks.chat(rounds), **more}


def claude(rounds=30, **more):
    return {"model": "claude-opus-4-8", "max_tokens": 99, "messages": talks.claude(rounds), **more}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", talks.PATHS)
def test_what_does_not_fit_is_fitted_and_valid(provider, address, wire, stream):
    path, body = talks.request(wire, talks.chat(30), stream=stream)
    assert post(address + path, body).status_code == 200
    sent = provider.asked[0]
    assert (sent.path, sent.wire) == (path, wire)
    assert holdfast.validate(sent.body, provider=wire) == []
    model = talks.MODELS.get(wire, "gpt-4o")
    assert holdfast.count(sent.body, model=model, format=wire).total <= 8_000


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", talks.PATHS)
def test_a_refusal_for_length_is_answered_once_on_every_wire(provider, address, wire, stream):
    provider.longest = 8_000
    path, body = talks.request(wire, talks.chat(30), stream=stream)
    assert post(address + path, body).status_code == 200
    assert [len(each.raw) > 8_000 for each in provider.asked] == [True, False]
    assert holdfast.validate(provider.asked[1].body, provider=wire) == []


def test_what_fits_goes_through_byte_for_byte_with_its_headers(provider, address):
    raw = json.dumps(chat(1), indent=3).encode()
    answer = post(
        address + CHAT,
        raw,
        **{
            "anthropic-beta": "one,two",
            "x-title": "Café".encode(),
            "x-place": "Café".encode("latin-1"),
        },
    )
    sent = provider.asked[0]
    assert sent.headers["x-title"].encode("latin-1").decode() == "Café"
    assert sent.headers["x-place"].encode("latin-1").decode() == "Café"
    assert sent.raw == raw
    assert sent.headers["anthropic-beta"] == "one,two"
    assert sent.headers["authorization"] == "Bearer k"
    assert answer.headers["x-request-id"] == "req_1"
    assert not [name for name in sent.headers if "holdfast" in name]


def test_headers_that_are_of_one_connection_are_not_sent_on(provider, address):
    headers = {"connection": "Upgrade, HTTP2-Settings", "http2-settings": "AAMAAABk", "x-a": "b"}
    assert post(address + CHAT, chat(1), **headers).status_code == 200
    sent = {name.lower(): value for name, value in provider.asked[0].headers.items()}
    assert "http2-settings" not in sent
    assert sent["x-a"] == "b"


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("gzip, br;q=0.9, zstd", "gzip, zstd"), ("br", "identity"), ("gzip", "gzip")],
)
def test_a_conversations_answer_comes_in_a_coding_in_which_a_refusal_can_be_read(
    provider, address, accepted, sent
):
    post(address + CHAT, chat(1), **{"accept-encoding": accepted})
    assert provider.asked[0].headers["accept-encoding"] == sent
    httpx2.get(f"{address}/v1/models", headers={"accept-encoding": accepted})
    assert provider.seen[-1].headers["accept-encoding"] == accepted


def test_a_long_header_of_an_answer_is_passed_on():
    policy = b"x" * 20_000
    head = b"HTTP/1.1 200 OK\r\nx-policy: " + policy + b"\r\ncontent-length: 2\r\n\r\n{}"
    with raw_server(_lies(head)) as url, proxy(url) as address:
        answer = post(address + CHAT, chat(1))
    assert answer.status_code == 200
    assert answer.headers["x-policy"].encode() == policy


def test_a_name_of_the_thread_is_not_sent_on(provider, address):
    for body in (chat(1), chat(30)):
        post(address + CHAT, body, **{"x-holdfast-thread": "mine"})
    assert not [name for each in provider.asked for name in each.headers if "holdfast" in name]


@pytest.mark.parametrize("wire", [CHAT, CLAUDE])
def test_a_stream_comes_through_as_the_bytes_that_were_sent(provider, address, wire):
    body = {**(chat(1) if wire == CHAT else claude(1)), "stream": True}
    through = post(address + wire, body)
    direct = post(provider.url + wire, body)
    assert through.headers["content-type"] == "text/event-stream"
    assert through.text.replace("-1", "-2").replace("_1", "_2") == direct.text


@pytest.mark.parametrize(
    ("coding", "packed"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
def test_compressed_bodies_are_fitted_and_what_fits_stays_compressed(
    provider, address, coding, packed
):
    small = packed(json.dumps(chat(1)).encode())
    for raw in (small, packed(json.dumps(chat()).encode())):
        assert post(address + CHAT, raw, **{"content-encoding": coding}).status_code == 200
    first, second = provider.asked
    assert first.raw == small
    assert first.headers["content-encoding"] == coding
    assert "content-encoding" not in second.headers
    assert holdfast.count(second.body, model="gpt-4o").total <= 8_000


def test_count_endpoints_model_lists_and_uploads_pass_untouched(provider, address):
    counted = post(f"{address}/v1/messages/count_tokens", claude())
    assert counted.json()["input_tokens"] == 7
    assert provider.seen[-1].body == claude()
    assert httpx2.get(f"{address}/v1/models").json()["data"][0]["id"] == "gpt-4o"
    assert httpx2.head(f"{address}/").status_code == 200
    parts = (b"x" * 1_000 for _ in range(50))
    httpx2.post(f"{address}/v1/files", content=parts)
    assert provider.seen[-1].raw == b"x" * 50_000


def test_a_websocket_is_told_to_use_http(address):
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    connection.request("GET", "/v1/responses", headers=headers)
    assert connection.getresponse().status == 426
    connection.close()


def test_a_refusal_for_length_is_answered_once_by_fitting_harder(provider, address):
    provider.longest = 12_000
    assert post(address + CHAT, chat()).status_code == 200
    assert [len(each.raw) > 12_000 for each in provider.asked] == [True, False]
    post(address + CHAT, chat(31))
    assert len(provider.asked) == 3


def test_faults_of_the_provider_are_passed_on_as_they_are(provider, address):
    provider.busy = 1
    refused = post(address + CHAT, chat(1))
    assert refused.status_code == 429
    assert refused.headers["retry-after-ms"] == "5"
    assert refused.json() == {"error": {"type": "rate_limit_error", "message": "slow down"}}


def test_a_view_grows_at_its_end_from_request_to_request(provider, address):
    for rounds in (60, 61, 62):
        body = {"model": "gpt-4o", "messages": talks.chat(rounds, 8)}
        post(address + CHAT, body)
    one, two, three = (each.body["messages"] for each in provider.asked)
    assert two[: len(one)] == one
    assert three[: len(two)] == two


# What is wrong with a request


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        (CHAT, b"{no json at all" * 3_000),
        (CHAT, b'{"messages": "' + b"x" * 50_000 + b'"}'),
        ("/v7/strange/wire", json.dumps(chat()).encode()),
        (CHAT, b"[" * 100_000),
        (CHAT, b'{"model": "gpt-4o", "messages": [{"role": "user"}, 7, null]}' + b" " * 50_000),
    ],
)
def test_what_cannot_be_read_is_passed_by_for_the_provider_to_refuse(provider, address, path, raw):
    assert post(address + path, raw).status_code in (200, 400)
    assert provider.seen[-1].raw == raw


def test_a_body_of_two_hundred_megabytes_is_refused_in_one_line(provider, address):
    def parts():
        for _ in range(200):
            yield b" " * 1_000_000

    refused = None
    try:
        refused = httpx2.post(address + CHAT, content=parts(), timeout=60)
    except httpx2.WriteError:  # it was refused before all of it was sent
        return
    assert refused.status_code == 413
    assert (
        refused.json()["error"]["message"] == "holdfast: the body is longer than 64,000,000 bytes"
    )
    assert provider.seen == []


@pytest.mark.parametrize("length", ["100000", "5"])
def test_a_wrong_length_harms_nobody_else(provider, address, length):
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port)) as wrong:
        head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n"
        wrong.sendall(head.encode() + json.dumps(chat(1)).encode())
        wrong.shutdown(socket.SHUT_WR)
        wrong.settimeout(10)
        while wrong.recv(65_536):
            pass
    assert post(address + CHAT, chat(1)).status_code == 200
    assert not [each for each in provider.seen if each.body == chat(1)][1:]


@pytest.mark.parametrize("path", [CHAT, "/v1/completions"])
def test_a_client_that_goes_away_ends_the_request_upstream(provider, path):
    ended = threading.Event()

    def slow(connection):
        connection.recv(1_000_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n")
        connection.settimeout(20)
        if connection.recv(1) == b"":
            ended.set()

    with raw_server(slow) as url, proxy(url) as address:
        with httpx2.stream("POST", address + path, json=chat(1)) as stream:
            next(stream.iter_bytes())
        assert ended.wait(20)


# What is wrong with a provider


def test_a_provider_that_cannot_be_reached_is_one_line_that_clients_can_read():
    with proxy("http://127.0.0.1:9") as address:
        openai = post(address + CHAT, chat(1))
        anthropic = post(address + CLAUDE, claude(1))
    assert openai.status_code == anthropic.status_code == 502
    assert "could not be reached" in openai.json()["error"]["message"]
    assert anthropic.json()["type"] == "error"
    assert "\n" not in openai.json()["error"]["message"]


def _lies(head):
    def answer(connection):
        connection.recv(1_000_000)
        connection.sendall(head)

    return answer


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhalf",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        b"transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n",
    ],
)
def test_half_an_answer_stays_half_an_answer(head):
    with raw_server(_lies(head)) as url, proxy(url) as address:
        with pytest.raises(httpx2.RemoteProtocolError):
            post(address + CHAT, chat(1))
        assert httpx2.get(f"{address}/healthz").status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 999999 ?\r\n\r\n",
        b"HTTP/1.1 799 ?\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 101 ?\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\ncontent-length: 2\r\n\r\n{}",
    ],
)
def test_what_is_no_answer_is_told_in_one_line_without_a_key_in_the_address(head):
    path, body = talks.request("gemini", talks.chat(1))
    with raw_server(_lies(head)) as url, proxy(url) as address:
        told = post(f"{address}{path}?key={SECRET}", body)
        with httpx2.stream("GET", f"{address}/holdfast/events") as events:
            page = next(events.iter_bytes())
    assert told.status_code == 502
    assert "could not be reached" in told.json()["error"]["message"]
    assert SECRET not in told.text
    assert SECRET.encode() not in page


def test_a_provider_that_resets_the_connection_is_told_and_asked_once():
    asked = []

    def reset(connection):
        asked.append(connection.recv(1_000_000))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with raw_server(reset) as url, proxy(url) as address:
        assert post(address + CHAT, chat(1)).status_code == 502
    assert len(asked) == 1


# Stores, secrets, threads


def test_a_store_that_fails_does_not_keep_a_request_back(provider, tmp_path):
    class Broken:
        def get(self, key):
            raise OSError("the disk is gone")

        set = delete = get

    with proxy(provider.url, options={"store": Broken()}) as address:
        assert post(address + CHAT, chat()).status_code == 200
    sent = provider.asked[0]
    assert holdfast.validate(sent.body, provider="openai") == []


def test_where_secrets_cannot_be_masked_the_request_is_refused_in_one_line(provider):
    with proxy(provider.url, options={"redact": True}) as address:
        refused = post(address + CLAUDE, b"{{")
        masked = talks.chat(2)
        masked[-1]["content"] += f"\nAPI_KEY={SECRET}"
        assert post(address + CHAT, {"model": "gpt-4o", "messages": masked}).status_code == 200
    assert refused.status_code == 422
    assert "the request was not sent" in refused.json()["error"]["message"]
    assert SECRET.encode() not in provider.asked[-1].raw
    assert len(provider.seen) == 1


def test_no_key_is_in_the_store_the_figures_the_page_or_the_log(provider, tmp_path, caplog):
    file = tmp_path / "originals.db"
    with proxy(provider.url, options={"store": f"sqlite:///{file}"}) as address:
        post(address + CHAT, chat(), authorization=f"Bearer {SECRET}")
        post(address + CHAT, b"{" * 40_000, authorization=f"Bearer {SECRET}")
        with httpx2.stream("GET", f"{address}/holdfast/events") as events:
            told = next(events.iter_bytes())
        told += httpx2.get(f"{address}/metrics").content
    told += b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert SECRET not in caplog.text
    assert SECRET.encode() not in told
    assert b"gpt-4o" in told


def _reference(raw):
    import re

    return re.search(rb"original: ?([0-9]{12,})", raw)


def wide():
    """A conversation with one output that is too large: it is shortened, and names its original."""
    lines = "\n".join(
        f"2026-03-01 10:00:{i % 60:02} INFO worker {i} took {i * 37 % 911} ms" for i in range(1_500)
    )
    messages = talks.chat(1)
    messages[-1]["content"] = (
        lines + "\n2026-03-01 ERROR the lease of shard-77 is token-4711\n" + lines
    )
    return messages


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", talks.PATHS)
def test_the_model_gets_an_original_back_and_the_client_sees_nothing_of_it(
    provider, tmp_path, wire, stream
):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    path, body = talks.request(wire, wide(), stream=stream)
    with proxy(provider.url, options=options, recall=True) as address:
        post(address + path, body)
        first = provider.asked[0]
        key = _reference(first.raw)[1].decode()
        names = [name for name, _, _ in described(first.body["tools"])]
        assert names == ["read_log", "recall"]
        provider.calls.append(("recall", {"key": key, "pattern": "shard-77"}))
        answer = post(address + path, body)
    assert answer.status_code == 200
    assert "recall" not in answer.text
    last = provider.asked[-1]
    assert len(provider.asked) == 3
    assert b"token-4711" in last.raw
    messages = last.body[named(wire).key(last.body)]
    assert "token-4711" in str(messages[-1])
    assert holdfast.validate(last.body, provider=wire) == []


def test_a_refusal_for_length_is_answered_by_fitting_harder_also_where_originals_are_recalled(
    provider, tmp_path
):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    with proxy(provider.url, options=options, recall=True) as address:
        post(address + CHAT, {"model": "gpt-4o", "messages": wide()})
        key = _reference(provider.asked[0].raw)[1].decode()
        provider.longest = len(provider.asked[0].raw) - 1
        provider.calls.append(("recall", {"key": key, "pattern": "shard-77"}))
        answer = post(address + CHAT, {"model": "gpt-4o", "messages": wide()})
    assert answer.status_code == 200
    # the conversation is refused, then accepted; with what was recalled it may be refused again
    accepted = [len(each.raw) <= provider.longest for each in provider.asked]
    assert accepted[:3] == [False, False, True]
    assert accepted[-1]
    assert "recall" not in answer.text


@pytest.mark.parametrize("wire", talks.PATHS)
def test_calls_beside_that_of_an_original_are_left_for_the_model_to_make_again(wire):
    calls = [("a", "recall"), ("b", "read_log")]
    tools = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": "{}"}} for i, n in calls
    ]
    form = named(wire)
    asked = {"role": "user", "content": "Why?"}
    said = convert([asked, {"role": "assistant", "content": None, "tool_calls": tools}], wire)
    spoken = [m for m in form.read(said).messages if m.role == "assistant"]
    kept = [each for m in spoken if (each := _alone(form, m, frozenset({"a"})))]
    assert [c.name for m in form.read(kept).messages for c in m.calls] == ["recall"]


@pytest.mark.parametrize(
    ("wire", "beside"),
    [
        ("openai_responses", {"previous_response_id": "resp_1"}),
        ("openai_responses", {"background": True}),
        ("openai_chat", {"n": 2}),
        ("gemini", {"generationConfig": {"candidateCount": 2}}),
        ("gemini", {"tools": [{"google_search": {}}]}),
        ("openai_chat", {"tools": 7}),
    ],
)
def test_where_one_more_tool_would_change_the_request_none_is_offered(
    provider, tmp_path, wire, beside
):
    path, body = talks.request(wire, talks.chat(1))
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    with proxy(provider.url, options=options, recall=True) as address:
        post(address + path, {**body, **beside})
    assert provider.asked[0].body == {**body, **beside}


def test_threads_of_different_keys_never_see_each_others_originals(provider, tmp_path):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    with proxy(provider.url, options=options, recall=True) as address:
        body = {"model": "gpt-4o", "messages": wide()}
        mine = {"authorization": "Bearer mine", "x-holdfast-thread": "t"}
        yours = {"authorization": "Bearer yours", "x-holdfast-thread": "t"}
        post(address + CHAT, body, **mine)
        key = _reference(provider.asked[0].raw)[1].decode()
        for headers in (yours, mine):
            provider.calls.append(("recall", {"key": key, "pattern": "shard-77"}))
            post(address + CHAT, chat(1), **headers)
    said = [each.body["messages"][-1]["content"] for each in provider.asked[2::2]]
    assert "token-4711" not in said[0]
    assert "token-4711" in said[1]


# The proxy's own pages


def test_a_gateway_gets_as_many_messages_back_as_it_sent(provider, address):
    messages = wide()
    told = post(f"{address}/v1/compress", {"messages": messages, "model": "gpt-4o"}).json()
    with proxy(provider.url, options={"profile": "fast"}) as other:
        body = {"messages": messages, "model": "gpt-4o"}
        assert post(f"{other}/v1/compress", body).json()["messages"] == told["messages"]
    assert len(told["messages"]) == len(messages)
    assert told["tokens_after"] <= 8_000 < told["tokens_before"]
    assert told["compression_ratio"] < 1
    refused = post(f"{address}/v1/compress", {"messages": 7})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("holdfast: messages: ")


def test_half_of_a_character_breaks_neither_a_gateway_nor_the_page(address):
    body = {"messages": [{"role": "user", "content": "\ud83d"}], "model": "gpt\ud83d"}
    for path in ("/v1/compress", CHAT):
        told = post(address + path, json.dumps(body).encode())
        assert told.status_code == 200
    with httpx2.stream("GET", f"{address}/holdfast/events") as events:
        assert b"gpt" in next(events.iter_bytes())


def test_a_gateway_gets_an_original_back(provider, tmp_path):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    with proxy(provider.url, options=options) as address:
        told = post(f"{address}/v1/compress", {"messages": wide(), "model": "gpt-4o"})
        key = _reference(told.content)[1].decode()
        found = post(f"{address}/v1/retrieve/{key}", {}).json()
        assert "token-4711" in found["original_content"]
        assert post(f"{address}/v1/retrieve", {"hash": key}).json() == found
        stranger = post(f"{address}/v1/retrieve/{key}", {}, authorization="Bearer another")
        assert stranger.status_code == 404


def test_metrics_health_and_the_page(provider, address):
    post(address + CHAT, chat())
    assert httpx2.get(f"{address}/healthz").text == "ok\n"
    metrics = httpx2.get(f"{address}/metrics").text
    assert 'holdfast_requests_total{outcome="fitted"} 1.0' in metrics
    assert 'holdfast_provider_tokens_total{kind="read"} 10.0' in metrics
    page = httpx2.get(f"{address}/holdfast")
    assert "<title>Holdfast</title>" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    with httpx2.stream("GET", f"{address}/holdfast/events") as events:
        told = json.loads(next(events.iter_lines()).removeprefix("data: "))
    (row,) = told["rows"]
    assert row["after"] <= 8_000 < row["before"]
    assert told["net"] == row["before"] - row["after"]
    report = httpx2.get(f"{address}/holdfast/requests/{row['number']}")
    assert report.status_code == 200
    assert "shard" in report.text
    assert httpx2.get(f"{address}/holdfast/requests/99").status_code == 404


def test_the_page_of_a_result_escapes_what_messages_say(provider, address):
    messages = talks.chat(30)
    messages[1]["content"] = "<script>alert(1)</script>"
    post(address + CHAT, {"model": "gpt-4o<img src=x>", "messages": messages})
    report = httpx2.get(f"{address}/holdfast/requests/1").text
    assert "<script>alert(1)" not in report
    assert "innerHTML" not in httpx2.get(f"{address}/holdfast").text


def test_pages_of_elsewhere_cannot_ask_through_a_browser_here(address):
    for path in ("/holdfast", "/metrics", "/holdfast/events"):
        assert httpx2.get(address + path, headers={"host": "evil.example"}).status_code == 403


def test_where_others_can_reach_it_a_token_opens_the_pages(provider):
    with pytest.raises(ConfigError, match="can be reached by others; give a token"):
        Settings(host="0.0.0.0")
    with proxy(provider.url, token="open sesame") as address:
        assert httpx2.get(f"{address}/holdfast").status_code == 403
        page = httpx2.get(f"{address}/holdfast", params={"token": "open sesame"})
        assert page.status_code == 200
        assert "HttpOnly" in page.headers["set-cookie"]
        bearer = {"authorization": "Bearer open sesame"}
        assert httpx2.get(f"{address}/metrics", headers=bearer).status_code == 200
        assert post(address + CHAT, chat(1)).status_code == 200


def test_savings_count_what_the_prompt_cache_would_have_spared(provider, address):
    for rounds in (60, 61):
        post(address + CHAT, {"model": "gpt-4o", "messages": talks.chat(rounds, 8)})
    with httpx2.stream("GET", f"{address}/holdfast/events") as events:
        told = json.loads(next(events.iter_lines()).removeprefix("data: "))
    second, first = told["rows"]
    whole = first["before"] + second["before"] - 0.9 * first["before"]
    view = first["after"] + second["after"] - 0.9 * first["after"]
    assert told["net"] == round(whole - view)


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (b"", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
            b"1\r\n}\r\n0\r\n\r\n",
        ),
    ],
    ids=["whole", "stream"],
)
def test_requests_under_way_are_finished_when_it_stops(first, rest):
    begun, said = threading.Event(), []

    def slow(connection):
        connection.recv(1_000_000)
        connection.sendall(first)
        begun.set()
        time.sleep(0.3)
        connection.sendall(rest)

    with raw_server(slow) as url:
        with proxy(url) as address:
            asking = threading.Thread(
                target=lambda: said.append(post(address + CHAT, chat(1)).text)
            )
            asking.start()
            begun.wait(10)
        asking.join(10)
    assert said == ["{}"]


def test_as_many_connections_are_served_as_are_allowed(provider):
    with proxy(provider.url, connections=1) as address:
        assert post(address + CHAT, chat(1)).status_code == 200
