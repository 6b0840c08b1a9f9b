"""Logs keep every kind of line with its count, every failure, and the lines that are asked for."""

from __future__ import annotations

import random
import re

import pytest

from holdfast.content import recognise
from holdfast.content.logs import Log
from holdfast.designs.llm4s import llm4s_log
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract


class TestLog(ContentContract):
    kind = Log()


def shrunk(lines, tokens, question="", count=lambda text: len(text) // 3 + 1):
    return Log().shrink("\n".join(lines), Room(tokens, count, question)).text


def service(number=2_000, seed=1):
    """A log of a made-up service: four kinds of line in turn, with ids and times of their own."""
    drawn = random.Random(seed)
    for row in range(number):
        clock = (
            f"2026-03-01 {row // 3600 % 24:02}:{row // 60 % 60:02}:{row % 60:02},"
            f"{drawn.randrange(1000):03}"
        )
        yield [
            f"{clock} INFO  [worker-{row % 4}] shop.Queue: received message "
            f"{drawn.getrandbits(64):016x} of tenant {row % 9}",
            f"{clock} INFO  [worker-{row % 4}] shop.Store: stored order A-{10_000 + row} "
            f"in {drawn.randrange(90)} ms",
            f"{clock} DEBUG [worker-{row % 4}] shop.Cache: evicted {drawn.randrange(50)} "
            f"entries of region eu-{row % 3}",
            f"{clock} INFO  [main] shop.Http: GET /orders/{10_000 + row}/lines from "
            f"10.0.{row % 250}.{drawn.randrange(250)}",
        ][row % 4]


FAILURES = [
    "disk quota of volume 7 exceeded",
    "connection to db-3 refused",
    "certificate of gateway expired 3 days ago",
    "payload of message 99 is corrupt",
    "worker 5 crashed with signal 11",
    "lease 4711 could not be renewed",
    "replica db-2 timed out after 30 s",
    "permission to read /etc/shop/key denied",
]


def with_failures():
    lines = list(service())
    for number, failure in enumerate(FAILURES):
        row = 100 + 230 * number
        lines.insert(row, f"2026-03-01 09:{number:02}:00,000 ERROR [main] shop.Health: {failure}")
    return lines


def test_every_kind_of_failure_is_told_in_a_small_room():
    text = shrunk(with_failures(), 600)
    assert [failure for failure in FAILURES if failure.split()[0] not in text] == []


def test_each_kind_has_its_count_and_a_real_line():
    text = shrunk(with_failures(), 900)
    assert "×500" in text
    assert "stored order A-… in … ms" in text
    assert "12 kinds of line" in text


def test_the_line_that_stands_for_a_kind_is_not_told_as_if_all_were_equal_to_it():
    text = shrunk(
        [f"2026-03-01 10:00:00 INFO a: job {n} done in {n % 90} ms" for n in range(300)], 120
    )
    assert "1 kind of line: ×n n such lines, … differs" in text
    assert "job … done in … ms" in text
    assert "×300" in text


@pytest.mark.parametrize("row", [4, 777, 1_996])
def test_the_line_whose_id_is_asked_for_survives_among_thousands(row):
    lines = list(service())
    order = next((word for word in lines[row].split() if word.startswith("A-")), "")
    asked = order or lines[row].split("message ")[1].split()[0]
    text = shrunk(lines, 500, f"what happened to {asked}?")
    assert lines[row] in text


def test_a_failure_is_never_told_as_one_kind_with_a_success():
    lines = [
        f"2026-03-01 10:00:{n % 60:02} INFO api: request {n} completed in {n} ms"
        for n in range(200)
    ]
    lines[50] = "2026-03-01 10:00:50 INFO api: request 50 failed in 3 ms"
    text = shrunk(lines, 120)
    assert "completed|failed" not in text
    assert "request 50 failed" in text
    assert "×199" in text


def test_answers_of_a_web_server_are_told_apart_by_their_class():
    lines = [
        f'10.0.0.{n % 9} - - [01/Mar/2026:10:00:{n % 60:02}] "GET /shop/{n} HTTP/1.1" 200 {n}'
        for n in range(200)
    ]
    lines[120] = '10.0.0.1 - - [01/Mar/2026:10:00:59] "GET /shop/120 HTTP/1.1" 502 0'
    text = shrunk(lines, 150)
    assert '"GET /shop/120 HTTP/1.1" 502' in text
    assert "×199" in text


def test_states_are_kinds_of_their_own():
    lines = [
        f"Mar  1 10:00:{n % 60:02} host su[{n}]: session "
        f"{'opened' if n % 2 else 'closed'} for user cyrus"
        for n in range(90)
    ]
    text = shrunk(lines, 100)
    assert "×45 session closed for user cyrus" in text
    assert "×45 session opened for user cyrus" in text


def test_a_stack_trace_belongs_to_the_line_above_it():
    lines = list(service(400))
    trace = [
        "java.io.IOException: pipe is broken",
        "\tat shop.Feed.read(Feed.java:41)",
        "\tat shop.Main.main(Main.java:9)",
    ]
    lines[200:200] = ["2026-03-01 00:03:20,000 ERROR [main] shop.Feed: feed 3 stopped", *trace]
    text = shrunk(lines, 900)
    assert "java.io.IOException: pipe is broken" in text
    assert "shop.Feed.read(Feed.java:41)" in text


HEADS = {
    "[2026-03-01T10:00:0{n},041][INFO ][o.shop.Store] [node-1] ": "o.shop.Store",
    "Mar  1 10:00:0{n} web1 sshd[12{n}]: ": "sshd",
    "2026-03-01T10:00:0{n}.123Z [api] info: ": "api",
    "[2026-03-01 10:00:0{n}] [error] [pid 4{n}] ": "pid",
    "03-01 10:00:0{n}.123  17{n}  2395 D PowerManager: ": "PowerManager",
    "I0301 10:00:0{n}.535546   2121{n} controller.go:83] ": "controller",
    "26/03/01 10:00:0{n} INFO storage.BlockManager: ": "BlockManager",
    "- 177235920{n} 2026.03.01 R02-M1-N{n} 2026-03-01-10.00.0{n}.363779 R02-M1-N{n} "
    "RAS KERNEL INFO ": "KERNEL",
    "20260301-10:00:0{n}:606|Step_LSC|30002312|": "Step",
    "[  12{n}.535546] usb: ": "usb",
    "260301 10000{n} 148 INFO dfs.DataNode$Packet: ": "dfs",
}
SENTENCES = [
    "opened the gate of hall {n}",
    "visitors counted: {n}",
    "the lamp of room {n} is on",
    "nothing to do",
]


@pytest.mark.parametrize(("head", "component"), HEADS.items())
def test_the_head_of_any_system_is_told_from_the_message(head, component):
    lines = [(head + SENTENCES[n % 4]).replace("{n}", str(n % 10)) for n in range(40)]
    assert Log().recognises("\n".join(lines))
    told = [piece.text for piece in Log().read("\n".join(lines)).pieces if len(piece.labels) > 1]
    assert len(told) == len(SENTENCES)
    for sentence in SENTENCES:
        assert any(re.search(sentence.replace("{n}", ".+"), text) for text in told)
    assert all("10:00" not in text and "10.00" not in text for text in told)


def test_columns_may_end_without_a_space():
    lines = [
        f"01.03.2026 10:00:{n:02},606;SRV1;AS{n % 3};{said}"
        for n, said in enumerate(["Fault;NOT-AUS of hall 3", "State;Pump 7 started"] * 15)
    ]
    told = shrunk(lines, 90)
    assert "×15 SRV1; AS…; Fault; NOT-AUS of hall 3" in told
    assert "×15 SRV1; AS…; State; Pump 7 started" in told


def test_a_sign_is_no_component():
    lines = [
        f"2026-03-01T10:00:{n:02} INFO 1 --- [main] shop.{('Store', 'Till')[n % 2]} : "
        f"{('row {} read', 'the drawer of till {} is open')[n % 2].format(n)}"
        for n in range(30)
    ]
    told = shrunk(lines, 90)
    assert "shop.Store ×15 row … read" in told
    assert "shop.Till ×15 the drawer of till … is open" in told


def test_a_component_may_stand_before_a_bar():
    lines = [
        f"{('api-1   ', 'worker-1')[n % 2]} | {('GET /carts/{0} done', 'job {0} received')[n % 2]}"
        for n in range(60)
    ]
    lines = [line.format(n) for n, line in enumerate(lines)]
    lines.insert(33, "worker-1 | Error: no connection to 10.0.0.7")
    told = shrunk(lines, 100)
    assert "api-1 ×30 GET /carts/… done" in told
    assert "Error: no connection to 10.0.0.7" in told


def test_lines_of_few_kinds_and_components_are_a_log_without_times():
    chance = random.Random(5)
    said = {
        "LogNet": "the login of player {} is accepted",
        "LogAi": "bot {} flees from the wolf",
        "LogSave": "slot {} is written to the disk",
    }
    lines = [
        f"{name}: {said[name].format(chance.randrange(900))}"
        for name in chance.choices(list(said), k=90)
    ]
    lines.insert(41, "LogSave: Error: slot 7 is full")
    assert Log().recognises("\n".join(lines))
    assert "Error: slot 7 is full" in shrunk(lines, 60)
    talk = [
        f"{('Ann', 'Ben')[n % 2]}: {FAILURES[n % 8]}, said {'abcdefg'[n % 7] * 4}" for n in range(9)
    ]
    assert not Log().recognises("\n".join(talk))
    found = [f"src/part_{n}.py:{n}:    here = os.getcwd()" for n in range(40)]
    assert not Log().recognises("\n".join(found))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("PASS: tests/unit {n}", "FAIL: tests/unit {n}"),
        ("Passed: check of the disk {n}", "Failed: check of the disk {n}"),
        ("passed | backup of the base db{n}", "failed | backup of the base db{n}"),
        ("passed 10:00:{n} backup of db{n}", "failed 10:00:{n} backup of db{n}"),
        ("[10:00:{n}][PASSED] backup of db{n}", "[10:00:{n}][FAILED] backup of db{n}"),
    ],
)
def test_a_result_at_the_beginning_of_a_line_is_never_counted_with_its_opposite(good, bad):
    lines = [(bad if n in (14, 23) else good).format(n=n) for n in range(10, 50)]
    told = [p.text for p in recognise("\n".join(lines)).read("\n".join(lines)).pieces]
    counted = [text for text in told if re.search(r"×\d+", text)]
    assert not any("×40" in text for text in counted)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"id    | {n}\nname  | Anna\nsum   | {n * 7}\n" for n in range(14)),
        "".join(f"Question: {n}\nAnswer: B\nGiven: C\n" for n in range(14)),
        "".join(f"{('Tom', 'Anna', 'Li')[n % 3]}: {('yes', 'no')[n % 2]}\n" for n in range(30)),
        "".join(
            f"{('north', 'south')[n % 2]} | {('bread', 'milk')[n % 2]} | {n}\n" for n in range(30)
        ),
    ],
    ids=["records", "questions", "votes", "cells"],
)
def test_fields_of_records_are_no_log(text):
    assert not Log().recognises(text)


def test_what_a_log_says_is_shown_as_it_stands():
    lines = [
        f"2026-03-01 10:00:{n:02} INFO db jdbc:sql://h{n};user=app sizes 10,small"
        for n in range(30)
    ]
    told = [piece.text for piece in Log().read("\n".join(lines)).pieces]
    assert lines[7] in told
    assert any("user=app sizes 10,small" in text for text in told[:4])


@pytest.mark.parametrize(
    "text",
    [
        "An Exception is thrown at 10:00.\n\n"
        "The ERROR was found on 2026-03-01, and nobody knows why.\nWARN them.\n" * 5,
        "-rw-r--r-- 1 root root 4096 Mar  1 10:00 a.py\n" * 9,
        "def f():\n    return 1\n" * 9,
        "name,date\nann,2026-03-01\nben,2026-03-02\n" * 9,
    ],
)
def test_other_texts_are_no_log(text):
    assert not Log().recognises(text)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: "\ufeff" + "\r\n".join(lines),
        lambda lines: "\n".join([*lines[:20], "\x00\x01\x7fELF\x02" * 20, *lines[20:]]),
        lambda lines: "\n".join(f"\x1b[32m{line}\x1b[0m" for line in lines),
    ],
    ids=["byte-order mark and carriage returns", "a binary line", "colours"],
)
def test_a_log_stays_a_log_whatever_happened_to_it(spoil):
    text = spoil(list(service(200)))
    assert Log().recognises(text)
    told = Log().shrink(text, Room(300, lambda piece: len(piece) // 3 + 1)).text
    assert "×50" in told
    assert not any(ord(character) < 32 and character != "\n" for character in told)


def test_the_llm4s_preset_keeps_eighty_and_forty_lines():
    lines = [f"INFO line {n}" for n in range(200)]
    marker = "... [collapsed 80 repeated/verbose log lines] ..."
    assert llm4s_log("\n".join(lines)).split("\n") == [*lines[:80], marker, *lines[-40:]]


def test_the_llm4s_preset_leaves_120_lines_and_counts_repeats():
    assert llm4s_log("\n".join(["same"] * 120)) == "\n".join(["same"] * 120)
    assert llm4s_log("\n".join(["same"] * 121)) == "same ×121"


def test_events_are_one_thing_in_two_logs_if_they_say_the_same():
    def tags(*kinds):
        lines = [f"2026-01-01 10:00:{n:02} {kinds[n % len(kinds)]}" for n in range(12)]
        return {tag for piece in Log().reading("\n".join(lines)).pieces for tag in piece.labels}

    first = tags("INFO cache warm", "INFO pool ready")
    second = tags("ERROR payment refused", "INFO pool ready")
    assert len(first) == len(second) == 4
    assert first & second == {tag for tag in first if "pool ready" in tag}


def test_lines_are_compared_up_to_a_length_and_may_have_any():
    lines = [
        f"2026-01-01 12:00:{n:02} INFO worker {n} took " + "ab " * (700 + n) for n in range(40)
    ]
    told = [piece for piece in Log().read("\n".join(lines)).pieces if len(piece.labels) > 1]
    assert all(" worker … took ab ab" in piece.text for piece in told)
    assert sum(piece.units for piece in told) == 40
    assert len(told) == 2  # the words of the shorter ones are all compared


def test_a_line_that_begins_with_much_white_space_is_a_line():
    lines = [f"2026-01-01 12:00:{n % 60:02} INFO worker {n} took job" for n in range(300)]
    lines[10] = " " * 2_000 + "x"
    assert "×299 worker … took job" in shrunk(lines, 100)


def test_lines_that_have_a_kind_each_stay_as_they_are():
    subjects = "Simplify cents, Gold is half, Zone table, Bill once, Count minutes, Name the day"
    lines = [
        f"e083eb{day} 2024-06-{day} 10:00:00 +0000 team: {subject}"
        for day, subject in enumerate(subjects.split(", "), 10)
    ]
    text = shrunk(lines, 60)
    assert not text.startswith("[log")
    assert any(line in text for line in lines)


def test_the_level_that_most_lines_have_is_named_once():
    lines = [f"ok    example.org/app/pkg/p{n}    {n / 7:.3f}s" for n in range(40)]
    text = shrunk([*lines, "FAIL  example.org/app/pkg/db    5.1s"], 90)
    assert text.startswith("[log, 41 lines, mostly ok, ")
    assert "FAIL" in text


def test_the_component_of_a_line_alone_has_its_own_number():
    lines = [*service(60)]
    lines.insert(31, "2026-03-01 00:00:31,500 ERROR [main] shop.StoreV2: shelf 7 is broken")
    text = shrunk(lines, 220)

    assert "shop.StoreV2: ERROR shelf 7 is broken" in text
    assert "V0" not in text


def test_lines_of_another_shape_keep_the_words_that_stand_where_most_have_columns():
    lines = [
        f"Mar  3 11:{n // 60:02}:{n % 60:02} lb1 {2000 + n} 200 GET /cart/{n}" for n in range(300)
    ]
    lines[150] = "Mar  3 11:02:30 lb1 Server api/node-a12 is away"
    assert "Server api/node-a12 is away" in shrunk(lines, 200)


def test_the_rest_of_a_long_line_stands_behind_its_beginning():
    words = ", ".join(["the lease of the volume was renewed by the keeper of the pool"] * 6)
    lines = [
        f"2026-03-01 11:{n // 60:02}:{n % 60:02} INFO lease {n}: {words}, then ended {n}"
        for n in range(90)
    ]
    told = shrunk(lines, 2_000).split("\n")
    assert any(line.startswith("2026") and "then ended" in line for line in told)


def test_the_words_of_few_lines_are_listed_and_make_no_kinds_of_their_own():
    lines = [f"2026-03-01 11:00:{n % 60:02} INFO tick {n}" for n in range(200)]
    for n, name in enumerate(("notify", "tenant", "audit")):
        lines[50 * n] = f"2026-03-01 11:00:{n:02} INFO waiting for the {name} service to answer"
    assert "×3 waiting for the notify|tenant|audit service to answer" in shrunk(lines, 120)


def test_what_failed_is_named_though_the_names_are_long():
    failed = [
        "TestCommit_Shadow_Preserved_When_Active_Session_Exists_In_The_Branch",
        "TestCommit_EndedSession_Condenses_Everything_That_Was_Touched_By_It",
    ]
    passed = [*failed, "TestCommit_Of_A_Session_That_Ended_Is_Written_To_Its_Own_Branch"]
    lines = [
        *(f"--- FAIL: {name} (0.0{n}s)" for n, name in enumerate(failed)),
        *(f"09:14:{n:02} INFO saved the checkpoint {n} of session {n % 3}" for n in range(60)),
        *(f"09:15:{n:02} INFO wrote {name} to its own file" for n, name in enumerate(passed)),
    ]
    told = Log().read("\n".join(lines)).pieces

    assert f"×2 --- FAIL: {'|'.join(failed)} (…s)" in [piece.text for piece in told]
    assert any(piece.text.startswith("×3 wrote TestCommit_… to") for piece in told)


def test_columns_between_bars_are_a_head_and_hexadecimal_numbers_are_values():
    lines = [
        f"2031-04-02 08:00:{n % 60:02}.417|{'WARN' if n % 9 == 0 else 'INFO '}|depot.{part}|5120|"
        f"{said} {n * 977:#010x} of the shift"
        for n in range(200)
        for part, said in (("gate", "opened for truck"), ("crane", "lifted pallet"))
    ]
    told = [piece.text for piece in Log().read("\n".join(lines)).pieces[1:7]]
    assert told == [
        "depot.gate:",
        " ×23 WARN opened for truck … of the shift",
        " ×177 opened for truck … of the shift",
        "depot.crane:",
        " ×23 WARN lifted pallet … of the shift",
        " ×177 lifted pallet … of the shift",
    ]


def test_rows_of_data_between_bars_are_no_log_for_a_time_in_a_later_column():
    rows = [
        f"{n * 1.7:.2f}|10.0.0.{n % 9}|{n % 7}|2031-04-02T09:{n % 60:02}:00|1001" for n in range(90)
    ]
    assert recognise("\n".join(rows)).name == "table"
