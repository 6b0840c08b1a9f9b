"""The programs in examples/ run, with the real packages against a small server."""

import os
import subprocess
import sys
from pathlib import Path

import holdfast
from tests.providers.vendors import Vendors

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_chat_with_the_package_of_openai_is_kept_and_each_request_fits(tmp_path):
    server = Vendors()
    server.reply = lambda text: f"You asked: {text[:20]}"
    questions = [f"question {n}, and why? " * 120 for n in range(8)]
    source = str(Path(holdfast.__file__).parents[1])
    named = {"OPENAI_BASE_URL": server.base("openai"), "OPENAI_API_KEY": "a", "PYTHONPATH": source}
    try:
        ran = subprocess.run(
            [sys.executable, str(EXAMPLES / "with_openai.py"), *questions],
            cwd=tmp_path,
            env={**os.environ, **named},
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        server.close()
    assert ran.stdout.splitlines()[0] == "You asked: question 0, and why?"[:31]
    sent = [request["messages"] for request in server.requests]
    assert len(sent) == 8
    assert max(holdfast.count(messages, format="openai").total for messages in sent) <= 2_000
    with holdfast.open(tmp_path / "chat.db") as store:
        assert store.thread("with-openai").appended == 16


def test_the_sample_of_the_package_is_the_recorded_example():
    bundled = Path(holdfast.__file__).parent / "samples" / "failing_tests.json"
    assert bundled.read_bytes() == (EXAMPLES / "openai_failing_tests.json").read_bytes()
