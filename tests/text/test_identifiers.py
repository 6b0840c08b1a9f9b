from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.identifiers import find
from tests.text.adversarial import LARGE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://example.com/a/b?c=d&e=f", "url"),
        ("postgres://db:5432/orders", "url"),
        ("info@example.com", "name"),
        ("550e8400-e29b-41d4-a716-446655440000", "name"),
        ("2024-05-15", "name"),
        ("2024-05-15T10:32:05.123Z", "name"),
        ("10.0.0.0/24", "name"),
        ("v1.2.3-rc.1", "name"),
        ("9f8e7d6c5b", "name"),
        ("MAX_RETRIES", "name"),
        ("src/foo/bar.py:12:5", "name"),
        ("C:\\Users\\x\\y.txt", "name"),
        ("~/notes", "name"),
        ("./run.sh", "name"),
        ("main.c", "name"),
        ("README.md", "name"),
        ("RetryPolicy", "name"),
        ("user_4821", "name"),
        ("std::vector", "name"),
        ("/Users/rene\u0301/Cafe\u0301.txt", "name"),
        ("/data/ไฟล์/รายงาน.csv", "name"),
        ("फ़ाइल_2.txt", "name"),
        ("os.path.join", "name"),
        ("#K7731904", "name"),
        ("10:32:05", "amount"),
        ("10.0.0.1:8080", "amount"),
        ("250ms", "amount"),
        ("$1,234.50", "amount"),
        ("99.9%", "amount"),
        ("15.05.2024", "number"),
        ("1,234", "number"),
    ],
)
def test_exact_things_are_told_apart(text, kind):
    found = find(f"Then came {text}, and so on.")
    assert [(one.kind, one.text) for one in found] == [(kind, text)]


def test_of_an_amount_in_words_the_number_is_exact():
    assert [one.text for one in find("It took 250 ms on May 15, 2024.")] == ["250", "15", "2024"]


@pytest.mark.parametrize(
    "text", ["plain words only", "and/or", "e.g. this", "well-known", "Really?", "...", "x = y"]
)
def test_plain_words_are_not_exact(text):
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("请检查订单ORD-1777的状态,金额284.50元。", ["ORD-1777", "284.50"]),
        ("注文ORD-1777の状態を確認してください。", ["ORD-1777"]),
        ("주문 ORD-1777의 상태를 확인하세요.", ["ORD-1777"]),
        (
            "见https://shop.example/a1。文件在src/app/main.py里",
            ["https://shop.example/a1", "src/app/main.py"],
        ),
        ("在 /home/用户/报告.pdf 里", ["/home/用户/报告.pdf"]),
        ("地址北京市朝阳区", []),
    ],
)
def test_what_is_exact_stands_beside_scripts_without_spaces(text, found):
    assert [one.text for one in find(text)] == found
    assert all(text.startswith(one.text, one.start) for one in find(text))


def test_of_an_assignment_the_value_is_exact():
    assert [(one.text, one.kind) for one in find("retry=3 user:ann_k")] == [
        ("3", "number"),
        ("ann_k", "name"),
    ]


def test_a_quoted_phrase_is_one_thing():
    found = find('it said "pool of 12 is empty" twice')
    assert [(one.text, one.kind) for one in found] == [("pool of 12 is empty", "quoted")]


def test_what_stands_between_two_quotations_is_none():
    found = find('say("a", "bc d", sep="|") or " | ".join(x, "y")')
    assert [one.text for one in found if one.kind == "quoted"] == ["bc d"]


@settings(deadline=None)
@given(st.text(max_size=400))
def test_each_stands_where_it_says(text):
    found = find(text)
    assert all(text[one.start : one.start + len(one.text)] == one.text for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)


@pytest.mark.parametrize("name", LARGE)
def test_it_ends_on_any_text(name):
    assert isinstance(find(LARGE[name]), list)
