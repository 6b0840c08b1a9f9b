"""The fuzzer in short: it finds nothing here, finds what is planted, and its checker refuses
what vendors do.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

import holdfast
from tests.fuzz.__main__ import fuzz, main
from tests.fuzz.checker import refused
from tests.fuzz.grammar import WIRES, sound
from tests.fuzz.kinds import Finding, _kill
from tests.fuzz.trying import tried

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
CACHED = {"cache_control": {"type": "ephemeral"}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}

ITEM = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "x"}
FUNCTION = {"functionCall": {"name": "f", "args": {}}}
RESPONSE = {"functionResponse": {"name": "f", "response": {"output": "x"}}}


def says(role, part=None):
    return {"role": role, "parts": [part or {"text": "x"}]}


SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s"}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **fields):
    return {"role": "assistant", "content": content, **fields}


def test_a_short_run_finds_nothing():
    counts, finding = fuzz(11, seconds=120, most=60)
    assert finding is None, f"{finding.name}: {finding.told}"
    assert counts.total() == 60
    assert counts["broken"] > 10 < counts["sound"]


def test_a_damaged_index_that_was_found_once_is_an_error_of_ours():
    assert tried("2711264-1834", Counter()) is None


def test_an_interrupted_run_tells_its_seed_and_what_it_tried(monkeypatch, capsys):
    def interrupted(name, counts):
        counts["sound"] += 1
        if counts.total() == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("tests.fuzz.__main__.tried", interrupted)
    monkeypatch.setattr("sys.argv", ["fuzz", "--seed", "7"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("seed 7: 3 cases (3 sound)")


def test_what_is_planted_is_found_and_made_small(monkeypatch):
    genuine = holdfast.restore

    def forgetful(result):
        return [
            m for m in genuine(result) if not (m["role"] == "user" and "2" in str(m["content"]))
        ]

    monkeypatch.setattr(holdfast, "restore", forgetful)
    monkeypatch.setattr("tests.fuzz.trying.WIRES", ("openai", "anthropic", "bedrock", "plain"))
    _, finding = fuzz(3, seconds=60)
    assert finding is not None
    assert finding.told == "restore gives something else"
    assert len(finding.messages) < 4
    assert len(str(finding.messages)) < 500


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        ("openai", [user("x"), {"role": "tool", "tool_call_id": "a", "content": "x"}]),
        ("openai", [user("x"), assistant(None, tool_calls=[CALL]), user("y")]),
        ("openai", [user("x"), assistant(None, tool_calls=[CALL])]),
        ("openai", [user("x"), assistant(None)]),
        (
            "openai",
            [user("x"), assistant("y", tool_calls=[{**CALL, "id": str(n)} for n in range(129)])],
        ),
        ("anthropic", [user("x"), assistant([SEARCH]), user("y")]),
        ("anthropic", [user("x"), assistant([FOUND])]),
        ("anthropic", [user([{"type": "text", "text": c, **CACHED} for c in "abcde"])]),
        ("openai", [user(5)]),
        ("openai", [{"role": "stranger", "content": "x"}]),
        ("anthropic", [assistant("x")]),
        ("anthropic", [user("x"), assistant([USE]), user("y")]),
        ("anthropic", [user("x"), assistant([USE])]),
        ("anthropic", [user("x"), assistant([USE]), user([{"type": "text", "text": "y"}, RESULT])]),
        ("anthropic", [user("x"), assistant(" y ")]),
        ("anthropic", [user([RESULT])]),
        ("anthropic", [user("")]),
        ("anthropic", [user([{"type": "text"}])]),
        ("bedrock", [user("x"), user("y")]),
        ("bedrock", [assistant("x"), user("y")]),
        ("plain", [user(None)]),
        ("responses", [user("x"), OUTPUT]),
        ("responses", [user("x"), ITEM]),
        ("responses", [user("x"), {"type": "reasoning", "id": "r", "summary": []}, user("y")]),
        ("responses", [{"role": "tool", "content": "x"}]),
        ("gemini", [says("user"), says("user", RESPONSE)]),
        ("gemini", [says("user"), says("model"), says("model", FUNCTION), says("user", RESPONSE)]),
        ("gemini", [says("user"), says("model", FUNCTION), says("user")]),
        ("gemini", [{"role": "user", "parts": []}]),
        ("gemini", [says("user", {"type": "text", "text": "x"})]),
        ("converse", [user([{"text": "x"}]), user([{"text": "y"}])]),
        ("converse", [user([{"text": " "}])]),
        ("converse", [user([{"type": "text"}])]),
    ],
)
def test_the_checker_refuses_what_vendors_do(wire, messages):
    assert refused(wire, messages)


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        ("openai", [user("x"), {**assistant("y"), "name": None}]),
        ("anthropic", [user("x"), assistant([SEARCH, {**FOUND, "content": [{"type": "page"}]}])]),
        ("responses", [user("x"), {"type": "newly_made", "id": "n"}]),
        ("responses", [user("x"), {"type": "reasoning", "summary": []}, assistant("y")]),
    ],
    ids=["null", "what the vendor made", "an unknown item", "reasoning without an id"],
)
def test_the_checker_looks_away_in_four_points_of_what_somebody_broke(wire, messages):
    assert refused(wire, messages)
    assert not refused(wire, messages, whole=False)


def test_the_checker_takes_what_vendors_do():
    assert not refused(
        "openai",
        [
            user("x"),
            assistant(None, tool_calls=[CALL]),
            {"role": "tool", "tool_call_id": "a", "content": ""},
        ],
    )
    for wire in ("anthropic", "bedrock"):
        assert not refused(wire, [user("x"), assistant([USE]), user([RESULT]), assistant("y")])
    assert not refused("responses", [user("x"), ITEM, OUTPUT, assistant("y")])
    assert not refused("gemini", [says("user"), says("model", FUNCTION), says("user", RESPONSE)])
    assert not refused("converse", [user([{"text": "x"}]), assistant([{"text": "y"}])])
    assert not refused("plain", [assistant(""), user("y"), user("z")])


@pytest.mark.parametrize("wire", WIRES)
def test_what_the_grammar_calls_sound_is_taken(wire):
    taken = [not refused(wire, sound(Random(seed), wire)) for seed in range(50)]
    assert sum(taken) > 40


def test_a_message_that_was_acknowledged_and_lost_is_found(monkeypatch):
    monkeypatch.setattr(holdfast.Session, "restore", lambda self: [])
    case = Finding("1", "plain", {}, [user("x"), assistant("y")], _kill)
    assert any("acknowledged" in _kill(replace(case, name=str(n))) for n in range(9))
