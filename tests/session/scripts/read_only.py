"""Run as a module: uses a session of a file that may only be read, in a directory of this mode.

python -m tests.session.scripts.read_only FILE MODE
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from holdfast.content import kinds
from holdfast.kernel.errors import StoreError
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore

with Session(
    "warm", budget=100
) as warm:  # loads what is loaded lazily, while every file may still be read
    warm.append(*({"role": "user", "content": f"message {n} of many"} for n in range(50)))
    warm.fit("message 7")
    kinds()

with tempfile.TemporaryDirectory() as place:
    file = Path(place, "a.db")
    file.write_bytes(Path(sys.argv[1]).read_bytes())
    file.chmod(0o444)
    Path(place).chmod(int(sys.argv[2], 8))
    if os.geteuid() == 0:
        os.seteuid(65534)  # to the superuser no file is read-only
    with Session("talk", store=SqliteStore(file), budget=600) as session:
        try:
            session.append({"role": "user", "content": "more"})
        except StoreError as fault:
            print(f"{type(fault).__name__}: {str(fault).partition(': ')[2]}")
        print(len(session.restore()), "messages")
        view = session.fit("How many retries?")
        if view.budget_met and "five retries" in "\n".join(
            message["content"] for message in view.messages
        ):
            print("the view fits and has the answer")
    os.seteuid(os.getuid())
    Path(place).chmod(0o777)
