"""Any text in pieces: short lines together, long ones in clauses, and the numbers in front of
lines.
"""

import pytest

from holdfast.text.pieces import LONGEST, clauses, passages, shape_of, things_in


def test_short_lines_stand_together_and_no_word_is_lost():
    text = "\n".join(f"line {n} says {'x' * (n % 40)}" for n in range(50))
    pieces = passages(text).pieces

    assert len(pieces) < 50
    assert "\n".join(piece.text for piece in pieces) == text.replace(" \n", "\n").rstrip()


def test_a_long_line_is_cut_where_a_clause_ends():
    line = "The first clause says this much and no more; " * 20
    pieces = passages(line).pieces

    assert all(len(piece.text) <= LONGEST for piece in pieces)
    assert all(piece.text.endswith(";") for piece in pieces)


def test_the_parts_of_an_entry_are_told_with_its_name():
    links = ", ".join(f"part of release {n}" for n in range(20))
    entry, prose = f"av-991.5 merge local overrides ({links})", f"NOTE that these are {links}."
    pieces = passages(f"{prose}\n{entry}").pieces

    entries = [number for number, piece in enumerate(pieces) if piece.at == 1]
    assert pieces[entries[0]].text.startswith("av-991.5 merge")
    assert {pieces[number].parent for number in entries[1:]} == {entries[0]}
    assert {piece.parent for piece in (*pieces[: entries[0]], pieces[entries[0]])} == {-1}
    assert {piece.parent for piece in passages(entry, said=True).pieces} == {-1}


def test_the_number_of_a_line_stays_without_its_padding_and_names_nothing():
    code = [
        "def total(rows):",
        "    for row in rows:",
        "        check(row)",
        "",
        "    return sum(rows)",
    ]
    for sign in ("\t", "→\t", "  ", ": ", "│ "):
        shown = "\n".join(f"{number:>6}{sign}{line}" for number, line in enumerate(code, 641))
        (piece,) = passages(shown).pieces

        assert piece.text.split("\n") == [
            "641 def total(rows):",
            "642  for row in rows:",
            "643   check(row)",
            "645  return sum(rows)",
        ]
        assert {"641", "642"}.isdisjoint(things_in(piece.unnumbered))


def test_levels_of_two_columns_stay_levels_and_a_text_that_is_read_again_stays_as_it_is():
    page = ["services:", "  web:", "    image: nginx", "  db:", "    image: postgres"]
    shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(page, 1))
    for _ in range(2):
        (piece,) = passages(shown).pieces
        shown = piece.text

        assert shown.split("\n") == [
            "1 services:",
            "2  web:",
            "3   image: nginx",
            "4  db:",
            "5   image: postgres",
        ]


def test_numbers_that_count_nothing_stay_as_they_are():
    text = "12\t40 EUR\n7\t31 EUR\n3750\t9 EUR"
    (piece,) = passages(text).pieces

    assert piece.text == text
    assert "3750" in things_in(piece.unnumbered)


def test_a_list_without_spaces_is_cut_between_its_names():
    ids = [f"#802Wt{number:08}IAA" for number in range(60)]
    pieces = passages(f"id IN ({','.join(repr(each) for each in ids)})").pieces

    assert len(pieces) > 1
    assert {name for piece in pieces for name in things_in(piece.text)}.issuperset(ids)


def test_a_run_of_signs_is_no_thing_however_long():
    """Each sign may begin a thing; the run must not be read again at each of them."""
    assert things_in("#" * 200_000 + " a" + "." * 200_000 + " .#.# a##b") == ("a##b",)


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("注文INV-2041を確認しました。", {"INV-2041"}, {"注文", "確認"}),
        ("请检查src/app.py中的第40行。", {"src/app.py", "app.py", "40"}, {"检查"}),
        ("Заказ INV-2041 изменён", {"INV-2041"}, {"изменён"}),
    ],
)
def test_names_and_words_of_any_script_are_told_apart(text, names, words):
    found = things_in(text)
    assert (names | words).issubset(found)
    assert all(shape_of(word) == "word" for word in words)
    assert all(shape_of(name) != "word" for name in names)


def test_a_time_of_day_is_no_number_of_a_line():
    text = "14:59:10 a session starts\n15:02:11 net view\n16:20:44 a file goes"
    assert "\n".join(piece.text for piece in passages(text).pieces) == text


def test_a_long_line_is_not_cut_within_a_name():
    name = (
        "arn:cloud:balancer:eu-1:604418820137:"
        + "/".join(f"part{n}" for n in range(16))
        + "/8d17c4e05fb2a936"
    )
    parts = clauses(f"the balancer {name} answers, and {name}")
    assert sum(name in part for part in parts) == 2


LIMITED = (
    "Clinic codes are fine among us, in the tables of the report and in messages, but not in the "
    "memo that the board will read, since it leaves the house."
)


def test_a_long_line_that_a_person_said_is_cut_after_sentences():
    thanks = (
        "Thanks for the tables, the office has read them and agrees with all that you have found."
    )
    line = f"{thanks} {LIMITED} And send it on Friday, please."
    pieces = [piece.text for piece in passages(line, said=True).pieces]
    assert pieces[:2] == [thanks, LIMITED]
    assert " ".join(pieces) == line
    assert not any(LIMITED in piece.text for piece in passages(line).pieces)


def test_chinese_sentences_that_a_person_said_are_cut_at_their_ends():
    middle = "也可以写医生的名字，" * 9
    said = [f"第{n}份报告里可以写编号，{middle}但是给董事会的备忘录里不可以写。" for n in range(3)]
    assert [piece.text for piece in passages("".join(said), said=True).pieces] == said


def test_a_sentence_of_a_person_that_is_longer_than_a_piece_is_not_cut():
    rule = LIMITED.replace(" in messages,", " in messages to the office and to the head of it,")
    assert len(rule) > LONGEST
    pieces = [piece.text for piece in passages(f"Thanks. {rule} Until Friday.", said=True).pieces]
    assert pieces == [f"Thanks. {rule}", "Until Friday."]
    assert len(passages("take this one, " * 60, said=True).pieces) > 2
