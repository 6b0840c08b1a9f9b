"""A network that fails: connections through it are cut, delayed, or made to wait for later ones."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress

_PIECE = 4_096


class Network:
    """A port of loopback that leads to another one.

    ``cuts``: the chance that a piece of what is sent ends its connection instead. ``waits``: the
    longest time, in seconds, for which a piece, or the beginning of a connection, is held up; so a
    connection that came first may be served last.
    """

    def __init__(self, port: int, *, cuts: float = 0.0, waits: float = 0.0, seed: int = 1) -> None:
        self._to, self.cuts, self.waits = port, cuts, waits
        self._chance = random.Random(seed)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.cut = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        time.sleep(self._chance.random() * self.waits)
        try:
            far = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            near.close()
            return
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE):
                time.sleep(self._chance.random() * self.waits)
                if self._chance.random() < self.cuts:
                    self.cut += 1
                    break
                target.sendall(piece)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
