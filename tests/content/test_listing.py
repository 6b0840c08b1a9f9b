"""Listings are told by folder with counts, with the entries that are asked for or stand out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.content.files import Listing, entries, form_of
from holdfast.kernel.ports import Room
from tests.content.lossless import expanded
from tests.contracts.content_contract import ContentContract, count, real_texts


class TestListing(ContentContract):
    kind = Listing()


def shrunk(text, tokens, question=""):
    return Listing().shrink(text, Room(tokens, count, question)).text


PATHS = [
    f"./src/part{number % 9}/module_{number}.{'py' if number % 3 else 'md'}"
    for number in range(600)
]


def test_folders_are_told_with_counts_by_extension():
    told = shrunk("\n".join(PATHS), 250)
    assert "./src/part0/ (67 .md)" in told
    assert "./src/part1/ (67 .py)" in told


def test_a_file_that_is_asked_for_is_named():
    assert "module_417.md" in shrunk("\n".join(PATHS), 60, "is there a module_417.md?")


def test_names_left_out_are_counted():
    told = shrunk("\n".join(f"name_{number}.txt" for number in range(500)), 80)
    left_out = [int(line.split()[1]) for line in told.split("\n") if line.startswith("… ")]
    assert told.count("name_") + sum(left_out) == 500
    assert "500 .txt" in told


FORMS = {
    "long": "drwxr-xr-x 2 dev dev 4096 Mar  1 10:00 src\n"
    "-rw-r--r-- 1 dev dev 120 Mar  1 10:00 a.py",
    "windows": "03/01/2026  10:00 AM    <DIR>          src\n"
    "03/01/2026  10:00 AM             1,120 a.py",
    "tree": ".\n├── src\n│   ├── b.py\n│   ├── c.py\n│   └── d.py\n└── a.py",
    "used": "4.0K\t./src\n1.2M\t./a.py",
    "paths": "./src/b.py\n./a.py",
    "names": "a.py\nb.txt",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_told_from_the_others(form):
    lines = [*FORMS[form].split("\n")] * 4
    assert form_of(lines) == form
    names = {entry.name for entry in entries(lines, form)}
    assert "a.py" in names


def test_the_folder_of_a_line_of_a_tree_is_the_line_above_it():
    tree = ["shop", "├── src", "│   ├── deep", "│   │   └── c.py", "│   └── b.py", "└── a.py"]
    assert {entry.name: entry.folder for entry in entries(tree, "tree")} == {
        "src": "shop",
        "deep": "shop/src",
        "c.py": "shop/src/deep",
        "b.py": "shop/src",
        "a.py": "shop",
    }


def test_folders_of_a_recursive_listing_are_their_headings():
    lines = [
        "src/a:",
        "total 4",
        "-rw-r--r-- 1 dev dev 120 Mar  1 10:00 a.py",
        "",
        "src/b:",
        "-rw-r--r-- 1 dev dev 9 Mar  1 10:00 b.py",
    ]
    assert [(entry.folder, entry.name, entry.size) for entry in entries(lines, "long")] == [
        ("src/a", "a.py", "120"),
        ("src/b", "b.py", "9"),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["./a/b.py", "./a/c.py", "./a/", "/x/y/z", "> q/r.py", "= s/t.py", "u v/w.md"]
        ),
        min_size=4,
        max_size=40,
    )
)
def test_whatever_is_compacted_comes_back(paths):
    text = "\n".join(paths)
    compacted = Listing().compact(text)
    assert compacted is None or expanded("listing", compacted) == text


def test_paths_are_written_below_their_folder():
    text = real_texts("listing")["find"].text
    compacted = Listing().compact(text)
    assert count(compacted) < 0.75 * count(text)
    assert expanded("listing", compacted) == text


@pytest.mark.parametrize(
    "text",
    [
        "the quick brown fox\njumps over the lazy dog\n" * 9,
        "import os\nimport sys\nx = 1\n" * 9,
        "a/b testing is and/or useful, see http://example.com/x\n" * 9,
        "root:x:0:0:root:/root:/bin/bash\nwww:x:33:33:www:/var/www:/bin/false\n" * 9,
    ],
)
def test_other_texts_are_no_listing(text):
    assert not Listing().recognises(text)
