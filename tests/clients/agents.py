"""Claude Code, Codex and opencode through ``holdfast run``: forty tool calls in a window that
holds a few.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.tokens import counter_for
from tests.doors import talks
from tests.doors.provider import Provider

ROUNDS = 40
LEASES = (3, 17, 31)
PROMPT = "Read every log. Which tokens have the leases of " + ", ".join(
    f"shard-{n:02}" for n in LEASES
)


def client(name):
    """The program, as npm installed it."""
    found = shutil.which(
        name, path=os.pathsep.join([".node/node_modules/.bin", os.environ["PATH"]])
    )
    assert found, f"{name} is not installed: run `make test-doors`"
    return str(Path(found).absolute())


@pytest.fixture
def place(tmp_path):
    """A home and a folder of logs."""
    (tmp_path / "home").mkdir()
    logs = tmp_path / "logs"
    logs.mkdir()
    for n in range(ROUNDS + 2):
        (logs / f"{n}.log").write_text(talks.output(n))
    return tmp_path


def run(place, provider, budget, *command, options=()):
    environment = {
        **os.environ,
        "HOME": str(place / "home"),
        "PWD": str(place / "logs"),  # opencode looks there
        "PYTHONPATH": str(Path("src").absolute()),
        "ANTHROPIC_BASE_URL": provider.url,
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    holdfast_run = [sys.executable, "-m", "holdfast", "run", "--budget", budget, *options, "--"]
    done = subprocess.run(
        [*holdfast_run, *command],
        env=environment,
        cwd=place / "logs",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def error_of(provider):
    """What is left free of a budget: the share by which tokens of the model may be miscounted."""
    return counter_for(provider.asked[-1].body["model"]).accuracy.error


def check(provider, limit):
    """Every request that the provider saw is valid and within the budget; the facts are there."""
    asked = provider.asked
    assert len(asked) > ROUNDS
    for each in asked:
        model, wire = each.body["model"], each.wire
        assert holdfast.count(each.body, model=model, format=wire).total <= limit
        wrong = holdfast.validate(each.body, provider=wire)
        # Claude Code says `system` among the messages, as Anthropic takes it from no one else
        assert [each for each in wrong if each.rule != "roles_known"] == []
    last = asked[-1].raw.decode()
    assert {n for n in LEASES if f"token-{n * 7919}" in last} == set(LEASES)


def claude(place, provider, *options):
    told = run(
        place,
        provider,
        "32k",
        client("claude"),
        "-p",
        PROMPT,
        "--output-format",
        "json",
        "--dangerously-skip-permissions",
        options=options,
    )
    return json.loads(told)


def test_claude_code_ends_a_run_of_forty_calls(place):
    with Provider(rounds=ROUNDS, tool="Read") as provider:
        provider.arguments = lambda n: {"file_path": str(place / "logs" / f"{n}.log")}
        assert claude(place, provider)["result"] == "fine"
    check(provider, 32_000 * (1 - error_of(provider)))


def test_claude_code_knows_nothing_of_an_original_that_its_model_gets_back(place):
    wide = "\n".join(talks.output(n % 60) for n in range(9))
    (place / "logs" / "wide.log").write_text(wide)
    file = str(place / "logs" / "wide.log")
    keys = []

    def turn(n, body):
        """Reads the log, works on, then asks for what was cut out of it."""
        found = re.search(r"original: ?(\d{12,})", json.dumps(body["messages"]))
        if found and not keys:
            keys.append(found[1])
            return "recall", {"key": found[1], "pattern": "shard-04"}
        if n < 6:
            return "Read", {"file_path": file, "offset": 1, "limit": 600}
        return None

    with Provider(turn=turn) as provider:
        store = f"sqlite:///{place}/originals.db"
        assert claude(place, provider, "--store", store, "--recall")["result"] == "fine"
    assert keys
    answered = [
        each for each in provider.asked if "token-31676" in json.dumps(each.body["messages"][-1])
    ]
    assert answered


def test_codex_ends_a_run_of_forty_calls(place):
    with Provider(rounds=ROUNDS, tool="exec_command") as provider:
        provider.arguments = lambda n: {"cmd": f"cat {place}/logs/{n}.log"}
        said = run(
            place,
            provider,
            "32k",
            client("codex"),
            "exec",
            "-m",
            "gpt-5",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            PROMPT,
        )
        assert said.strip().endswith("fine")
    check(provider, 32_000)


def test_opencode_ends_a_run_of_forty_calls(place):
    model = {"name": "gpt-4o", "limit": {"context": 1_000_000, "output": 8_000}}
    options = {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "k"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"gpt-4o": model}}
    settings = {"provider": {"local": provider}, "autoupdate": False, "permission": "allow"}
    (place / "logs" / "opencode.json").write_text(json.dumps(settings))
    with Provider(rounds=ROUNDS, tool="read") as provider:
        provider.arguments = lambda n: {"filePath": str(place / "logs" / f"{n}.log")}
        said = run(place, provider, "32k", client("opencode"), "run", "-m", "local/gpt-4o", PROMPT)
        assert said.strip().endswith("fine")
    check(provider, 32_000)


def test_the_inspector_of_mcp_lists_and_calls_the_tools(place):
    def inspected(*words):
        server = [sys.executable, "-m", "holdfast", "mcp", "--store", f"sqlite:///{place}/t.db"]
        command = [client("mcp-inspector"), "--cli", *server, *words]
        environment = {
            **os.environ,
            "HOME": str(place / "home"),
            "PYTHONPATH": str(Path("src").absolute()),
        }
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        return json.loads(done.stdout)

    with holdfast.Session("t", store=f"sqlite:///{place}/t.db") as session:
        session.append({"role": "user", "content": "We use port 8443 for the gateway."})
    tools = inspected("--method", "tools/list")["tools"]
    assert {each["name"] for each in tools} >= {"recall", "search", "stats", "remember"}
    asked = ["--tool-name", "search", "--tool-arg", "query=which port?", "--tool-arg", "thread=t"]
    found = inspected("--method", "tools/call", *asked)
    assert "8443" in found["content"][0]["text"]
