from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast
from holdfast.batch import ENGINES, batch, compress_on, open_engine
from holdfast.batch.engines import Processes
from holdfast.cli import main
from holdfast.kernel.errors import ConfigError, InputError, LockedError
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.sqlite import SqliteStore
from tests.batch.conversations import conversation, lines, number_of

BUDGET = 600


class Here:
    """An engine that works in this process, and counts what it was asked for."""

    def __init__(self, ends_after: int | None = None) -> None:
        self.asked, self._ends_after = [], ends_after

    def map(self, work, pieces):
        for piece in pieces:
            if self._ends_after is not None and len(self.asked) >= self._ends_after:
                raise KeyboardInterrupt
            self.asked.append(piece)
            yield piece, work(piece)


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(lines(25)) + "\n")
    return str(file)


def outputs(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_input_is_in_the_output_once_in_its_place_as_compress_makes_it(source, tmp_path):
    summary = batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here(), chunk=4)
    made = outputs(tmp_path / "out.jsonl")
    assert made == [holdfast.compress(conversation(n), BUDGET).messages for n in range(25)]
    assert (summary.inputs, summary.fitted, summary.bad, summary.unmet) == (25, 25, 0, 0)
    assert summary.tokens_after <= 25 * BUDGET < summary.tokens_before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_what_was_done_is_never_done_again(source, tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        batch(source, str(out), BUDGET, engine=Here(ends_after=3), chunk=4)
    assert not out.exists()
    again = Here()
    told = []
    summary = batch(source, str(out), BUDGET, engine=again, chunk=4, progress=told.append)
    assert [number for number, _ in again.asked] == [3, 4, 5, 6]
    assert told[0] == 12
    assert (summary.resumed, summary.inputs) == (12, 25)
    assert [number_of(each) for each in outputs(out)] == list(range(25))


def test_work_of_other_inputs_or_options_is_not_gone_on_with(source, tmp_path):
    out = str(tmp_path / "out.jsonl")
    with pytest.raises(KeyboardInterrupt):
        batch(source, out, BUDGET, engine=Here(ends_after=1), chunk=4)
    with pytest.raises(InputError, match=r"out\.jsonl\.work: it holds the work of other inputs"):
        batch(source, out, BUDGET + 1, engine=Here(), chunk=4)


def test_a_run_that_is_gone_on_with_knows_its_functions_by_their_names(source, tmp_path):
    def options():
        def answers(prompt):
            return "A summary."

        return {"llm": answers, "engine": Here(ends_after=None if again else 1), "chunk": 4}

    again, out = False, str(tmp_path / "out.jsonl")
    with pytest.raises(KeyboardInterrupt):
        batch(source, out, BUDGET, **options())
    again = True
    assert batch(source, out, BUDGET, **options()).resumed == 4


def test_a_work_folder_with_other_files_is_refused_and_left_as_it_is(source, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"mine: there are other files in it; name an empty folde"):
        batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here(), work=tmp_path / "mine")
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_an_output_inside_of_the_work_folder_stays(source, tmp_path):
    out = tmp_path / "work" / "out.jsonl"
    batch(source, str(out), BUDGET, engine=Here(), work=tmp_path / "work", chunk=4)
    assert [number_of(each) for each in outputs(out)] == list(range(25))
    assert list(out.parent.iterdir()) == [out]


def test_an_output_that_is_there_is_not_replaced(source, tmp_path):
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(InputError, match=r"out\.jsonl: it exists already; name another file"):
        batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here())
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def test_half_of_a_character_is_written_as_it_was_given(tmp_path):
    given, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    half = '[{"role":"user","content":"half of \\ud83d"}]'
    given.write_text(f'{half}\n[{{"role":"user","content":"ok"}}]\n')
    summary = batch(str(given), str(target), 1_000)
    assert (summary.fitted, summary.bad) == (2, 0)
    assert json.loads(target.read_text().split("\n")[0]) == json.loads(half)


def test_bytes_that_are_not_utf_8_are_refused_and_never_replaced(tmp_path):
    told = '[{"role": "user", "content": "Café"}]\n'
    (tmp_path / "in.jsonl").write_bytes(told.encode("cp1252") + told.encode())
    batch(str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), BUDGET, engine=Here())
    assert outputs(tmp_path / "out.jsonl") == [json.loads(told)]
    (bad,) = outputs(tmp_path / "out.jsonl.bad.jsonl")
    assert bad["place"].endswith("in.jsonl: line 1")
    assert bad["reason"] == "this is not UTF-8; save the file as UTF-8"


def test_what_cannot_be_read_goes_to_a_file_of_its_own_with_the_reason(tmp_path):
    good = lines(3)
    (tmp_path / "in.jsonl").write_text("\n".join([good[0], "{", "", good[1], "[7]", good[2]]))
    summary = batch(
        str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), BUDGET, engine=Here(), chunk=2
    )
    assert [number_of(each) for each in outputs(tmp_path / "out.jsonl")] == [0, 1, 2]
    bad = outputs(tmp_path / "out.jsonl.bad.jsonl")
    assert [each["place"].rpartition(": ")[2] for each in bad] == ["line 2", "line 5"]
    assert [each["record"] for each in bad] == ["{", "[7]"]
    assert "not JSON" in bad[0]["reason"]
    assert (summary.inputs, summary.fitted, summary.bad) == (5, 3, 2)


def test_a_store_without_its_key_is_an_error_and_not_a_fault_of_each_conversation(source, tmp_path):
    place = f"sqlite:///{tmp_path}/agent.db"
    EncryptedStore.unlock(SqliteStore(tmp_path / "agent.db"), "a passphrase").set("k", "v")
    with pytest.raises(LockedError):
        batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here(), store=place)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_pin_or_a_model_that_is_wrong_for_one_conversation_costs_no_other(tmp_path):
    talks = [conversation(0), conversation(1)[:2], conversation(2)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, talks)))
    source, out = str(tmp_path / "in.jsonl"), tmp_path / "out.jsonl"
    summary = batch(source, str(out), BUDGET, engine=Here(), pin=[3])
    assert (summary.fitted, summary.bad) == (2, 1)
    assert all(talks[at][3] in each for at, each in zip((0, 2), outputs(out), strict=True))
    (bad,) = outputs(tmp_path / "out.jsonl.bad.jsonl")
    assert bad["reason"] == "pin: there is no message 3; there are 2 messages, counted from 0"
    with pytest.raises(ConfigError, match="pin: 'x' is not a list of positions"):
        batch(source, str(tmp_path / "other.jsonl"), BUDGET, engine=Here(), pin="x")
    bodies = [{"model": model, "messages": conversation(0)} for model in ("gpt-4o", "made-up")]
    found = holdfast.compress_many(bodies)
    assert [each.reason for each in found] == ["within_budget", "invalid_input"]
    assert found[1].detail.startswith("model: the window of 'made-up' is not known")
    with pytest.raises(ConfigError, match="the window of 'made-up' is not known"):
        holdfast.compress_many([conversation(0)], model="made-up")


def test_a_file_may_have_brackets_in_its_name(tmp_path):
    (tmp_path / "in[1].jsonl").write_text(lines(1)[0])
    source = str(tmp_path / "in[1].jsonl")
    assert batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here()).fitted == 1


def test_a_number_with_which_nothing_would_be_done_is_told(source, tmp_path):
    with pytest.raises(ConfigError, match="chunk: 0 does not belong here; give a whole number of "):
        batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine=Here(), chunk=0)
    with pytest.raises(ConfigError, match="Processes: -1 does not belong here; give a whole numbe"):
        Processes(-1)


def test_where_nothing_could_be_read_no_output_is_made_and_it_can_be_tried_again(
    source, tmp_path, capsys
):
    (tmp_path / "wrong.jsonl").write_text("{\n[7]\n")
    wrong, out = str(tmp_path / "wrong.jsonl"), str(tmp_path / "out.jsonl")
    assert main(["batch", wrong, out, "--budget", "600", "--engine", "processes://1"]) == 2
    told = f"{out}: no conversation could be read or fitted; see {out}.bad.jsonl"
    assert told in capsys.readouterr().err
    assert len(outputs(tmp_path / "out.jsonl.bad.jsonl")) == 2
    assert not (tmp_path / "out.jsonl").exists()
    assert batch(source, out, BUDGET, engine=Here()).fitted == 25


def test_patterns_bodies_and_several_files_are_read_in_order(tmp_path):
    for number, name in enumerate(["b.jsonl", "a.jsonl"]):
        body = {"model": "gpt-4o", "messages": conversation(number), "user": "u"}
        (tmp_path / name).write_text(json.dumps(body))
    batch(str(tmp_path / "[ab].jsonl"), str(tmp_path / "out.jsonl"), BUDGET, engine=Here())
    made = outputs(tmp_path / "out.jsonl")
    assert [number_of(each["messages"]) for each in made] == [1, 0]
    assert [(each["model"], each["user"]) for each in made] == [("gpt-4o", "u")] * 2


@pytest.mark.parametrize("kept_as", ["objects", "json"])
def test_of_parquet_the_other_columns_stay_as_they_were(tmp_path, kept_as):
    held = [conversation(number) for number in range(5)]
    column = held if kept_as == "objects" else [json.dumps(each) for each in held]
    stamps = pa.array([1, 2, 3, 4, 5], pa.timestamp("us"))
    pq.write_table(
        pa.table({"id": list("abcde"), "messages": column, "at": stamps}), tmp_path / "in.parquet"
    )
    batch(str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet"), BUDGET, engine=Here())
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("id").to_pylist() == list("abcde")
    assert table.column("at").to_pylist() == stamps.to_pylist()
    found = table.column("messages").to_pylist()
    found = found if kept_as == "objects" else [json.loads(each) for each in found]
    assert found == [holdfast.compress(each, BUDGET).messages for each in held]


def blocks(messages):
    return [{**each, "content": [{"type": "text", "text": each["content"]}]} for each in messages]


def test_of_parquet_messages_that_do_not_fit_their_column_are_written_as_json(tmp_path):
    held = [blocks(conversation(number)[1:]) for number in range(3)]
    pq.write_table(pa.table({"id": [1, 2, 3], "messages": held}), tmp_path / "in.parquet")
    batch(str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet"), BUDGET, engine=Here())
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["id"] for row in found] == [1, 2, 3]
    fitted = [holdfast.compress(each, BUDGET).messages for each in held]
    assert [json.loads(row["messages"]) for row in found] == fitted
    assert any(isinstance(each["content"], str) for each in fitted[0]), "notes"


def test_of_parquet_with_different_columns_whole_rows_are_written_as_json(tmp_path):
    for name in "ab":
        table = pa.table({name: [1], "messages": [lines(1)[0]]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    batch(str(tmp_path / "*.parquet"), str(tmp_path / "out.parquet"), BUDGET, engine=Here())
    found = pq.read_table(tmp_path / "out.parquet").column("messages").to_pylist()
    assert [json.loads(each).keys() for each in found] == [{"a", "messages"}, {"b", "messages"}]


def test_of_parquet_fields_without_a_value_are_left_out_at_any_depth(tmp_path):
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": {"command": "ls"}}
    said = [{"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}]
    held = [
        {"role": "user", "content": [{"type": "text", "text": "What is there?"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": said},
    ]
    pq.write_table(pa.table({"messages": [held]}), tmp_path / "in.parquet")
    batch(str(tmp_path / "in.parquet"), str(tmp_path / "out.jsonl"), BUDGET, engine=Here())
    assert outputs(tmp_path / "out.jsonl") == [{"messages": held}]


def test_json_lines_become_parquet(source, tmp_path):
    batch(source, str(tmp_path / "out.parquet"), BUDGET, engine=Here())
    column = pq.read_table(tmp_path / "out.parquet").column("messages").to_pylist()
    assert [number_of(json.loads(each)) for each in column] == list(range(25))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("none.jsonl", "out.jsonl"), "none.jsonl: there is no such file; check the path"),
        (("in.jsonl", "out.txt"), "out.txt: its name says neither JSON lines nor Parquet; let it"),
        (("in.jsonl", "no/such/out.jsonl"), "no/such/out.jsonl.work: it cannot be written"),
    ],
)
def test_what_cannot_be_read_or_written_is_told_before_any_work(
    source, tmp_path, monkeypatch, given, line, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no").write_text("a file")
    assert main(["batch", *given, "--budget", "600"]) == 2
    assert line in capsys.readouterr().err


def test_an_engine_that_nobody_knows_is_told(source, tmp_path):
    with pytest.raises(
        ConfigError, match="no engine named 'spark'; known are dask, processes, ray"
    ):
        batch(source, str(tmp_path / "out.jsonl"), BUDGET, engine="spark://x")
    assert set(ENGINES.names()) >= {"processes", "dask", "ray"}
    assert open_engine("processes://3")._number == 3


@pytest.mark.parametrize("url", ["processes://x", "processes://0", "dask://local?workers=x"])
def test_an_engine_with_a_wrong_number_is_told(url):
    with pytest.raises(ConfigError, match="says no number"):
        open_engine(url)


def test_an_installed_package_brings_an_engine_that_the_command_line_names(
    source, tmp_path, monkeypatch
):
    (tmp_path / "engines_of_others.py").write_text(
        "class Here:\n"
        "    @classmethod\n"
        "    def from_url(cls, url):\n"
        "        assert url == 'here://7'\n"
        "        return cls()\n"
        "    def map(self, work, pieces):\n"
        "        return ((piece, work(piece)) for piece in pieces)\n"
    )
    info = tmp_path / "engines_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: engines-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[holdfast.engines]\nhere = engines_of_others:Here\n")
    monkeypatch.syspath_prepend(tmp_path)
    out = str(tmp_path / "out.jsonl")
    assert main(["batch", source, out, "-b", "600", "--engine", "here://7"]) == 0
    assert [number_of(each) for each in outputs(tmp_path / "out.jsonl")] == list(range(25))


def test_the_command_line_says_what_became_of_all(source, tmp_path, capsys):
    out = str(tmp_path / "out.jsonl")
    assert main(["batch", source, out, "-b", "600", "--engine", "processes://1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fitted"] == 25
    assert [number_of(each) for each in outputs(tmp_path / "out.jsonl")] == list(range(25))


def test_the_command_line_keeps_originals_in_an_encrypted_store(
    source, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_text("correct horse")
    (tmp_path / "other").write_text("battery staple")
    asked = ["--budget", "300", "--profile", "economy", "--engine", "processes://1"]
    store = ["--store", "sealed.db", "--store-key"]
    assert main(["batch", source, "out.jsonl", *asked, *store, "key"]) == 0
    key = re.search(r"original: (\d+)", (tmp_path / "out.jsonl").read_text())[1]
    assert main(["recall", key, *store, "key"]) == 0
    assert capsys.readouterr().out
    assert main(["batch", source, "more.jsonl", *asked, *store, "other"]) == 2
    assert "has another key" in capsys.readouterr().err
    assert not (tmp_path / "more.jsonl").exists()


def ends_its_process(piece):
    if piece == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return piece * 2


def test_a_piece_that_ends_its_process_is_given_up_and_no_other():
    found = dict(Processes(2).map(ends_its_process, range(12)))
    assert found == {n: None if n == 7 else n * 2 for n in range(12)}


def test_a_process_has_its_next_piece_before_the_caller_uses_a_result():
    taken = []
    pieces = (taken.append(n) or n for n in range(3))
    found = Processes(1).map(abs, pieces)
    assert next(found) == (0, 0)
    assert taken == [0, 1]
    assert list(found) == [(1, 1), (2, 2)]


def names_itself_and_may_end(piece):
    time.sleep(0.05)
    if piece == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def test_the_process_beside_one_that_is_killed_goes_on():
    found = dict(Processes(2).map(names_itself_and_may_end, range(20)))
    others = {found[n] for n in range(20) if n != 3}
    assert found[3] is None
    assert 1 < len(others) < 20
    assert max(list(found.values()).count(each) for each in others) > 5


def refuses(piece):
    raise ConfigError("no such budget", place="budget", advice="give one")


def test_what_the_work_raises_is_raised_to_who_asked():
    with pytest.raises(ConfigError, match="budget: no such budget; give one"):
        list(Processes(2).map(refuses, range(3)))


def ends_always(piece):
    os.kill(os.getpid(), signal.SIGKILL)


def test_where_no_process_can_work_it_is_told():
    with pytest.raises(holdfast.HoldfastError, match="no process could do any work"):
        list(Processes(2).map(ends_always, range(3)))


def first_ends_its_process(piece):
    if piece == 0:
        os._exit(9)
    time.sleep(0.2)
    return piece


@pytest.mark.parametrize("number", [1, 2])
def test_a_first_piece_that_ends_its_process_keeps_no_other_from_being_done(number):
    found = dict(Processes(number).map(first_ends_its_process, range(4)))
    assert found == {0: None, 1: 1, 2: 2, 3: 3}


def test_where_no_process_can_work_endless_pieces_are_not_tried_for_ever():
    with pytest.raises(holdfast.HoldfastError, match="no process could do any work"):
        list(Processes(2).map(ends_always, count()))


def gives_a_function(piece):
    return (lambda: piece) if piece == 3 else piece


def test_a_result_that_cannot_be_sent_is_told():
    with pytest.raises(holdfast.HoldfastError, match="the result cannot be sent"):
        list(Processes(2).map(gives_a_function, range(6)))


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ([{"role": "user", "content": "Hello."}], {"counter": lambda text: len(text)}),
        ([{"role": "user", "content": "Hello.", "lock": threading.Lock()}], {}),
    ],
)
def test_what_cannot_be_sent_to_a_process_is_one_line(messages, options):
    with pytest.raises(ConfigError, match=r"^engine: what it works with cannot be sent to a pro"):
        holdfast.compress_many([messages], BUDGET, engine=Processes(1), **options)


def test_a_program_ends_amid_a_batch(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from holdfast.batch.engines import Processes\n"
        "import time\n"
        "if __name__ == '__main__':\n"
        "    results = Processes(2).map(time.sleep, [0.1] * 50)\n"
        "    print(next(results)[0])\n"
    )
    run = [sys.executable, str(program)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "0.1\n"


def name_of_process(piece):
    time.sleep(0.05)
    return piece, os.getpid()


def test_where_processes_are_killed_from_outside_each_result_comes_once():
    found, killed = [], []
    for _, (piece, process) in Processes(2).map(name_of_process, range(60)):
        found.append(piece)
        if len(found) in (10, 30) and process not in killed:
            killed.append(process)
            os.kill(process, signal.SIGKILL)
    assert killed
    assert sorted(found) == list(range(60))


def much_of(piece):
    return piece, os.getpid(), bytes(4_000_000)  # more than a pipe holds


def test_a_process_that_is_killed_amid_a_result_ends_no_other():
    found = []
    for _, (piece, process, _) in Processes(2).map(much_of, range(8)):
        found.append(piece)
        if len(found) <= 3:
            time.sleep(0.2)  # the other one waits amid its result, which nobody reads meanwhile
            for other in multiprocessing.active_children():
                if other.pid != process:
                    os.kill(other.pid, signal.SIGKILL)
    assert sorted(found) == list(range(8))


def test_the_processes_end_with_the_one_that_started_them():
    before = threading.active_count()
    assert len(list(Processes(1).map(name_of_process, range(2)))) == 2
    assert threading.active_count() == before


def test_compress_many_by_an_engine_gives_what_it_gives_without():
    given = [conversation(number) for number in range(12)]
    plain = holdfast.compress_many(given, BUDGET)
    there = holdfast.compress_many(given, BUDGET, engine=Processes(2))
    assert [each.messages for each in there] == [each.messages for each in plain]
    assert [holdfast.restore(each) for each in there] == given


def test_a_piece_that_ends_its_process_is_told_to_who_asked_for_results():
    class Lost(Here):
        def map(self, work, pieces):
            yield from ((piece, None) for piece in pieces)

    with pytest.raises(holdfast.HoldfastError, match="conversations 0 to 1 ended each time"):
        compress_on([conversation(1), conversation(2)], BUDGET, Lost(), {})


def test_an_engine_tells_its_progress():
    given, told = [conversation(n) for n in range(5)], []
    holdfast.compress_many(
        given, BUDGET, engine=Here(), progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (5, 5)
