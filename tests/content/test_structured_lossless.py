"""The shorter form of JSON has the same value."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.content.structured import Json, written
from holdfast.kernel.ports import Room
from holdfast.text.json_values import dump, parse
from tests.content.lossless import expanded, with_keys

TRICKY = [
    "", " ", "-", "null", "true", "NaN", "Infinity", "1", "-0", "1.10", "1e5", "007", "a b",
     "a, b", "a,b", "a; b",
    "a | b", "a|b", " a", "a ", ",", ", ", "~", "~1~", "|", "a~b", '"', '"a"', "[", "[]", "{",
     "{}", "a\nb", "a\tb",
    "a\u2028b", "--", "\u00a0", "@1", "=", "é", "日本語", "😀", "\ud800", "\x00", "\x7f", "(a=1)",
     "3 records, a line each: a",
]  # fmt: skip
KEYS = [
    "keys",
    "rows",
    "absent",
    "id",
    "name",
    "a b",
    "a.b",
    "",
    "@key",
    "@value",
    "x[0]",
    "k:text",
    '"',
    "{",
    "(",
    "größe",
    "n",
    "o",
]

texts = st.one_of(st.sampled_from(TRICKY), st.text(max_size=6))
numbers = st.one_of(
    st.integers(), st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False)
)
scalars = st.one_of(texts, numbers, st.booleans(), st.none())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        st.lists(st.fixed_dictionaries({"id": scalars}, optional={"v": inner}), max_size=4),
        st.dictionaries(texts, st.fixed_dictionaries({"v": inner}), max_size=4),
    ),
    max_leaves=14,
)
records = st.one_of(
    st.fixed_dictionaries({"id": scalars, "v": values}, optional={"name": texts, "w": values}),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=5),
)
documents = st.one_of(
    st.lists(records, min_size=3, max_size=9),
    st.dictionaries(texts, st.lists(records, min_size=3, max_size=5), min_size=1, max_size=3),
    st.dictionaries(texts, records, min_size=3, max_size=6),
    st.lists(st.just({"id": 1, "v": "x", "w": [{"a": 1, "b": 2}]}), min_size=3, max_size=6),
)


def canonical(text: str) -> list[str]:
    return [dump(value) for value in parse(text)]


def survives(text: str) -> bool:
    form = written(parse(text))
    return form is None or canonical(with_keys(form) or "") == canonical(text)


@given(documents)
@settings(max_examples=400, deadline=None)
def test_any_document_survives_its_short_form(document: object) -> None:
    assert survives(json.dumps(document))


@given(st.lists(records, min_size=2, max_size=6))
@settings(max_examples=200, deadline=None)
def test_json_lines_come_back_as_json_lines(lines: list[object]) -> None:
    assert survives("\n".join(map(json.dumps, lines)))


@given(documents, st.sampled_from([None, 1, 2]))
@settings(max_examples=150, deadline=None)
def test_expand_inverts_compact(document: object, indent: int | None) -> None:
    text = json.dumps(document, indent=indent)
    compacted = Json().compact(text)
    if compacted is not None:
        assert len(compacted) < len(text)
        assert canonical(expanded("json", compacted)) == canonical(text)


@given(documents, st.integers(1, 120), st.sampled_from([len, lambda text: len(text.split())]))
@settings(max_examples=200, deadline=None)
def test_any_document_fits_any_room_and_says_whether_it_is_whole(
    document: object, tokens: int, count: Callable[[str], int]
) -> None:
    text = json.dumps(document)
    shrunk = Json().shrink(text, Room(tokens, count, "What is in name?"))
    assert count(shrunk.text) <= tokens
    if shrunk.lossless:
        assert canonical(expanded("json", shrunk.text)) == canonical(text)
    else:
        assert shrunk.omitted


def test_lists_of_objects_whose_keys_are_data_come_back() -> None:
    document = [
        {},
        *({"v": {"id": [{"id": "", **more}]}, "n": "", "o": None} for more in ({}, {"w": None})),
    ]
    assert survives(json.dumps(document))


def test_a_list_of_one_empty_record_is_none_of_the_values_that_stand_in_its_place():
    pods = {f"pod-{n}": {"v": [{"id": f"a{n}", "name": "x"}] * 2} for n in range(5)}
    for odd in ({"v": [{}]}, {"v": []}, {"v": None}):
        text = json.dumps({**pods, "odd": odd, "again": {"v": [{}, {"id": "b", "name": "y"}]}})
        compacted = Json().compact(text)
        assert compacted is not None
        assert canonical(expanded("json", compacted)) == canonical(text)
