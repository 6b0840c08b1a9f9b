"""Servers of Debian's packages, each in a temporary folder and on a port of loopback of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

_WAIT = 60  # seconds for a server to be ready


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A server that can be killed, and started again on what it left on the disk."""

    def __init__(self) -> None:
        # not a folder of pytest's, which another user, such as postgres, may not enter
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="holdfast-")), free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The number of the process that was started."""
        assert self._process is not None
        return self._process.pid

    @property
    def command(self) -> list[str]:
        raise NotImplementedError

    def ready(self) -> bool:
        raise NotImplementedError

    def start(self):
        self._process = subprocess.Popen(
            self.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + _WAIT
        while not self.ready():
            assert self._process.poll() is None, f"{self.command[0]} has ended"
            assert time.monotonic() < until, f"{self.command[0]} is not ready"
            time.sleep(0.02)
        return self

    def kill(self) -> None:
        """As a power cut of the process: nothing is said to it, nor to those that it started.

        It is stopped first, so that it starts no other meanwhile, and all are gone afterwards: a
        server refuses to start while one of the last run is there.
        """
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)
            started = _started_by(self._process.pid)
            for number in [self._process.pid, *started]:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            self._process.wait()
            self._process = None
            while any(map(_runs, started)):
                time.sleep(0.01)

    def end(self) -> None:
        """Kill it, and leave nothing behind."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _started_by(number: int) -> list[int]:
    children = Path("/proc").glob("[0-9]*/stat")
    return [int(place.parent.name) for place in children if facts_of(place)[1:2] == [str(number)]]


def _runs(number: int) -> bool:
    return facts_of(Path(f"/proc/{number}/stat"))[:1] not in ([], ["Z"], ["X"])


def facts_of(place: Path) -> list[str]:
    """What the system tells of a process from its state on; nothing once it is gone."""
    with suppress(OSError):
        return place.read_text().rpartition(")")[2].split()
    return []


class Redis(Program):
    url_scheme = "redis"

    @property
    def command(self):
        return [
            "redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
            "--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always",
            "--save", "",
        ]  # fmt: skip

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def ready(self):
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as talk:
            talk.sendall(b"PING\r\n")
            return talk.recv(64).startswith(b"+PONG")
        return False


class Postgres(Program):
    """As the user ``postgres`` if we are root, which it refuses to run as."""

    def __init__(self) -> None:
        super().__init__()
        self.data = self.folder / "data"
        self._programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self._as_user = as_user if os.geteuid() == 0 else []
        if self._as_user:
            shutil.chown(self.folder, "postgres", "postgres")
        self.run(
            "initdb", "-D", self.data, "-A", "trust",
            "-U", "holdfast", "--no-sync", "-E", "UTF8", "--locale=C",
        )  # fmt: skip

    def run(self, program, *arguments) -> None:
        """Run a program of the server's package as the server's user."""
        command = [*self._as_user, self._programs / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    @property
    def command(self):
        return [
            *self._as_user, str(self._programs / "postgres"), "-D", str(self.data),
            "-p", str(self.port), "-k", str(self.folder), "-c", "listen_addresses=127.0.0.1",
            "-c", "max_connections=200",
        ]  # fmt: skip

    @property
    def url(self):
        return f"postgresql://holdfast:secret@127.0.0.1:{self.port}/postgres"

    def ready(self):
        asked = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False, cwd="/").returncode == 0


class S3(Program):
    """The server of moto, with one bucket."""

    @property
    def command(self):
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def url(self, place: str) -> str:
        who = "access_key_id=test&secret_access_key=test&region=us-east-1"
        return f"s3://{place}?endpoint={self.endpoint}&{who}"

    def ready(self):
        with suppress(OSError):
            made = urllib.request.Request(f"{self.endpoint}/bucket", method="PUT")
            return urllib.request.urlopen(made, timeout=5).status == 200
        return False
