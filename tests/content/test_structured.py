"""JSON: what is recognised, what a shrunk text still holds, and what hostile texts do not do to it."""

from __future__ import annotations

import json

import pytest

from holdfast.content.structured import Json, cleaned
from holdfast.content.structured.values import dump, parse
from holdfast.kernel.ports import Room
from holdfast.tokens import counter_for
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
            "address": {"street": f"{row + 3} Harbour Road", "city": ["Oslo", "Bergen", "Bodø"][row % 3]},
            "legs": [
                {"flight": f"NO{100 + row * leg}", "cabin": cabins[(row + leg) % 3], "price": 80.5 + row * leg}
                for leg in range(1, 2 + row % 3)
            ],
            "paid": row % 7 != 0,
        }
        for row in range(number)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        '"text"',
        "null",
        "{",
        '{"a": 1,}',
        "{'a': 1}",
        "[1, 2] and more",
        '{"a": 1}\n{"a": ',
        "[" * 100_000 + "]" * 100_000,
        "[INFO] 10:00 started",
    ],
)
def test_what_only_starts_like_json_is_not_recognised_and_still_fits(text):
    assert not Json().recognises(text)
    assert Json().compact(text) is None
    shrink(text, 5)


@pytest.mark.parametrize(
    "text", ["[]", '{"a": [1, 2]}', '{"a":1}\n{"b":2}\n', '\ufeff{"a":\r\n1}\r\n', "[NaN, -Infinity]"]
)
def test_a_whole_json_text_is_recognised(text):
    assert Json().recognises(text)


@pytest.mark.parametrize(
    "number", ["1.10", "1e5", "-0", "123456789012345678901234567890", "1E-400", "NaN", "-Infinity"]
)
def test_numbers_stay_as_they_are_written(number):
    text = (
        "[" + ", ".join(f'{{"id": {place}, "value": {number}, "as_text": "{number}"}}' for place in range(9)) + "]"
    )
    compacted = Json().compact(text)
    assert compacted is not None
    assert Json().expand(compacted) == text.replace(" ", "")


def test_a_key_that_is_there_twice_stays_twice():
    text = '[{"id": 1, "a": 1, "a": 2}, {"id": 2, "a": 3, "a": 4}, {"id": 3, "a": 5, "a": 6}]'
    compacted = Json().compact(text)
    assert compacted is not None
    assert Json().expand(compacted) == text.replace(" ", "")


def test_missing_null_empty_and_false_are_told_apart():
    records = [{"id": 1}, {"id": 2, "v": None}, {"id": 3, "v": ""}, {"id": 4, "v": False}, {"id": 5, "v": []}]
    compacted = Json().compact(json.dumps(records * 3))
    assert compacted is not None
    assert json.loads(Json().expand(compacted)) == records * 3
    assert len({line.partition(" ")[2] for line in compacted.splitlines()[1:]}) == 5


def test_records_become_rows_with_their_keys_once():
    text = json.dumps(bookings())
    compacted = Json().compact(text)
    assert compacted is not None
    assert compacted.startswith("60 records, a line each: booking guest status")
    assert compacted.count("flight") == 1
    assert compacted.count("no refund after departure") == 1
    assert compacted.count("Norway") == 60
    assert count(compacted) < 0.55 * count(json.dumps(bookings(), separators=(",", ":")))


def test_records_within_an_object_stand_under_their_path():
    text = json.dumps({"page": 1, "result": {"bookings": bookings(9)}, "next": None})
    compacted = Json().compact(text)
    assert compacted is not None
    first, second, *_ = compacted.splitlines()
    assert json.loads(first) == {"page": 1, "result": {"bookings": "9 records below"}, "next": None}
    assert second.startswith("result.bookings: 9 records, a line each: ")


def test_objects_with_data_for_keys_become_entries():
    text = json.dumps({f"host-{place}": {"cpu": place, "state": "up"} for place in range(9)})
    compacted = Json().compact(text)
    assert compacted is not None
    assert compacted.startswith("9 entries, a line each: @key cpu")
    assert json.loads(Json().expand(compacted)) == json.loads(text)


def test_with_room_enough_every_value_stands_in_the_row_of_its_record():
    text = json.dumps(bookings(), indent=2)
    shrunk = Json().shrink(text, Room(count(text) // 2, count))
    assert shrunk.lossless
    rows = shrunk.text.splitlines()[1:]
    for row, record in zip(rows, bookings(), strict=True):
        assert row.startswith(str(record["booking"]))
        assert "Norway" in row
        assert all(str(leg["flight"]) in row for leg in record["legs"])


def test_at_a_third_of_the_text_most_values_are_kept_in_the_row_of_their_record():
    text = json.dumps(bookings(), indent=2)
    rows = shrink(text, count(text) * 3 // 10).splitlines()
    kept = asked = 0
    for record in bookings():
        row = next((row for row in rows if row.startswith(str(record["booking"]))), "")
        values = [
            record["guest"],
            record["status"],
            record["address"]["street"],
            *(leg["flight"] for leg in record["legs"]),
        ]
        asked += len(values)
        kept += sum(str(value) in row for value in values)
    assert kept >= 0.85 * asked


def test_the_record_that_the_question_names_stays_whole():
    record = bookings()[17]
    text = shrink(json.dumps(bookings()), 400, f"Who travels on {record['booking']}, and where to?")
    whole = next(line for line in text.splitlines() if line.startswith("{"))
    assert json.loads(whole) == record


def test_the_odd_record_is_among_the_few_that_fit():
    assert "failed" in shrink(json.dumps(bookings(500)), 400)


def test_the_text_says_what_is_left_out():
    shrunk = Json().shrink(json.dumps(bookings(500)), Room(500, count))
    assert not shrunk.lossless
    assert "of 500 records left out" in shrunk.text
    assert shrunk.omitted in shrunk.text


def test_long_texts_are_shortened_before_columns_go():
    records = [
        {"id": place, "title": f"title {place}", "body": f"body {place} " + "word " * 60} for place in range(30)
    ]
    text = shrink(json.dumps(records), 900)
    assert "texts shortened: body" in text
    assert all(f"body {place} word" in text for place in range(30))


def test_an_object_is_pruned_from_its_leaves_and_what_is_asked_for_stays():
    settings = {
        f"section{place}": {f"key{inner}": [place, inner, "x" * 30] for inner in range(20)} for place in range(20)
    }
    settings["section7"]["retry_limit"] = 5
    text = shrink(json.dumps(settings), 200, "What is the retry_limit?")
    assert '"retry_limit":5' in text
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
        {"b": list(range(50)), "gone": None, "a": {"x": "", "y": [], "z": 0, "ok": False}, "n": 2**70}
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
    ("text", "first", "last"),
    [
        (f"Exit code: 0\nOutput:\n{RECORDS}", "Exit code: 0", "199"),
        (f"{RECORDS}\nDone in 3.2 s\n", "[", "Done in 3.2 s"),
        (f"Here they are:\n```json\n{RECORDS}\n```", "Here they are:", "```"),
    ],
)
def test_json_in_a_frame_is_read_as_json_and_the_frame_stays(text, first, last):
    assert Json().recognises(text)
    shrunk = Json().shrink(text, Room(300, count))
    assert shrunk.text.startswith(first)
    assert shrunk.text.splitlines()[-1].startswith(last)
    assert "records, a line each" in shrunk.text
    assert Json().compact(text) is None


@pytest.mark.parametrize(
    "text",
    [f"[2026] started\n{RECORDS}", f"{RECORDS}\n" + "all is well\n" * 2_000, "{\n" + '"a": 1,\n' * 99 + "}"],
)
def test_text_that_is_not_json_for_the_most_part_is_none(text):
    assert not Json().recognises(text)


def test_a_small_document_becomes_facts_that_stand_beside_their_kin():
    flights = [
        {"from": "OSL", "to": "BGO", "number": f"DY{n}04", "seats": {"window": n, "aisle": 2}} for n in (1, 2)
    ]
    card = {"card_11873": {"source": "bank", "id": "card_11873"}}
    text = json.dumps({"order": "A-7719", "flights": flights, "cards": card, "note": "w " * 90})
    shrunk = Json().shrink(text, Room(count(text) * 2 // 3, count))
    said = shrunk.text
    assert said.startswith("order A-7719, flights (from OSL, to BGO, number DY104, seats (window 1")
    assert "; from OSL" in said
    assert said.count("card_11873") == 2
    assert said.endswith("w w…")
    assert shrunk.omitted == "the end of 1 long text"


@pytest.mark.parametrize("text", ["{}", "[ ]", "[[], {}]", '{"a": {}}'])
def test_what_is_empty_fits_whatever_counts(text):
    assert len(Json().shrink(text, Room(1, len)).text) <= 1
