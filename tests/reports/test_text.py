"""The report as lines: totals, steps, and what became of each message."""

from __future__ import annotations

from dataclasses import replace

from holdfast.kernel.edits import Drop, Insert, Offload, Replace
from holdfast.kernel.ports import Accuracy
from holdfast.reports import account
from holdfast.reports.text import edits_by_kind, overview, text_report, trust, verdict
from holdfast.result import CompressionResult, Step

from .results import BY_LETTER, assistant, call, output, result_of, user


def lines_of(result: CompressionResult, width: int = 110) -> list[str]:
    return text_report(account(result, counter=BY_LETTER), width).splitlines()


def row(result: CompressionResult, start: str) -> str:
    return next(line for line in lines_of(result) if line.lstrip().startswith(start))


def sample() -> CompressionResult:
    messages = [
        user("why?"),
        call("a"),
        output("a", "line\n" * 100),
        assistant("because"),
        user("and?"),
    ]
    shrink = ("shrink", [Replace(2, 0, "line\n[98 lines cut]\nline\n", "a long log")])
    return result_of(
        messages,
        shrink,
        ("digest", [Drop((0,), "old"), Insert(0, "user", "a digest", "for 0", (0, 0))]),
    )


def test_it_begins_with_tokens_messages_and_the_budget():
    first, second, third, *_ = lines_of(sample())
    assert first.startswith("by_hand: 130 -> 12 tokens (9% left), 5 -> 5 messages")
    assert second == "budget 10,000 tokens: met, 0% of it used"
    assert third == "tokens are approximate, usually within 20%"


def test_each_step_says_what_it_did_or_why_it_did_nothing():
    result = result_of(
        [user("four" * 3), user("four")], ("prune", []), ("trim", [Drop((0,), "old")]), form="plain"
    )
    assert [" ".join(line.split()) for line in lines_of(result)[4:6]] == [
        "prune 4 not applied: nothing old",
        "trim 4 -> 1 1 dropped",
    ]


def test_a_kept_message_shows_its_first_words():
    assert row(sample(), "4  user").split() == ["4", "user", "kept", "1", "and?"]


def test_a_changed_message_shows_the_step_the_reason_and_the_lines():
    lines = lines_of(sample())
    at = lines.index(next(line for line in lines if "changed" in line and "tool" in line))
    assert lines[at].split() == [
        "2",
        "tool",
        "changed",
        "125",
        "->",
        "6",
        "shrink:",
        "a",
        "long",
        "log",
    ]
    shown = [line.strip() for line in lines[at + 1 : at + 7]]
    assert "+ [98 lines cut]" in shown
    assert any(line.startswith("- line") for line in shown)


def test_a_dropped_message_shows_its_first_words_and_the_reason():
    assert row(sample(), "0  user").split() == "0 user dropped 1 -> 0 why? digest: old".split()


def test_an_inserted_message_says_what_it_stands_for():
    lines = lines_of(sample())
    at = lines.index(row(sample(), "+  user"))
    assert [line.strip() for line in lines[at + 1 : at + 3]] == [
        "replaces message 0",
        "+ a digest",
    ]


def test_an_offloaded_message_names_the_key():
    messages = [user("look"), call("a"), output("a", "long " * 50), user("and?")]
    lines = lines_of(
        result_of(messages, ("shrink", [Offload(2, 0, "[kept as k1]", "k1", "large")]))
    )
    assert any(line.strip() == "the original is kept under k1" for line in lines)


def test_it_ends_with_the_numbers_and_the_way_back():
    *_, numbers, first, second = lines_of(sample())
    assert numbers == "3 kept, 1 changed, 1 dropped, 1 inserted"
    assert first == "The originals of 2 messages are in the result, and come back exactly:"
    assert "holdfast.restore(result)" in second


def test_nothing_is_said_about_originals_where_nothing_was_taken_out():
    assert lines_of(result_of([user("a")], ("prune", [])))[-1] == "1 kept"


def test_a_report_of_no_messages_is_a_report():
    assert lines_of(result_of([]))[-1] == "no messages"


def test_what_stands_beside_the_messages_is_told_apart():
    result = result_of([user("four")])
    more = replace(result.metrics, tokens_before=result.metrics.tokens_before + 90)
    more = replace(more, tokens_after=result.metrics.tokens_after + 90)
    assert row(replace(result, metrics=more), "beside").split()[3] == "90"


def test_messages_that_another_counter_counted_are_said_to_be_so():
    result = sample()
    other = replace(result, metrics=replace(result.metrics, tokens_before=999))
    assert any("the totals above by another counter" in line for line in lines_of(other))


def test_control_characters_of_a_message_never_reach_the_terminal():
    hostile = "\x1b]0;owned\x07\x1b[2J\rhidden\n \u202e"
    result = result_of(
        [user(hostile), call("a", hostile, hostile), output("a", hostile * 90), user("ok")],
        (hostile, [Replace(2, 0, hostile, hostile)]),
        ("trim", [Drop((0,), hostile)]),
    )
    text = "\n".join(lines_of(result))
    assert not set(text) & set("\x1b\x07\r\u202e")
    assert "\\x1b[2J" in text


def test_no_row_is_wider_than_the_paper():
    messages = [
        user("数据 " * 400),
        call("a"),
        output("a", "数" * 5000),
        assistant("x" * 999),
        user("ok"),
    ]
    result = result_of(
        messages,
        ("shrink", [Replace(2, 0, "数" * 300, "too " * 99)]),
        ("trim", [Drop((0,), "old")]),
    )
    rows = lines_of(result, width=72)[7:-3]
    assert max(len(row.encode("utf-16-le")) // 2 for row in rows) <= 72


def test_the_verdict_names_the_smallest_budget_that_would_do():
    result = replace(result_of([user("a" * 99)], limit=5), detail="38 tokens remain", smallest=38)
    assert verdict(result) == "NOT met, 38 tokens remain; 38 would do"
    assert (
        verdict(replace(result_of([user("a")]), reason="within_budget"))
        == "met, nothing had to go, 0% of it used"
    )
    assert "a step failed" in verdict(replace(result_of([user("a")]), degraded=True))


def test_a_failed_step_says_its_fault():
    step = Step("shrink", 10, 10, "failed", "strategy_failed", "KeyError: 'x'")
    assert "  shrink  10  failed: KeyError: 'x'" in list(
        overview(replace(result_of([user("a")]), steps=(step,)))
    )


def test_accuracy_is_said_as_it_is():
    assert trust(Accuracy("exact")) == "counted exactly"
    assert trust(Accuracy("approximate", 0.05)) == "approximate, usually within 5%"
    assert trust(Accuracy("approximate")) == "approximate"
    assert trust(Accuracy("unknown")) == "an estimate whose error is not known"


def test_two_parts_of_one_message_are_one_changed_message():
    step = Step(
        "shrink",
        9,
        5,
        "compacted",
        edits=(Replace(1, 0, "a"), Replace(1, 1, "b"), Offload(2, 0, "c", "k")),
    )
    assert edits_by_kind(step) == {"changed": 1, "offloaded": 1}
