"""``holdfast session`` beyond fitting: what is kept, changed, copied and erased."""

import json
from pathlib import Path

import pytest

PLACE = ("--store", "agent.db", "--thread", "t1")
TALK = [
    {"role": "user", "content": "I live in Lisbon."},
    {"role": "assistant", "content": "Noted."},
    *({"role": "user", "content": f"step {n} " * 40} for n in range(30)),
]


@pytest.fixture
def kept(run, folder):
    (folder / "turn.json").write_text(json.dumps(TALK))
    assert run("session", "append", "turn.json", *PLACE).code == 0


def view(run):
    ran = run("session", "fit", *PLACE, "--budget", "600", "-q")
    assert ran.code == 0, ran.err
    return str(json.loads(ran.raw))


def test_the_threads_of_a_store_are_listed(run, kept):
    assert run("session", "append", "turn.json", "--store", "agent.db", "--thread", "a b").code == 0
    assert run("session", "list", "--store", "agent.db").raw == b"a b\nt1\n"
    assert run("session", "list", "--store", "agent.db", "--report", "store.html").code == 0
    assert "2 conversations" in Path("store.html").read_text()
    listed = run("session", "list", "--store", "agent.db", "--json")
    assert json.loads(listed.raw) == ["a b", "t1"]


def test_a_store_that_there_is_not_has_no_list(run):
    ran = run("session", "list", "--store", "nothing.db")
    assert (ran.code, ran.err) == (
        2,
        "holdfast: --store nothing.db: there is no such file; append something first\n",
    )


def test_a_thread_is_erased_only_when_that_is_meant(run, kept, folder):
    ran = run("session", "delete", *PLACE)
    assert ran.code == 2
    assert "this cannot be undone, and there is no terminal to ask; give --yes" in ran.err
    assert run("session", "delete", *PLACE, "--yes").code == 0
    assert run("session", "list", "--store", "agent.db").raw == b""
    assert b"Lisbon" not in (folder / "agent.db").read_bytes()


def test_a_thread_that_is_not_there_is_not_erased(run, kept):
    for place, problem in [
        (
            ("--store", "agent.db", "--thread", "t9"),
            "--thread: there is no thread 't9' in agent.db",
        ),
        (("--store", "a.db", "--thread", "t1"), "--store a.db: there is no such file"),
    ]:
        ran = run("session", "delete", *place, "--yes")
        assert (ran.code, ran.complaint) == (2, f"{problem}; check the name")


def test_a_note_stands_in_every_view_until_it_is_forgotten(run, kept):
    assert "Portuguese" not in view(run)
    noted = run("session", "remember", "Answer in Portuguese.", *PLACE)
    assert "Answer in Portuguese." in view(run)
    assert run("session", "forget", noted.out.strip(), *PLACE).code == 0
    assert "Portuguese" not in view(run)
    assert run("session", "forget", "99", *PLACE).complaint.startswith("there is no '99' in the")


def test_a_pinned_message_stands_in_every_view_until_it_is_undone(run, kept):
    assert "step 3 step 3 step 3" not in view(run)
    pinned = run("session", "pin", "5", *PLACE)
    assert "step 3 step 3 step 3" in view(run)
    number = pinned.raw.decode().strip()
    assert run("session", "undo", number, *PLACE).err == f"pin {number} is undone.\n"
    assert "step 3 step 3 step 3" not in view(run)


def test_a_fork_holds_what_the_thread_held(run, kept):
    ran = run("session", "fork", "t2", *PLACE)
    assert (ran.code, ran.err) == (0, "32 messages copied to the thread t2.\n")
    restored = run("session", "restore", "--store", "agent.db", "--thread", "t2")
    assert json.loads(restored.raw) == TALK


def test_a_fork_needs_a_new_name(run, kept):
    line = run("session", "fork", "t1", *PLACE).complaint
    assert line == "NAME: thread 't1' is not empty; name one that is new"


def test_facts_are_told_with_their_message(run, kept):
    line = run("session", "facts", *PLACE).raw.decode().splitlines()[0]
    assert line.split("\t")[0] == "0"
    assert line.endswith("Lisbon")
    told = json.loads(run("session", "facts", *PLACE, "--json").raw)
    assert told["current"][0]["value"] == "Lisbon"
    assert told["contradicted"] == []
