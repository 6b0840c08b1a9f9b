"""A batch on clusters of two workers, each of processes of its own on this machine; and in
buckets.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys

import obstore
import pytest
from obstore.store import S3Store

import holdfast
from holdfast.batch import batch
from tests.batch.conversations import conversation, lines, number_of

BUDGET = 600
COUNT = int(os.environ.get("HOLDFAST_CONVERSATIONS", "120"))


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(lines(COUNT)))
    return str(file)


@pytest.mark.parametrize("engine", ["dask://local?workers=2", "ray://local?workers=2"])
@pytest.mark.filterwarnings("ignore")  # of packages that are not ours
def test_a_cluster_gives_each_output_once_as_compress_makes_it(
    source, tmp_path, engine, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, filter(None, sys.path))))
    out = tmp_path / "out.jsonl"
    summary = batch(source, str(out), BUDGET, engine=engine, chunk=10)
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert [number_of(each) for each in made] == list(range(COUNT))
    assert made[7] == holdfast.compress(conversation(7), BUDGET).messages
    assert summary.fitted == COUNT


def test_where_processes_are_killed_again_and_again_each_output_is_there_once(source, tmp_path):
    out, killed, told = tmp_path / "out.jsonl", [], []

    def kill(done: int) -> None:
        told.append(done)
        there = multiprocessing.active_children()
        if there and not len(told) % 4:
            killed.append(random.choice(there).pid)
            os.kill(killed[-1], signal.SIGKILL)

    summary = batch(
        source, str(out), BUDGET, engine="processes://2", chunk=min(50, COUNT // 12), progress=kill
    )
    made = [number_of(json.loads(line)) for line in out.read_text().splitlines()]
    assert made == list(range(COUNT))
    assert (summary.fitted, summary.bad) == (COUNT, 0)
    assert len(killed) >= 2
    print(f"{COUNT:,} conversations, {len(killed)} processes killed; {summary}")


@pytest.mark.parametrize(("work", "files"), [(None, "in-*.jsonl"), ("work", "in-?.jsonl")])
def test_a_batch_reads_from_a_bucket_and_writes_to_one(work, files, s3, tmp_path, monkeypatch):
    for name, value in (
        ("AWS_ENDPOINT", s3.endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    bucket, out = S3Store("bucket"), f"batch/out-{work}.jsonl"
    for part in range(2):
        some = lines(6)[part * 3 : part * 3 + 3]
        obstore.put(bucket, f"batch/in-{part}.jsonl", "\n".join(some).encode())
    obstore.put(bucket, "batch/other.txt", b"none of it")
    summary = batch(
        f"s3://bucket/batch/{files}",
        f"s3://bucket/{out}",
        BUDGET,
        work=work and tmp_path / work,
        engine="processes://1",
    )
    made = bytes(obstore.get(bucket, out).bytes()).decode().splitlines()
    assert [number_of(json.loads(line)) for line in made] == list(range(6))
    assert summary.fitted == 6
    assert list(tmp_path.iterdir()) == []
