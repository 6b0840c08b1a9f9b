from __future__ import annotations

import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernel.errors import ConfigError, InputError, MissingExtraError
from holdfast.stores.excerpts import excerpt, field_of, parse_path

LOG = "start\r\nINFO ready\nERROR disk 97% full (/var)\nINFO retry\nERROR gave up"


class TestLines:
    def test_everything_is_the_text_itself(self):
        whole = excerpt(LOG)
        assert (whole.text, list(whole.numbers), whole.total) == (LOG, [1, 2, 3, 4, 5], 5)

    @pytest.mark.parametrize(
        ("lines", "text"),
        [
            ((1, 1), "start\r\n"),
            ((2, 3), "INFO ready\nERROR disk 97% full (/var)\n"),
            ((5, 5), "ERROR gave up"),
            ((4, 900), "INFO retry\nERROR gave up"),
            ((6, 9), ""),
        ],
    )
    def test_first_and_last_are_counted_from_1_and_included(self, lines, text):
        assert excerpt(LOG, lines=lines).text == text

    @pytest.mark.parametrize("lines", [(0, 5), (-3, -1), (3, 2)])
    def test_a_range_that_is_none_is_refused_in_one_line(self, lines):
        with pytest.raises(
            ConfigError, match=r"^lines: .* is not a range; write the first and the last line"
        ):
            excerpt(LOG, lines=lines)

    @pytest.mark.parametrize(
        "text", ["", "\n", "a", "a\n", "a\n\n", "\n\na", "a\r\nb\x0bc\x0cd\u2028e\x85f\n"]
    )
    def test_only_a_line_feed_ends_a_line_and_no_line_is_lost(self, text):
        every = excerpt(text, lines=(1, 99))
        assert every.text == text
        assert every.total == len(every.numbers) == text.count("\n") + (text[-1:] not in {"", "\n"})


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "numbers"),
        [
            ("ERROR", [3, 5]),
            ("error", []),
            ("(?i)error", [3, 5]),
            ("^INFO", [2, 4]),
            (r"\d+%", [3]),
            ("97% full", [3]),
            ("up$", [5]),
            ("", [1, 2, 3, 4, 5]),
            ("ready|retry", [2, 4]),
        ],
    )
    def test_lines_that_match_come_with_their_numbers(self, pattern, numbers):
        found = excerpt(LOG, pattern=pattern)
        assert (list(found.numbers), found.total) == (numbers, 5)

    def test_only_lines_of_the_range_are_looked_at(self):
        assert list(excerpt(LOG, pattern="ERROR", lines=(1, 3)).numbers) == [3]

    def test_they_can_be_printed_as_grep_does(self):
        assert (
            excerpt(LOG, pattern="ERROR").numbered()
            == "3:ERROR disk 97% full (/var)\n5:ERROR gave up"
        )

    def test_lone_surrogates_do_not_stop_the_search(self):
        assert excerpt("a\ud800b\nfound it", pattern="fo.nd").text == "found it"
        assert excerpt("a\ud800b\nno", pattern="a\ud800").text == "a\ud800b\n"
        assert excerpt("a\ud800b\nno", pattern="a.b").text == "a\ud800b\n"

    @pytest.mark.parametrize("pattern", ["a(b", "*", "[", "(?=x)", r"(a)\1", "x{5000}", "a\\"])
    def test_a_pattern_that_is_none_is_refused_in_one_line(self, pattern):
        with pytest.raises(
            ConfigError, match=r"^pattern .*; a pattern is a regular expression of RE2"
        ) as refused:
            excerpt(LOG, pattern=pattern)
        assert "\n" not in str(refused.value)
        assert ": b'" not in str(refused.value)

    def test_no_pattern_makes_it_hang(self):
        assert excerpt("a" * 200_000 + "!", pattern=r"^(a+)+$").text == ""

    def test_without_re2_plain_words_are_still_found(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "re2", None)
        assert list(excerpt(LOG, pattern="ERROR disk").numbers) == [3]
        with pytest.raises(
            MissingExtraError,
            match=r"^a pattern that is more than plain text needs .*: pip install",
        ):
            excerpt(LOG, pattern="ERR.R")


ORDERS = """{
  "count": 2, "big": 123456789012345678901234567890, "price": 1.10, "e": 1E+2,
  "orders": [
    {"id": 7, "note": "a \\"quoted\\" \\u00e9 line\\nand another", "tags": []},
    {"id": 8, "note": null, "a.b": {"c d": true}, "id": 9}
  ]
}
"""


class TestFields:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("count", "2"),
            ("big", "123456789012345678901234567890"),
            ("price", "1.10"),
            ("e", "1E+2"),
            ("orders[0].id", "7"),
            ("$.orders[0].tags", "[]"),
            ("orders.0.note", 'a "quoted" é line\nand another'),
            ("orders[-1].note", "null"),
            ('orders[1]["a.b"]["c d"]', "true"),
            ('orders[1]["a.b"]', '{"c d": true}'),
            ("orders[1].id", "9"),
        ],
    )
    def test_a_value_stands_as_it_is_written_and_a_string_as_what_it_says(self, path, value):
        assert field_of(ORDERS, path) == value

    def test_an_empty_path_is_all_of_it(self):
        assert field_of(ORDERS, "") == ORDERS.strip()

    def test_in_json_lines_the_first_step_is_the_line(self):
        rows = '{"id": 1}\n{"id": 22}\r\n\n{"id": 333}\n'
        assert field_of(rows, "[1].id") == "22"
        assert field_of(rows, "-1.id") == "333"
        assert field_of(rows, "") == rows

    def test_a_byte_order_mark_is_no_obstacle(self):
        assert field_of('\ufeff{"a": 1}', "a") == "1"

    def test_lines_and_pattern_look_into_the_field(self):
        found = excerpt(ORDERS, field="orders[0].note", pattern="another")
        assert (found.text, list(found.numbers), found.total) == ("and another", [2], 2)

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ("nope", "there is no 'nope'; there are count, big, price, e, orders"),
            ("orders[2]", "there is no item '2'; there are 2, counted from 0"),
            ("orders.id", "there is no item 'id'; there are 2, counted from 0"),
            ("orders[0].tags[0]", "there is no item '0'; there are 0, counted from 0"),
            ("count.a", "there is no 'a' in a value that is not an object or an array; shorten it"),
            ("orders[" + "9" * 5_000 + "]", "; there are 2, counted from 0"),
        ],
    )
    def test_a_field_that_is_not_there_is_answered_by_those_that_are(self, path, line):
        with pytest.raises(InputError) as refused:
            field_of(ORDERS, path)
        assert str(refused.value).endswith(line)
        assert str(refused.value).startswith(f"field {path!r:.80}: ")

    def test_of_many_names_the_first_are_shown(self):
        with pytest.raises(InputError, match=r"there are n0, n1, .*, n19 and 980 more$"):
            field_of(json.dumps({f"n{number}": 0 for number in range(1_000)}), "x")

    @pytest.mark.parametrize("path", ["a..b", "a[", "a[x]", "a]", "[0", '["a]', "."])
    def test_a_path_that_is_none_is_refused_in_one_line(self, path):
        with pytest.raises(ConfigError, match=r"is not understood; a path is written a\.b\[3\]\.c"):
            field_of(ORDERS, path)

    @pytest.mark.parametrize(
        "text",
        ["", " \n", "plain text", "{", '{"a": ', '{"a" 1}', "[1,,2]", '{"a": 1} x', "{a: 1}"],
    )
    def test_a_text_that_is_not_json_is_said_to_be_none(self, text):
        with pytest.raises(
            InputError, match=r"the text is not JSON .*; read it by lines or by pattern$"
        ) as refused:
            field_of(text, "a")
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize(
        "text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000]
    )
    def test_a_text_that_is_nested_too_deeply_is_said_to_be_so(self, text):
        with pytest.raises(
            InputError, match=r"the text is nested too deeply; read it by lines or by pattern$"
        ):
            field_of(text, "a")

    def test_integers_of_any_length_do_not_stop_the_reader(self):
        digits = "9" * 10_000
        assert field_of(f'{{"long": {digits}, "a": 1}}', "a") == "1"
        assert field_of(f'{{"long": {digits}, "a": 1}}', "long") == digits


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


def every_path(value: object, path: str = "") -> list[tuple[str, object]]:
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        (path, value),
        *(
            pair
            for step, child in children
            for pair in every_path(child, f"{path}[{json.dumps(step)}]")
        ),
    ]


@settings(deadline=None)
@given(JSON, st.sampled_from([None, 2]))
def test_every_field_of_any_json_is_found(value, indent):
    text = json.dumps(value, indent=indent)
    for path, child in every_path(value):
        found = field_of(text, path)
        assert (found if isinstance(child, str) else json.loads(found)) == child


@settings(deadline=None)
@given(st.text(st.sampled_from('a0.[]"\\-$ é'), max_size=12))
def test_any_path_is_understood_or_refused(path):
    with suppress(ConfigError):
        assert all(isinstance(step, str) for step in parse_path(path))


@settings(deadline=None)
@given(
    st.text(st.sampled_from("ab\r\n\x0b\u2028"), max_size=30),
    st.integers(1, 10),
    st.integers(0, 10),
)
def test_two_ranges_that_meet_are_the_whole(text, first, more):
    middle = first + more
    assert (
        excerpt(text, lines=(1, middle)).text + excerpt(text, lines=(middle + 1, 99)).text == text
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_pattern_may_name_the_end_of_a_line(end):
    assert excerpt(f"one two{end}", pattern="two$").numbers == [1]
    assert excerpt(f"two one{end}", pattern="two$").numbers == []
