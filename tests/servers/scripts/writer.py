"""Appends numbered messages to a thread, and says of each that it is kept: URL THREAD NAME
COUNT.
"""

import sys

from holdfast.session import Session

url, thread, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with Session(thread, store=url, budget=2_000) as session:
    for number in range(count):
        session.append({"role": "user", "content": f"{name}-{number}"})
        print(f"{name}-{number}", flush=True)
