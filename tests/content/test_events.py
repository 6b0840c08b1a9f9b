"""Records of events are told as a log: each kind of event once, by its words, with its fields."""

from __future__ import annotations

import json

import pytest

from holdfast.content import recognise
from holdfast.content.events import events_of
from holdfast.kernel.ports import Room
from holdfast.text.json_values import parse


def records(number=60):
    said = ["order {n} stored", "disk of shelf {n} is full", "client {n} has gone"]
    for n in range(number):
        yield {
            "msg": said[n % 3].format(n=n),
            "level": ("info", "error", "info")[n % 3],
            "at": {"time": f"2026-03-01T10:00:{n:02}.101Z", "host": f"web-{n % 4}"},
        }


def as_rows(found):
    names = ["when", "level", "host", "msg"]
    rows = [[each["at"]["time"], each["level"], each["at"]["host"], each["msg"]] for each in found]
    return "\n".join(map(",".join, [names, *rows]))


def shrunk(text, tokens):
    return recognise(text).shrink(text, Room(tokens, lambda said: len(said) // 3 + 1)).text


def read(made):
    return events_of(parse(json.dumps(made))[0])


def kinds(made):
    return [piece.text for piece in read(made).pieces if len(piece.labels) > 1]


@pytest.mark.parametrize(
    "written",
    [
        lambda found: "\n".join(map(json.dumps, found)),
        lambda found: json.dumps(found, indent=1),
        lambda found: json.dumps({"took": 7, "hits": [{"source": each} for each in found]}),
        as_rows,
    ],
    ids=["JSON lines", "a list", "a list within", "CSV"],
)
def test_records_of_events_are_told_as_a_log(written):
    told = shrunk(written(list(records())), 130)
    for said in ("error disk of shelf … is full", "order … stored", "client … has gone"):
        assert said in told
    assert told.count("×20") == 3


def test_texts_in_a_list_are_told_as_the_log_that_they_are():
    lines = [
        f"2026-03-01 10:00:{n:02} {('INFO job {} done', 'ERROR job {} failed')[n % 2].format(n)}"
        for n in range(60)
    ]
    told = shrunk(json.dumps({"lines": lines}), 90)
    assert "×30 job … done" in told
    assert "×30 ERROR job … failed" in told


def test_a_field_that_tells_trouble_makes_a_kind():
    answers = [
        {"time": f"2026-03-01T10:00:{n:02}Z", "level": "info", "msg": "request is answered"}
        | {"http": {"status": 503 if n % 20 == 3 else 200, "id": f"c{n * 7919}"}}
        for n in range(60)
    ]
    assert sorted(kinds(answers)) == [
        "×3 request is answered status=503",
        "×57 request is answered status=200",
    ]


@pytest.mark.parametrize(
    "result",
    [("ok", True, False), ("success", True, False), ("exit_code", 0, 1), ("status", 200, 503)],
)
def test_a_flag_of_failure_makes_a_kind(result):
    name, good, bad = result
    jobs = [
        {"time": f"2026-03-01T10:00:{n % 60:02}Z", "level": "info", "msg": "the job is finished"}
        | {name: bad if n in (71, 150) else good}
        for n in range(200)
    ]
    told = shrunk("\n".join(map(json.dumps, jobs)), 120)
    assert f"×2 the job is finished {name}={json.dumps(bad)}" in told


def test_several_values_that_tell_trouble_are_told_together():
    answers = [
        {"time": f"2026-03-01T10:00:{n:02}Z", "level": "info", "msg": "request is answered"}
        | {"status": {3: 503, 17: 404, 40: 404}.get(n, 200)}
        for n in range(60)
    ]
    assert "×3 request is answered status=…" in kinds(answers)
    told = [piece.text for piece in read(answers).pieces]
    assert any(text.endswith("status=503") for text in told)
    assert sum(text.endswith("status=404") for text in told) == 2


def test_other_texts_of_an_event_have_their_keys():
    made = [
        {**each, "assignee": "Anna Weber", "reporter": ("Tom Miller", "Li Wei")[n % 2]}
        for n, each in enumerate(records())
    ]
    told = [piece.text for piece in read(made).pieces]
    assert told[0].endswith(" always assignee=Anna Weber")
    assert any("reporter=Tom" in text for text in told[1:8])


def test_other_fields_make_no_kinds_and_stand_in_the_lines():
    made = [
        {
            "time": f"2026-03-01T10:00:{n:02}Z",
            "level": "info",
            "msg": f"cart {n} is saved",
            "app": "shop",
            "trace": {"id": f"c{n * 7919}"},
            "user": {"id": n % 9, "plan": ("free", "team")[n % 2]},
        }
        for n in range(60)
    ]
    made[7]["retry"] = 3
    told = [piece.text for piece in read(made).pieces]
    assert kinds(made) == ["×60 cart … is saved"]
    whole = "cart 7 is saved trace.id=c55433 user.id=7 plan=team retry=3"
    assert any(text.endswith(whole) for text in told)
    assert [text for text in told if "app=" in text] == told[:1]
    assert told[0].endswith(" always app=shop")


def test_a_record_among_events_that_is_none_is_told_as_it_is():
    made = [*records(), {"x": "broken"}]
    for each in made[:-1]:
        each["app"] = "shop"
    told = [piece.text for piece in read(made).pieces]
    assert "x=broken" in told
    assert [text for text in told if "app=" in text] == told[:1]
    assert all(text.strip() for text in told)


def test_a_key_stands_on_one_line_and_a_value_as_it_is():
    made = [*records()]
    made[-1]["disk\nof it"] = "B9  x2 y3"
    told = [piece.text for piece in read(made).pieces]
    assert any(text.endswith("disk_of_it=B9 x2 y3") for text in told)


@pytest.mark.parametrize(
    "record",
    [
        {"message": "10:00:01 cart 3 is saved", "level": "info"},
        {"msg": "May not reach cart 3", "severity": "error"},
        {"type": "config", "msg": "cart 3 is saved", "level": "error"},
    ],
    ids=["words behind a time", "words like a month", "a word like a level"],
)
def test_time_and_level_are_told_from_the_words(record):
    made = [{**record, "at": f"2026-03-01T10:00:{n:02}Z"} for n in range(20)]
    (told,) = kinds(made)
    assert "cart 3" in told
    assert ("error" in json.dumps(record)) == ("error" in f"{told} {read(made).pieces[0].text}")


@pytest.mark.parametrize("levels", [(6, 3, 6), (30, 50, 30)], ids=["of syslog", "of Pino"])
def test_levels_that_are_numbers_are_told_by_their_words_too(levels):
    made = [{**record, "level": levels[n % 3]} for n, record in enumerate(records())]
    told = "\n".join(piece.text for piece in read(made).pieces)
    assert "mostly info" in told
    assert "error disk of shelf … is full" in told
    assert f"level={levels[1]}" in told


@pytest.mark.parametrize("levels", [(1, 2, 3), (6, 12, 30)], ids=["of a game", "of a lift"])
def test_other_numbers_are_no_levels(levels):
    made = [{**record, "level": levels[n % 3]} for n, record in enumerate(records())]
    assert read(made) is None


@pytest.mark.parametrize(
    "record",
    [
        {"id": 7, "state": "error", "name": "n7"},
        {"id": 7, "created": "2026-03-01T10:00:00Z", "customer": "Ann Miller", "city": "Oslo"},
        {"at": "2026-03-01T10:00:00Z", "load": 0.71, "free": 812},
        {"package": "left-pad", "version": "1.4.3", "severity": "critical"},
        {"at": "2026-03-01T10:00:00Z", "city": "Berlin", "temp": 20, "unit": "C"},
        {"at": "2026-03-01T10:00:00Z", "level": "info", "load": 0.71},
        {"date": "2026-03-01", "level": "info", "title": "the page of orders is slow"},
        {"at": "2026-03-01T10:00:00Z", "expected": "the sum is five", "actual": "the sum is six"},
    ],
    ids=[
        "without a time",
        "an order",
        "a measurement",
        "a version",
        "a unit",
        "without a message",
        "of a day",
        "without a level",
    ],
)
def test_other_records_are_a_table(record):
    made = [{**record, "row": n} for n in range(40)]
    assert read(made) is None
    assert "records, a row each" in shrunk(json.dumps(made), 90)
