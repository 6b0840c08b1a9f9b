"""What vendors refuse: each file is a request that one refuses, its words, where they are
written, and a fellow
of the request that is taken. No vendor is called: the files are what is known of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.formats import FORMATS, named
from holdfast.kernel.transcript import Publishing
from holdfast.result import restore
from holdfast.validity import repair, validate

CASES = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted(Path(__file__).parent.glob("*.json"))
}

KEEPS = {"compaction_stays", "system_parts_stay"}
"""Rules that keep what a request may do without: nothing is refused for them."""

case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@case
def test_a_request_that_a_vendor_refuses_breaks_the_rule_of_the_case(case):
    assert case["rule"] in {
        violation.rule for violation in validate(case["rejected"], case["provider"])
    }


@case
def test_its_fellow_that_the_vendor_takes_breaks_none(case):
    assert validate(case["accepted"], case["provider"]) == []


@case
def test_the_repair_makes_it_valid_and_can_be_undone(case):
    result = repair(case["rejected"], case["provider"])
    assert validate(result.messages, case["provider"]) == []
    assert result.reason == "repaired"
    assert restore(result) == case["rejected"]


@case
def test_every_case_says_in_which_words_the_vendor_refuses_and_where_they_are_written(case):
    assert case["refusal"]
    assert case["source"].startswith("https://")


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_rule_of_a_format_has_a_case(name):
    wire = "anthropic" if name == "bedrock" else name
    shown = {
        each["rule"]
        for each in CASES.values()
        if FORMATS.aliases.get(each["provider"], each["provider"]) in (wire, name)
    }
    form = named(name)
    published = form.published([]) if isinstance(form, Publishing) else ()
    asked = {rule.name for rule in (*form.rules, *published)}
    assert asked - KEEPS <= shown
