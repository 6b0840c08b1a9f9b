"""Tables: what is one, which rows stay, and that squeezed padding can be put back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.content.table import Table, grid
from holdfast.kernel.ports import Room
from holdfast.tokens import counter_for
from tests.content.lossless import expanded
from tests.contracts.content_contract import ContentContract

count = counter_for("o200k_base").count


def cells(text: str) -> object:
    found = grid(text)
    return (found.headed, found.cells) if found else text


class TestTable(ContentContract):
    kind = Table()

    def same(self, one: str, other: str) -> bool:
        return cells(one) == cells(other)


def shrink(text: str, tokens: int, question: str = "") -> str:
    shrunk = Table().shrink(text, Room(tokens, count, question))
    assert count(shrunk.text) <= tokens
    return shrunk.text


PODS = """\
NAME                     READY   STATUS             RESTARTS      AGE
web-6d4b9c7f5-2xk8p      1/1     Running            0             12d
web-6d4b9c7f5-9qz4m      1/1     Running            2 (5h ago)    12d
worker-7f9c5d8b6-hh2vl   0/1     CrashLoopBackOff   41 (2m ago)   3h
cache-0                  1/1     Running            0             40d
"""


def test_aligned_columns_are_cut_where_all_lines_have_a_gap():
    found = grid(PODS)
    assert found is not None
    assert found.cells[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert found.rows[1] == ["web-6d4b9c7f5-9qz4m", "1/1", "Running", "2 (5h ago)", "12d"]


def test_a_command_above_columns_is_no_heading():
    sizes = "\n".join(
        f"   32{n:02}  2024-09-{n:02}  eu/T-118/02914{n:03}.json" for n in range(1, 9)
    )
    assert grid(f"$ python -m archive ls T-118\n{sizes}") is None


def test_csv_is_read_as_it_is_quoted():
    found = grid('id,name,note\n1,"a, b","says ""hi"""\n2,c,"two\nlines"\n3,d,\n')
    assert found is not None
    assert found.rows == [["1", "a, b", 'says "hi"'], ["2", "c", "two\nlines"], ["3", "d", ""]]
    assert found.raw[2] == '2,c,"two\nlines"'


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n1\t2\n3\t4\n",
        "a;b;c\n1;2;3\n4;5;6\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | |\n",
        " id | name\n----+------\n  1 | x\n  2 | y\n(2 rows)\n",
        "+----+---+\n| id | n |\n+----+---+\n|  1 | a |\n|  2 | b |\n+----+---+\n",
    ],
)
def test_a_table_is_recognised(text):
    assert Table().recognises(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dear reader, this is prose.\nIt has commas, as prose has.\nAnd lines, several of them.\n",
        "2024-01-01 10:00:00  INFO  started\n2024-01-01 10:00:01  INFO  ready\n"
        "2024-01-01 10:00:02  WARN  slow\n",
        "def f(a, b):\n    return a, b\n\nprint(f(1, 2), 3)\n",
        "- one\n- two\n- three\n",
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a, b\n+a, c\n",
        "gcc -c a.c  -o a.o\ngcc -c b.c  -o b.o\ngcc -c c.c  -o c.o\ngcc -c d.c  -o d.o\n",
        "src/a.py:10: x | y\nsrc/b.py:2: z | w\nsrc/c.py:3: u | v\n",
    ],
)
def test_what_only_has_commas_bars_or_blanks_is_no_table(text):
    assert not Table().recognises(text)


def test_the_row_that_the_question_names_stays_under_the_header():
    lines = [
        f"{row},host-{row:03},{'ok' if row != 77 else 'unreachable'},{row % 13}"
        for row in range(200)
    ]
    told = shrink("\n".join(["id,host,state,load", *lines]), 90, "How is host-150?").splitlines()
    assert told[0] == "id,host,state,load"
    assert "150,host-150,ok,7" in told
    assert any(line.endswith("rows …") for line in told)


def test_equal_rows_take_no_room_from_different_ones():
    equal, different = ["a.png,12,ok"] * 60, [f"p{row}.png,{37 * row},new" for row in range(6)]
    told = shrink("\n".join(["name,size,state", *equal, *different]), 70).splitlines()
    assert told[0] == "name,size,state"
    assert set(different) <= set(told)


@given(
    st.lists(
        st.lists(st.text("ab1 -|", max_size=4), min_size=3, max_size=3), min_size=3, max_size=6
    )
)
@settings(max_examples=150, deadline=None)
def test_whatever_is_compacted_has_the_same_cells_again(rows):
    stripped = [[cell.replace("|", "").strip() for cell in row] for row in rows]
    text = "\n".join(
        ["| x | y | z |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in stripped)]
    )
    compacted = Table().compact(text)
    if compacted is not None:
        assert cells(expanded("table", compacted)) == cells(text)


def test_a_markdown_table_may_have_rules_of_one_dash():
    text = "|name|size|\n|-|:-|\n" + "".join(f"|file {n}|{n}|\n" for n in range(200))
    found = grid(text)
    assert found is not None
    assert (found.cells[0], len(found.rows)) == (["name", "size"], 200)


def test_a_rule_may_be_set_with_tabs():
    found = grid("name\t| price\n-\t|-\nring\t| 12\nchain\t| 7")
    assert found is not None
    assert (found.style, found.cells[0], found.rows) == (
        "ruled",
        ["name", "price"],
        [["ring", "12"], ["chain", "7"]],
    )


def _table(form, rows):
    """So many rows under a header, as the form sets them apart; some cells hold the delimiter
    in quotes.
    """
    cells = [["item", "note", "2024", "city"]]
    cells += [
        [f"id{n}", "loose, green" if n % 3 else "dark", str(n * 37 % 901), "Oslo"]
        for n in range(rows)
    ]
    if form == "aligned":
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join(lines)
    if form == "|":
        return "\n".join("|".join(row) for row in cells)
    return "\n".join(
        form.join(f'"{c}"' if form in c and form != ", " else c for c in row) for row in cells
    )


@pytest.mark.parametrize("rows", [4, 8, 17, 199])
@pytest.mark.parametrize("form", [",", "\t", "|", "aligned"])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.2, 0.05])
def test_a_table_keeps_its_header_at_any_size_and_budget(form, rows, share):
    text = _table(form, rows)
    assert Table().recognises(text)
    room = Room(max(14, int(len(text) // 4 * share)), lambda piece: len(piece) // 4 + 1)
    told = Table().shrink(text, room).text
    assert [name for name in ("item", "note", "2024", "city") if name not in told] == []


@pytest.mark.parametrize(
    "odd",
    [
        lambda text: text[:-9] + '"cut o',
        lambda text: f"{text}\ntotal,12",
        lambda text: f"{text}\n17 rows in set (0.01 sec)",
        lambda text: f"```csv\n{text}\n```",
        lambda text: f"Result of the query:\n\n{text}",
        lambda text: text.replace("dark", f'"{"a long story, " * 12}"'),
    ],
    ids=["cut off within quotes", "a total", "a foot", "a fence", "an announcement", "long cells"],
)
def test_a_small_table_with_something_odd_is_still_a_table(odd):
    text = odd(_table(",", 17))
    assert Table().recognises(text)
    told = Table().shrink(text, Room(60, lambda piece: len(piece) // 4 + 1)).text
    assert "item,note,2024,city" in told


def test_cells_behind_a_comma_and_a_space_are_a_table_where_a_column_has_numbers():
    assert Table().recognises(
        "\n".join(["id, tea, price", *(f"a{n}, green, {n}" for n in range(9))])
    )
    assert not Table().recognises(
        "\n".join(["Well, then, so", *(f"a{n}, green, and more" for n in range(9))])
    )


def test_rows_without_a_header_are_a_table_where_a_column_has_numbers():
    rows = [f"{n * 7},item-{n},{'paid' if n % 5 else 'refused'}" for n in range(40)]
    text = "\n".join(rows)
    assert Table().recognises(text)
    made = shrink(text, 60, "what was refused?")
    assert "35,item-5,refused" in made
    assert all(line in rows or line.startswith("… ") for line in made.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{n}\tvalue = compute({n})" for n in range(20)),
        "\n".join(f"{n * 3}, and so on" for n in range(20)),
        "\n".join(f"red{n},green{n},blue{n}" for n in range(20)).replace("red0,", "1,"),
    ],
)
def test_numbered_lines_and_words_with_commas_are_no_rows(text):
    assert not Table().recognises(text)


def test_a_bar_behind_a_backslash_is_one_of_its_cell():
    rows = "".join(f"| {n} | a \\| b | {n * 2} |\n" for n in range(9))
    found = grid(f"| id | of | twice |\n|---|---|---|\n{rows}")
    assert found is not None
    assert found.cells[4] == ["3", "a \\| b", "6"]


def test_a_heading_of_two_words_is_one_column_also_where_few_rows_have_more_than_one():
    names = ["UNIT", "STATE", "MISHAPS", "AGE", "NOMINATED DOCK", "PERMIT GATES"]
    cells = [
        names,
        *([f"crane-{n * 7919}", "Idle", "0", f"{n}m", "none", "none"] for n in range(9)),
    ]
    rows = ["".join(cell.ljust(17) for cell in row).rstrip() for row in cells]
    found = grid("\n".join(rows))
    assert found is not None
    assert found.cells[0] == names
