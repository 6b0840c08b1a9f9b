"""JSON: what is recognised, what a shrunk text still holds, and what hostile texts do not do to
it.
"""

from __future__ import annotations

import json
import re
from datetime import date

import pytest

from holdfast.content import shrink as shrink_any
from holdfast.content.structured import Json
from holdfast.designs.llm4s import cleaned
from holdfast.kernel.ports import Room
from holdfast.text import json_values
from holdfast.text.json_values import dump, parse, sources, values_in
from holdfast.text.pieces import LONGEST
from holdfast.tokens import counter_for
from tests.content.lossless import expanded
from tests.contracts.content_contract import ContentContract

count = counter_for("o200k_base").count


def canonical(text: str) -> list[str] | str:
    try:
        return [dump(value) for value in parse(text)]
    except ValueError:
        return text


class TestJson(ContentContract):
    kind = Json()

    def same(self, one: str, other: str) -> bool:
        return canonical(one) == canonical(other)


def shrink(text: str, tokens: int, question: str = "") -> str:
    shrunk = Json().shrink(text, Room(tokens, count, question))
    assert count(shrunk.text) <= tokens
    return shrunk.text


def bookings(number: int = 60) -> list[dict[str, object]]:
    cabins = ["economy", "economy", "business"]
    return [
        {
            "booking": f"BK-{7919 * (row + 13) % 100_003:06}",
            "guest": f"guest_{row * 31 % 97:02}_{row:03}",
            "status": "failed" if row == 41 else "confirmed",
            "country": "Norway",
            "terms": "no refund after departure",
            "note": None if row % 9 else "",
            "address": {
                "street": f"{row + 3} Harbour Road",
                "city": ["Oslo", "Bergen", "Bodø"][row % 3],
            },
            "legs": [
                {
                    "flight": f"NO{100 + row * leg}",
                    "cabin": cabins[(row + leg) % 3],
                    "price": 80.5 + row * leg,
                }
                for leg in range(1, 2 + row % 3)
            ],
            "paid": row % 7 != 0,
        }
        for row in range(number)
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([(7, "a kiln", None), (8, 'it\'s "large"', True)], ["7, a kiln", "8, "]),
        ({"kiln": {"lit": date(2023, 5, 15), "walls": ("brick",)}}, ["datetime.date(2023, 5, 15)"]),
        ("{'kiln': 7}\n{'kiln': 8}", ["kiln 7", "kiln 8"]),
    ],
)
def test_what_python_prints_is_read_as_records(value, told):
    text = str(value)
    assert Json().recognises(text)
    assert Json().compact(text) is None
    pieces = " | ".join(piece.text for piece in Json().read(text).pieces)
    assert all(each in pieces for each in told), pieces


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        '"text"',
        "null",
        "{",
        "{a: 1}",
        "(see below)",
        "[1, 2] and more",
        "[" * 100_000 + "]" * 100_000,
        "[INFO] 10:00 started",
    ],
)
def test_what_only_starts_like_json_is_not_recognised_and_still_fits(text):
    assert not Json().recognises(text)
    assert Json().compact(text) is None
    shrink(text, 5)


@pytest.mark.parametrize(
    "text",
    ["[]", '{"a": [1, 2]}', '{"a":1}\n{"b":2}\n', '\ufeff{"a":\r\n1}\r\n', "[NaN, -Infinity]"],
)
def test_a_whole_json_text_is_recognised(text):
    assert Json().recognises(text)


@pytest.mark.parametrize(
    "number", ["1.10", "1e5", "-0", "123456789012345678901234567890", "1E-400", "NaN", "-Infinity"]
)
def test_numbers_stay_as_they_are_written(number):
    text = (
        "["
        + ", ".join(
            f'{{"id": {place}, "value": {number}, "as_text": "{number}"}}' for place in range(9)
        )
        + "]"
    )
    compacted = Json().compact(text)
    assert compacted is not None
    assert expanded("json", compacted) == text.replace(" ", "")


def test_a_key_that_is_there_twice_stays_twice():
    text = '[{"id": 1, "a": 1, "a": 2}, {"id": 2, "a": 3, "a": 4}, {"id": 3, "a": 5, "a": 6}]'
    compacted = Json().compact(text)
    assert compacted is not None
    assert expanded("json", compacted) == text.replace(" ", "")


def test_missing_null_empty_and_false_are_told_apart():
    records = [
        {"id": 1},
        {"id": 2, "v": None},
        {"id": 3, "v": ""},
        {"id": 4, "v": False},
        {"id": 5, "v": []},
    ]
    records.append({"id": 6, "v": "-"})
    compacted = Json().compact(json.dumps(records * 3))
    assert compacted is not None
    assert json.loads(expanded("json", compacted)) == records * 3


def test_the_keys_of_records_and_what_is_the_same_in_all_stand_once():
    text = json.dumps(bookings())
    compacted = Json().compact(text)
    assert compacted is not None
    assert compacted.count("flight") == 1
    assert compacted.count("no refund after departure") == 1
    assert compacted.count("Norway") == 60
    assert count(compacted) < 0.65 * count(json.dumps(bookings(), separators=(",", ":")))


@pytest.mark.parametrize(
    "value",
    [
        {"page": 1, "result": {"bookings": bookings(9)}, "next": None},
        {f"host-{place}": {"cpu": place, "state": "up"} for place in range(9)},
        {"keys": [1], "rows": [[2]], "more": bookings(5)},
        [{"keys": ["a"], "rows": [[place]]} for place in range(9)],
    ],
    ids=[
        "within an object",
        "keys that are data",
        "what looks like a table",
        "records that look like tables",
    ],
)
def test_records_come_back_from_wherever_they_stand(value):
    compacted = Json().compact(json.dumps(value, indent=1))
    assert compacted is not None
    assert json.loads(expanded("json", compacted)) == value


def test_with_room_enough_every_value_stands_in_the_row_of_its_record():
    text = json.dumps(bookings(), indent=2)
    shrunk = shrink_any(text, Room(count(text) // 2, count))
    assert shrunk.lossless
    rows = [row for row in shrunk.text.splitlines() if "BK-" in row]
    for row, record in zip(rows, bookings(), strict=True):
        assert str(record["booking"]) in row
        assert "Norway" in row
        assert all(str(leg["flight"]) in row for leg in record["legs"])


def rows_of(text: str) -> dict[str, str]:
    """What is told of each booking: from its number to the next."""
    parts = re.split(r"(BK-\d{6})", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_at_a_third_of_the_text_most_values_are_kept_in_the_row_of_their_record():
    text = json.dumps(bookings(), indent=2)
    rows = rows_of(shrink(text, count(text) * 3 // 10))
    kept = asked = 0
    for record in bookings():
        values = [
            record["guest"],
            record["status"],
            record["address"]["street"],
            *(leg["flight"] for leg in record["legs"]),
        ]
        asked += len(values)
        kept += sum(str(value) in rows.get(str(record["booking"]), "") for value in values)
    assert kept >= 0.9 * asked


def test_of_the_record_that_the_question_names_all_is_told():
    record = bookings()[17]
    rows = rows_of(
        shrink(json.dumps(bookings()), 400, f"Who travels on {record['booking']}, and where to?")
    )
    told = rows[str(record["booking"])]
    values = [
        record["guest"],
        record["address"]["street"],
        *(leg["flight"] for leg in record["legs"]),
    ]
    assert [value for value in values if value not in told] == []


def test_the_text_says_what_is_left_out():
    shrunk = Json().shrink(json.dumps(bookings(500)), Room(500, count))
    assert not shrunk.lossless
    assert "… 4" in shrunk.text
    assert "500 records, a row each" in shrunk.text
    assert shrunk.omitted.endswith("of 500 records")


def test_what_a_record_holds_has_the_name_of_the_record():
    flights = [
        {"from": "OSL", "to": "BGO", "number": f"DY{n}04", "seats": {"window": n, "aisle": 2}}
        for n in (1, 2)
    ]
    cards = {"card_11873": {"source": "bank", "id": "card_11873", "note": "x " * 80}}
    text = json.dumps({"order": "A-7719", "flights": flights * 2, "cards": cards, "paid": True})
    told = [piece.text for piece in Json().read(text).pieces]
    assert told[:2] == [
        "order A-7719",
        "A-7719 flights: from OSL, to BGO, number DY104, seats (window 1, aisle 2)",
    ]
    assert "A-7719 cards card_11873: source bank, id card_11873" in told
    assert told[-1] == "A-7719: paid true"


def test_a_few_short_records_are_rows_under_their_keys():
    flights = [
        {"from": one, "to": to, "number": f"DY{n}04", "day": f"2024-05-0{n}", "price": 90 + n}
        for n, (one, to) in enumerate([("OSL", "BGO"), ("BGO", "New York"), ("TRD", "OSL")], 1)
    ]
    legs = [{"number": "DY104", "gate": "B7"}, {"number": "DY204", "gate": "C1"}]
    text = json.dumps({"order": "A-7719", "flights": flights, "legs": legs, "paid": True})
    told = Json().read(text).pieces
    assert [piece.text for piece in told] == [
        "order A-7719",
        "A-7719 flights (from, to, number, day, price):",
        "OSL BGO DY104 2024-05-01 91",
        "BGO, New York, DY204 2024-05-02 92",
        "TRD OSL DY304 2024-05-03 93",
        "A-7719: legs [(number DY104, gate B7), (number DY204, gate C1)], paid true",
    ]
    assert [piece.parent for piece in told] == [-1, -1, 1, 1, 1, -1]


def test_records_of_a_list_whose_beginning_is_cut_off_are_one_table():
    records = [{"id": 4_100 + n, "city": "Oslo", "paid": n % 2 == 0} for n in range(30)]
    text = json.dumps(records)
    cut = text[text.index("4102") :]
    assert Json().recognises(cut)
    told = [piece.text for piece in Json().read(cut).pieces]
    assert "," not in told
    assert "27 records, a row each: id, city, paid" in told
    assert told[-1] == "4129 Oslo false"


def test_the_name_of_a_short_record_is_not_told_again_in_it():
    cards = {name: {"source": "bank", "id": name} for name in ("card_11873", "card_20411")}
    told = [piece.text for piece in Json().read(json.dumps(cards)).pieces]
    assert told == ["card_11873 (source bank), card_20411 (source bank)"]


def test_what_is_asked_for_of_a_large_object_stays():
    settings = {
        f"section{place}": {f"key{inner}": [place, inner, "x" * 30] for inner in range(20)}
        for place in range(20)
    }
    settings["section7"]["retry_limit"] = 5
    text = shrink(json.dumps(settings), 200, "What is the retry_limit?")
    assert "section7" in text
    assert "retry_limit 5" in text
    assert "…" in text


@pytest.mark.parametrize("size", [20_000, 200_000])
def test_counting_grows_no_faster_than_the_room(size):
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count(text)

    Json().shrink(json.dumps(bookings(size // 200)), Room(300, counting))
    assert counted < 120_000


def test_cleaned_drops_what_is_empty_and_the_middle_of_long_lists():
    text = json.dumps(
        {
            "b": list(range(50)),
            "gone": None,
            "a": {"x": "", "y": [], "z": 0, "ok": False},
            "n": 2**70,
        }
    )
    made = cleaned(text)
    assert list(json.loads(made)) == ["b", "a", "n"]
    assert json.loads(made)["b"] == [*range(10), "...[+30 items]...", *range(40, 50)]
    assert json.loads(made)["a"] == {"z": 0, "ok": False}
    assert str(2**70) in made


def test_cleaned_refuses_what_is_no_json():
    with pytest.raises(ValueError, match="JSON"):
        cleaned("nothing")


RECORDS = json.dumps([{"id": n, "name": f"user {n}", "open": n % 7 == 0} for n in range(200)])


@pytest.mark.parametrize(
    ("text", "besides"),
    [
        (f"Exit code: 0\nOutput:\n{RECORDS}", "Exit code: 0"),
        (f"{RECORDS}\nDone in 3.2 s\n", "Done in 3.2 s"),
        (f"Here they are:\n```json\n{RECORDS}\n```", "Here they are:"),
        (f"[2026] started\nResult: {RECORDS}", "started"),
    ],
)
def test_json_is_read_with_text_around_it(text, besides):
    assert Json().recognises(text)
    pieces = [piece.text for piece in Json().read(text).pieces]
    assert any(besides in piece for piece in pieces)
    assert "200 records, a row each: id, name, open" in pieces
    assert "199, user 199, false" in pieces
    assert Json().compact(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RECORDS[:4_000], "70, user 70, true"),
        ('{"a": 1, "b": [2, {"c": "found"}, ', "a 1, b [2, (c found)]"),
        ('{"a": 1,}', "a 1"),
        ('{"id": 7, "user": "anna", "total": , "paid": true}', "id 7, user anna"),
        ('{"a": 1}\n{"b": ', "a 1"),
        ('{"id": 7, "more": [1, 2, ... ]}', "id 7, more [1, 2]"),
        (
            '[{"id": 7, "name": "a kiln"}, {"id": 8, "name": "cut, as\n',
            "(id 7, name a kiln), (id 8)",
        ),
        (
            '[{"id": 7, "name": "a kiln"}, {"id": 8, "name": "bad, \\x"}]',
            "(id 7, name a kiln), (id 8)",
        ),
    ],
)
def test_what_is_cut_off_or_broken_is_read_as_far_as_it_goes(text, told):
    assert told in [piece.text for piece in Json().read(text).pieces]


@pytest.mark.parametrize("long", ["a" * 2_500, "\\u00e9" * 700, '\\"' * 900, "1"])
@pytest.mark.parametrize("shift", range(0, 12, 3))
def test_a_value_within_a_text_is_read_whatever_its_length(long, shift):
    value = f'{{"id":12345,"told":"{long}","many":[{"true," * 400}null]}}'
    text = f"log [12:00 {'x' * shift}\n{value}\n[13:00] end"
    parts = list(values_in(text))
    assert [part for part, found in parts if found] == [value]
    assert "".join(part for part, _ in parts) == text


def test_text_that_is_not_json_for_the_most_part_is_none():
    assert not Json().recognises(f"{RECORDS}\n" + "all is well\n" * 2_000)
    assert not Json().recognises("[INFO] all is well\n" * 2_000)


def test_the_words_of_a_long_text_in_a_row_are_no_facts():
    said = "we would be glad to hear when the kiln is repaired and who will bring it back to us, "
    mails = [{"id": f"mail-{n}", "body": f"{said * 3}on day {n}"} for n in range(12)]
    header, *pieces = Json().read(json.dumps(mails)).pieces
    assert header.text == "12 records, a row each: id, body"
    assert max(len(piece.text) for piece in pieces) <= LONGEST
    named = [thing for piece in pieces for thing in piece.labels]
    assert any(thing.startswith("mail-3 of") for thing in named)
    assert not any(thing.startswith("glad of") for thing in named)


def test_a_long_text_in_a_value_is_told_line_by_line():
    text = json.dumps(
        {"exit_code": 2, "output": "".join(f"line {n} of the output\n" for n in range(90))}
    )
    status, label, *lines = Json().read(text).pieces
    assert (status.text, label.text) == ("exit_code 2", "output:")
    assert {piece.parent for piece in lines} == {1}
    assert lines[-1].text.endswith("line 89 of the output")


def test_an_object_that_repeats_a_key_is_read_once():
    twice = ", ".join(f'"part": {n}, "part": {n}, "row {n}": {n}' for n in range(30))
    for text in (f"{{{twice}}}", json.dumps({"output": f"{{{twice}}}"}), f'{{"in": {{{twice}}}}}'):
        assert '29":29' in Json().read(text).pieces[-1].text


@pytest.mark.parametrize("texts", [1, 7])
def test_a_text_in_a_value_that_is_json_is_told_as_json(texts):
    inner = json.dumps([{"number": n, "title": f"repair kiln {n}"} for n in range(9)])
    text = json.dumps([{"type": "text", "text": inner}] * texts)
    told = Json().read(text).pieces
    assert [piece.text for piece in told].count("text:") == texts
    _, _, columns, *rows = told
    assert columns.parent == 1
    assert columns.text == "9 records, a row each: number, title"
    assert [row.text for row in rows[:2]] == ["0, repair kiln 0", "1, repair kiln 1"]


@pytest.mark.parametrize(
    "text", [RECORDS * 40, json.dumps(json.loads(RECORDS) * 40, indent=2), RECORDS[:-2]]
)
def test_each_part_is_short(text):
    header, *pieces = Json().read(text).pieces
    assert max(len(piece.text) for piece in pieces) <= 200
    assert "200 records" in header.text or "8,000 records" in header.text


@pytest.mark.parametrize("text", ["{}", "[ ]", "[[], {}]", '{"a": {}}'])
def test_what_is_empty_fits_whatever_counts(text):
    assert len(Json().shrink(text, Room(1, len)).text) <= 1


@pytest.mark.parametrize("form", ["{:6}\t{}", "{:>5}→{}", "{}:  {}"])
def test_a_file_of_records_with_numbered_lines_is_not_json(form):
    """As JSON its numbers were pieces of text between the records."""
    records = [json.dumps({"id": f"{n}-K", "tier": "silver", "due": n * 37}) for n in range(1, 30)]
    lines = ["[", *(f"  {record}," for record in records), "]"]
    text = "\n".join(form.format(number, line) for number, line in enumerate(lines, 1))
    assert not Json().recognises(text)
    told = shrink_any(text, Room(150, count, "what is due for 7-K?")).text
    assert f"{records[6]}," in told


def test_a_status_after_a_record_leaves_it_json():
    assert Json().recognises(f"{RECORDS}\n200")


def test_equal_records_tell_one_thing():
    equal, other = {"type": "image-12", "size": "444 px"}, {"type": "page-1", "size": "1 px"}
    rows = Json().read(json.dumps([equal] * 9 + [other])).pieces[1:]
    assert len(rows) == 10
    assert len({row.labels for row in rows}) == 2


def test_no_value_begins_in_a_string_without_an_end():
    broken = '{"a": 1, "code": "x = [{}, [2], {\'k\': 3}'
    assert [values for _, values in values_in(broken)] == [[], [{"a": "1"}], []]
    assert [values for _, values in values_in('{"text": "see [[1, 2], [3, 4]] and')] == [[]]


class Reader(json.JSONDecoder):
    """Counts the characters that it is given."""

    read = 0

    def raw_decode(self, s, idx=0):
        self.read += len(s) - idx
        return super().raw_decode(s, idx)


@pytest.mark.parametrize("tail", ["[" * 3_000, '{"a' * 500, '"[{' * 500])
def test_what_was_read_in_vain_is_not_read_again(tail, monkeypatch):
    text, reader = "[" * 400 + '{"a":1},' * 20_000 + tail, Reader()
    monkeypatch.setattr(json_values, "CHECKER", reader)
    assert "".join(part for part, _ in sources(text)) == text
    assert len(text) < reader.read < 10 * len(text)


def tickets(number=24, pieces=9):
    """Records with long texts, some of which tell trouble."""
    return [
        {
            "ticket": f"TK-{4000 + n}",
            "title": f"The export of plant {n} failed",
            "history": [
                f"Step {step} of ticket {n}: the valve {n * 31 + step} was "
                f"{'broken' if step % 4 == 0 else 'checked'} by crew {step}, and the pressure fell "
                f"to {n + step / 10} bar in the second hall."
                for step in range(pieces)
            ],
        }
        for n in range(number)
    ]


def test_the_record_that_is_asked_for_is_told_whole():
    """Beside it stand no beginnings of others that tell trouble."""
    found = tickets()
    told = shrink_any(json.dumps(found), Room(700, count, "What happened to TK-4017?")).text
    assert [step for step in range(9) if f"valve {17 * 31 + step} " not in told] == []


def test_a_map_of_many_records_is_a_table_and_what_wraps_it_names_none():
    devices = {f"dev-{n}": {"name": f"Pump {n}", "zone": f"Z{n % 3}"} for n in range(60)}
    made = {"generated": "2026-02-02T19:29:47Z", "devices": devices}
    told = shrink_any(json.dumps(made), Room(400, count)).text
    assert "devices: 60 records, a row each: [key], name, zone\n" in told
    assert "\ndev-0, Pump 0, Z0\n" in told
    assert told.count("2026-02-02T19:29:47Z") == 1


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (["trip", "line", "delay"], "trip, line, delay"),
        ([{"name": "trip"}, {"name": "line"}, {"name": "delay"}], "trip, line, delay"),
        (["only", "two"], "0, 1, 2"),
    ],
)
def test_lists_of_one_length_are_rows_of_the_columns_that_are_named_beside_them(columns, named):
    rows = [[f"T{n}", f"L{n % 5}", n * 3] for n in range(60)]
    told = shrink_any(json.dumps({"columns": columns, "rows": rows}), Room(200, count)).text
    assert f"rows: 60 records, a row each: {named}\nT0 L0 0\n" in told


def test_columns_say_where_some_records_have_other_keys():
    """Their values would else be read as those of the columns."""
    shops = [
        {"id": n, "place": {"street": f"Road {n}", "zip": 1000 + n}}
        if n % 3
        else {"id": n, "place": {"wharf": f"Quay {n}", "berth": n, "crane": f"C{n}"}}
        for n in range(40)
    ]
    told = shrink_any(json.dumps(shops), Room(250, count)).text
    assert "place (street, zip, or others)" in told


def test_only_records_are_counted_as_such():
    made = {"page": 1, "rows": [{"id": f"R-{n}", "of": n * 7, "at": n % 5} for n in range(30)]}
    told = shrink_any(json.dumps(made, indent=1), Room(120, count)).text
    shown = len(re.findall(r"^R-\d+ ", told, re.MULTILINE))
    gone = sum(int(number) for number in re.findall(r"… (\d+) record", told))
    assert shown
    assert shown + gone == 30


def told_of(value: object) -> list[str]:
    return [piece.text for piece in Json().read(json.dumps(value)).pieces]


def test_what_has_other_keys_than_its_column_keeps_them():
    done = [{"id": n, "did": {"created": True} if n % 3 else {"deleted": True}} for n in range(12)]
    assert told_of(done)[1:3] == ["0, (deleted true)", "1"]


def test_values_in_a_row_do_not_run_together():
    streets = [{"id": f"r{n}", "of": ["New York", "Oslo"]} for n in range(9)]
    assert told_of(streets)[1] == "r0, [New York, Oslo]"
    prices = [{"name": f"Part {n}", "price": "1,250.00", "left": n} for n in range(9)]
    assert told_of(prices)[1] == "Part 0, 1,250.00 0"


def test_a_record_that_says_but_its_name_is_not_empty():
    assert told_of({"failed": {"state": "failed"}}) == ["failed (state failed)"]
