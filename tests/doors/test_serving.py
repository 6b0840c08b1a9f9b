"""``holdfast serve`` and ``holdfast run``, as processes."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

import holdfast
from holdfast.cli import main
from holdfast.cli.serve import _arguments
from holdfast.kernel.errors import ConfigError
from holdfast.proxy import Settings
from tests.doors import talks
from tests.doors.provider import Provider
from tests.doors.proxies import post, proxy

CHAT = "/v1/chat/completions"
HOLDFAST = [sys.executable, "-m", "holdfast"]


@pytest.fixture
def provider():
    with Provider() as found:
        yield found


@contextmanager
def serve(*options):
    command = [*HOLDFAST, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        line = running.stderr.readline()
        try:
            yield line.split("listens on ")[1].split(";")[0], running
        finally:
            running.kill()


def test_serve_says_where_it_listens_fits_and_ends_in_order(provider):
    with serve("--upstream", provider.url, "--budget", "8k") as (address, running):
        body = {"model": "gpt-4o", "messages": talks.chat(30)}
        assert post(address + CHAT, body).status_code == 200
        assert httpx2.get(f"{address}/healthz").text == "ok\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) in (0, -signal.SIGTERM)
    assert len(provider.asked[0].raw) < len(json.dumps(body)) / 2


ASKS = """
import openai, os, sys
sys.path.insert(0, os.getcwd())
from tests.doors import talks
messages = talks.chat(30)
with openai.OpenAI(api_key="k") as client:
    answer = client.chat.completions.create(model="gpt-4o", messages=messages)
    print(answer.choices[0].message.content)
sys.exit(7)
"""


def test_run_stands_beside_a_program_and_ends_with_its_code(provider):
    command = [*HOLDFAST, "run", "--budget", "8k", "--", sys.executable, "-c", ASKS]
    environment = {**os.environ, "OPENAI_BASE_URL": f"{provider.url}/v1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("fine\n", 7), done.stderr
    assert len(provider.asked[0].body["messages"]) < len(talks.chat(30))


@pytest.mark.parametrize(
    ("held", "then"), [("", "127.0.0.1"), ("a.example", "a.example,127.0.0.1"), ("*", "*")]
)
def test_a_program_that_is_run_goes_to_the_proxy_beside_it_and_through_no_other(held, then):
    asks = "import os; print(os.environ['no_proxy'], os.environ['NO_PROXY'])"
    command = [*HOLDFAST, "run", "--budget", "8k", "--", sys.executable, "-c", asks]
    environment = {**os.environ, "NO_PROXY": held, "no_proxy": ""}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == f"{then} {then}\n", done.stderr


def test_the_configuration_says_what_the_command_line_does_not(provider, tmp_path):
    file = tmp_path / "holdfast.toml"
    file.write_text('model = "gpt-4"\n[budget]\nlimit = 8000\n')
    with serve("--upstream", provider.url, "--config", str(file)) as (address, _):
        post(address + CHAT, {"model": "gpt-4o", "messages": talks.chat(30)})
    assert holdfast.count(provider.asked[0].body, model="gpt-4o").total <= 8_000


def test_a_budget_of_the_command_line_keeps_the_rest_of_the_configured_one(provider, tmp_path):
    file = tmp_path / "holdfast.toml"
    file.write_text("[budget]\nlimit = 20000\nreserve = 2000\nheadroom = 0.25\n")
    options = ("--upstream", provider.url, "--config", str(file), "--budget", "10k")
    with serve(*options) as (address, _):
        post(address + CHAT, {"model": "gpt-4o", "messages": talks.chat(30)})
    assert holdfast.count(provider.asked[0].body, model="gpt-4o").total <= 6_000


def test_codex_is_told_in_its_own_way():
    told = _arguments(["codex", "exec", "do it"], "http://127.0.0.1:1")
    assert told[-2:] == ["exec", "do it"]
    assert 'model_providers.holdfast.base_url="http://127.0.0.1:1/v1"' in told
    assert _arguments(["python", "app.py"], "http://127.0.0.1:1") == ["app.py"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["serve", "--budget", "many"],
            "holdfast: --budget: 'many' is not a budget; give one such as 32k",
        ),
        (["serve", "--budget-for", "gpt-4o"], "holdfast: --budget-for: 'gpt-4o' names no model"),
        (["serve", "--recall"], "holdfast: --store: recall needs a place for originals"),
        (["serve", "--host", "0.0.0.0"], "holdfast: --token: 0.0.0.0 can be reached by others"),
        (
            ["serve", "--upstream", "nowhere"],
            "holdfast: --upstream: 'nowhere' is not an address; "
            "give one such as https://api.openai.com or openai=URL",
        ),
        (
            ["serve", "--store", "memory://"],
            "holdfast: --store memory://: memory is lost when the command ends",
        ),
        (["run", "--", "no-such-program"], "holdfast: no-such-program: there is no such program"),
    ],
)
def test_what_a_person_gets_wrong_is_one_line(arguments, line, capsys):
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith(line)
    assert told.count("\n") == 1


def test_a_port_that_is_taken_is_one_line(provider, capsys):
    port = provider.url.rpartition(":")[2]
    assert main(["serve", "--port", port]) == 2
    assert "it cannot be listened on" in capsys.readouterr().err


def test_too_long_a_body_is_told_as_such_on_the_proxys_own_pages_too(provider):
    with proxy(provider.url, most_bytes=1_000) as address:
        refused = post(f"{address}/v1/compress", {"messages": talks.chat(3)})
    assert refused.status_code == 413
    assert refused.json()["error"]["message"] == "holdfast: the body is longer than 1,000 bytes"


def test_a_proxy_of_the_environment_may_be_named_without_its_scheme(monkeypatch):
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "inside.example:3128")
    assert Settings().proxies()["openai"] == "http://inside.example:3128"


def test_settings_that_cannot_work_are_one_line():
    with pytest.raises(ConfigError, match="store: recall needs a place for originals; name one"):
        Settings(recall=True)
    with pytest.raises(ConfigError, match="upstream: 'example.com' is not an address"):
        Settings(upstreams={"openai": "example.com"})
    with pytest.raises(ConfigError, match="connections: 0 is too little"):
        Settings(connections=0)
