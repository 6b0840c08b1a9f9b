"""``holdfast mcp`` through MCP's own client, over standard streams and over HTTP."""

import asyncio
import os
import re
import socket
import subprocess
import sys
import time

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import holdfast
from holdfast.cli import main
from tests.doors import talks

COMMAND = ["-m", "holdfast", "mcp"]


@pytest.fixture
def kept(tmp_path):
    """A store with a conversation in it, and a large file beside it."""
    store = f"sqlite:///{tmp_path}/agent.db"
    with holdfast.Session("t", store=store) as session:
        session.append(*talks.chat(3))
        session.append({"role": "user", "content": "We use port 8443 for the gateway."})
        session.append({"role": "assistant", "content": "error: no route to the gateway"})
    (tmp_path / "build.txt").write_text("".join(f"error: {n:x} is missing\n" for n in range(700)))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    (tmp_path / "big.log").write_text("\n".join(talks.output(n) for n in range(30)))
    return store


def stdio(store, folder):
    arguments = [*COMMAND, "--store", store, "--thread", "t", "--root", str(folder)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return stdio_client(
        StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    )


async def used(client):
    """What the tools say: text by tool, and whether a call was wrong."""
    said = {"tools": sorted(tool.name for tool in (await client.list_tools()).tools)}

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        assert result.structured_content is None
        return result.is_error, result.content[0].text

    said["file"] = await call("compress_file", path="big.log", tokens=300, query="shard-07")
    key = re.search(r"original: (\d+)", said["file"][1])[1]
    said["recall"] = await call("recall", key=key, pattern="shard-21")
    said["build"] = await call("compress_file", path="build.txt", tokens=100)
    build = re.search(r"original: (\d+)", said["build"][1])[1]
    said["recalled error"] = await call("recall", key=build, offset=0)
    said["said error"] = await call("search", message=9)
    said["empty note"] = await call("remember", text=" ")
    said["search"] = await call("search", query="which port has the gateway?")
    said["whole"] = await call("search", message=5)
    said["stats"] = await call("stats")
    said["remember"] = await call("remember", text="The gateway is mine.")
    said["no such key"] = await call("recall", key="12345678901234567890")
    said["another thread"] = await call("search", query="port", thread="nobody")
    said["its note"] = await call("remember", text="Pay to 7731.", thread="nobody")
    said["the store"] = await call("compress_file", path="agent.db")
    said["its original"] = await call("recall", key=key, thread="nobody")
    said["elsewhere"] = await call("compress_file", path="../../../etc/passwd")
    said["no such file"] = await call("compress_file", path="none.log")
    said["no path"] = await call("compress_file", path="a\0b")
    said["long path"] = await call("compress_file", path="x" * 5_000)
    said["pipe"] = await call("compress_file", path="pipe")
    return said


def check(said):
    assert said["tools"] == ["compress_file", "recall", "remember", "search", "stats"]
    assert said["file"][0] is False
    assert said["file"][1].startswith("[log: ")
    assert "token-166299" in said["recall"][1]
    assert said["recalled error"][0] is False
    assert said["recalled error"][1].startswith("error: 0 is missing\n")
    assert said["said error"] == (False, "error: no route to the gateway")
    assert "8443" in said["search"][1]
    assert '"messages": 10' in said["stats"][1]
    assert said["remember"] == (False, "It is kept in mind.")
    assert "it is no text; name a text file" in said["the store"][1]
    others = {"another thread", "its note", "its original"}
    wrong = {"no such key", "elsewhere", "empty note", "the store", *others}
    wrong |= {"no such file", "no path", "long path", "pipe"}
    assert {name for name, told in said.items() if told[0] is True} == wrong
    assert all("has one conversation, and 'nobody' is another" in said[each][1] for each in others)
    assert "outside the folder of --root" in said["elsewhere"][1]
    assert "it cannot be read (" in said["no path"][1]
    assert "embedded null" in said["no path"][1]  # Python 3.13 says it in other words
    assert said["no path"][1].endswith("; check the path")
    assert "cannot be read (File name too long); check the path" in said["long path"][1]
    assert "pipe: there is no such file; check the path" in said["pipe"][1]
    assert all("Traceback" not in str(told) for told in said.values())


def test_over_standard_streams(kept, tmp_path):
    async def session():
        async with Client(stdio(kept, tmp_path)) as client:
            return await used(client)

    check(asyncio.run(session()))
    with holdfast.Session("t", store=kept) as session:
        assert "The gateway is mine." in session.notes().values()


def test_over_http(kept, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [*COMMAND, "--store", kept, "--thread", "t", "--http", str(port)]
    arguments += ["--root", str(tmp_path)]
    with subprocess.Popen([sys.executable, *arguments], stderr=subprocess.DEVNULL) as running:
        try:
            _wait_for(port)

            async def session():
                async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                    return await used(client)

            check(asyncio.run(session()))
        finally:
            running.terminate()


def _wait_for(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not start")


def test_without_a_store_it_is_one_line(capsys):
    assert main(["mcp"]) == 2
    assert capsys.readouterr().err.startswith("holdfast: --store: it is missing; name one")


def test_a_port_that_is_taken_is_one_line(kept, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["mcp", "--store", kept, "--http", str(port)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"holdfast: 127.0.0.1:{port}: it cannot be listened on (")
    assert told.endswith("; give another --http\n")
