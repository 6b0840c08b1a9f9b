"""Search hits are told by file, those that the question names first, and come back from their
lossless form.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.content.search import Search
from holdfast.kernel.ports import Room
from tests.content.lossless import expanded
from tests.contracts.content_contract import ContentContract, count, real_texts


class TestSearch(ContentContract):
    kind = Search()


def shrunk(text, tokens, question=""):
    return Search().shrink(text, Room(tokens, count, question)).text


HITS = [
    f"src/part{number % 7}/module.py:{number + 1}:    value = load({number})"
    for number in range(300)
]


def test_no_path_is_written_twice():
    told = shrunk("\n".join(HITS), 400)
    paths = re.findall(r"src/part\d/module.py", told)
    assert paths
    assert len(paths) == len(set(paths))


def test_each_file_says_how_many_hits_it_has():
    assert "src/part0/module.py (43 hits)" in shrunk("\n".join(HITS), 400)


def test_hits_left_out_are_counted():
    told = shrunk("\n".join(HITS), 300)
    kept = told.count(":    value") + told.count(":value")
    left_out = [int(line.split()[1]) for line in told.split("\n") if line.startswith("… ")]
    assert kept + sum(left_out) == 300


def test_the_hit_that_the_question_names_comes_first():
    assert "211:" in shrunk(
        "\n".join([*HITS[:210], "src/part0/module.py:211:    retry = RetryPolicy(5)", *HITS[211:]]),
        40,
        "where is RetryPolicy made?",
    )


def test_lines_around_hits_and_separators_come_back():
    text = (
        "src/shop/a.py-1-import re\nsrc/shop/a.py:2:x = 1\n--\n"
        "src/shop/b-3-c.py:2:y = 1\nsrc/shop/b-3-c.py-3-\nsrc/shop/b-3-c.py-4-\n"
        "Binary file z matches\n" * 9
    )
    compacted = Search().compact(text)
    assert compacted is not None
    assert "> src/shop/a.py" in compacted
    assert expanded("search", compacted) == text


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["src/a.py", "src/a b.py", "x-1-y.c", "> z.py"]),
            st.integers(1, 999),
            st.sampled_from(":-"),
            st.text(max_size=30),
        ),
        min_size=3,
        max_size=40,
    )
)
def test_whatever_is_compacted_comes_back(rows):
    text = "\n".join(f"{path}{sign}{number}{sign}{found}" for path, number, sign, found in rows)
    compacted = Search().compact(text)
    assert compacted is None or expanded("search", compacted) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 10:11:12 INFO started\n" * 9,
        "key: value\nother: value\n" * 9,
        "10:15 coffee\n09:30 tea\n11:20 lunch\n" * 9,
        "".join(f"{number}: the text of line {number}\n" for number in range(1, 30)),
        "".join(f"{number:4}-    value = load({number})\n" for number in range(1, 30)),
        "".join(
            f"nova-compute.log.1.2026-05-16_13:55:31 2026-05-16 00:00:{n:02}.4 2931 INFO "
            f"nova.x [req-{n}]\n"
            for n in range(30)
        ),
        "Note: see chapter 3:4 for details.\nThen: go on.\n" * 9,
    ],
)
def test_other_texts_are_no_search(text):
    assert not Search().recognises(text)


def test_the_lossless_form_of_real_hits_is_a_quarter_shorter():
    for name in ("grep-python-functions", "grep-context", "grep-c-pool"):
        text = real_texts("search")[name].text
        assert count(Search().compact(text)) < 0.75 * count(text)
