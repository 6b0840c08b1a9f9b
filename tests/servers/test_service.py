"""The file of a service: what it starts is started here, on servers of the tests."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.servers.programs import free_port

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose.yaml"


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load(COMPOSE.read_text())["services"]


def answer(url: str, body: object = None) -> bytes:
    """The answer, once the proxy is there; an error if it refuses."""
    sent = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer secret"}
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, sent, headers)) as told:
                return told.read()
        except urllib.error.HTTPError:
            raise
        except OSError:
            assert time.monotonic() < until, "the proxy is not ready"
            time.sleep(0.05)


def test_what_services_depend_on_and_keep_is_in_the_file(services):
    named = yaml.safe_load(COMPOSE.read_text())["volumes"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in named, name
    assert all("test" in services[name]["healthcheck"] for name in ("proxy", "postgres", "redis"))
    assert "--appendfsync always" in services["redis"]["command"]


def test_proxies_as_the_file_starts_them_share_what_they_keep(services, postgres_url, s3):
    (script,) = services["proxy"]["command"][2:]
    command = shlex.split(script.partition("exec holdfast ")[2].replace("$$", "$"))
    at = command.index("--store") + 1
    begun, _, artifacts = command[at].partition("?artifacts=")
    assert begun == "postgresql://holdfast:$POSTGRES_PASSWORD@postgres/holdfast"
    assert artifacts == quote("s3://holdfast/artifacts", safe="")
    command[at] = f"{postgres_url}?artifacts={quote('s3://bucket/service', safe='')}"
    command[command.index("--token") + 1] = "secret"
    command[command.index("--host") + 1] = "127.0.0.1"
    given = services["proxy"]["environment"]
    wanted = {"AWS_ENDPOINT", "AWS_ALLOW_HTTP", "AWS_REGION", "AWS_ACCESS_KEY_ID"}
    assert wanted | {"AWS_SECRET_ACCESS_KEY"} <= set(given)
    environment = {
        **os.environ,
        **{name: str(given[name]) for name in wanted},
        "AWS_ENDPOINT": s3.endpoint,
        "AWS_SECRET_ACCESS_KEY": "test",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    proxies, ports = [], [free_port(), free_port()]
    try:
        for port in ports:
            command[command.index("--port") + 1] = str(port)
            run = [sys.executable, "-m", "holdfast", *command]
            proxies.append(subprocess.Popen(run, env=environment, stderr=subprocess.DEVNULL))
        one, two = (f"http://127.0.0.1:{port}" for port in ports)
        assert answer(f"{one}/healthz") == b"ok\n"
        assert b"holdfast" in answer(f"{two}/metrics")
        output = "\n".join(f"line {n}: host-{n % 7} has port {n * 13}" for n in range(12_000))
        call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": "Read the log."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": output},
            {"role": "user", "content": "Which port has host-3?"},
        ]
        told = json.loads(answer(f"{one}/v1/compress", {"messages": messages, "model": "gpt-4o"}))
        text = told["messages"][2]["content"]
        assert len(text) < len(output)
        proxies[0].kill()
        key = re.findall(r"original: ?([0-9]{12,})", text)[0]
        found = json.loads(answer(f"{two}/v1/retrieve/{key}", {}))
        assert found["original_content"] == output
    finally:
        for proxy in proxies:
            proxy.kill()
            proxy.wait()
