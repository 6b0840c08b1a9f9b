"""A copy between any two stores is exact, and goes on where it was interrupted."""

from __future__ import annotations

from itertools import pairwise

import pytest

from holdfast import upkeep
from holdfast.cli import main
from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import Closes
from tests.stores.copies import copied
from tests.stores.test_upkeep import TALK, filled, held


@pytest.mark.parametrize(
    "order",
    [
        ["sqlite", "postgres", "s3", "redis", "file", "locked", "locked s3"],
        ["s3", "locked s3", "file", "locked", "redis", "s3 of a tenant", "sqlite", "postgres"],
    ],
    ids=" ".join,
)
def test_what_goes_through_all_stores_comes_out_as_it_was(
    order, tmp_path, postgres_url, redis_url, s3_url, request
):
    places = {
        "sqlite": f"sqlite:///{tmp_path}/a.db",
        "postgres": postgres_url,
        "redis": redis_url,
        "file": f"file://{tmp_path}/files",
        "s3": s3_url,
        "s3 of a tenant": f"{s3_url}&tenant=umbra",
        "locked s3": s3_url.replace("?", "_locked?"),
        "locked": f"sqlite:///{tmp_path}/locked.db",
    }
    stores = [filled(InProcessStore())]
    for kind in order:
        opened = open_store(places[kind])
        if isinstance(opened, Closes):
            request.addfinalizer(opened.close)
        stores.append(EncryptedStore.unlock(opened, bytes(32)) if "locked" in kind else opened)
    for source, target in pairwise(stores):
        copied(source, target)
        with Session("thread: 1", store=target, budget=500) as session:
            assert session.restore() == TALK
    back = InProcessStore()
    upkeep.copy(stores[-1], back)
    for name in ("thread: 1", "two"):
        assert back.log(f"messages:{name}").length() == stores[0].log(f"messages:{name}").length()
    kept = held(stores[0])[0]
    assert {key: value for key, value in held(back)[0].items() if key in kept} == kept
    for store in stores[1:]:  # later: a search is counted in the state of the thread
        with Session("thread: 1", store=store, budget=500) as session:
            assert session.search("sockets")[0].position == 1


def test_the_commands_take_a_thread_from_a_file_to_a_bucket_and_on(tmp_path, s3_url, capsys):
    file, back = f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db"
    filled(open_store(file)).close()
    for arguments in (
        ["copy", file, s3_url],
        ["copy", file, s3_url],
        ["check", s3_url],
        ["export", s3_url, str(tmp_path / "all.jsonl")],
        ["import", back, str(tmp_path / "all.jsonl")],
        ["erase", s3_url, "--thread", "thread: 1", "--yes"],
    ):
        assert main(["store", *arguments]) == 0
    told = capsys.readouterr().err
    assert "5 lines of logs, 5 of them new" in told
    assert "3 lines of logs, 0 of them new" in told
    assert "2 logs are erased" in told
    with Session("thread: 1", store=back) as session:
        assert session.restore() == TALK
    with Session("thread: 1", store=s3_url) as session:
        assert session.restore() == []
