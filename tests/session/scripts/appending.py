"""Run as a module: appends messages to a thread, one at a time.

python -m tests.session.scripts.appending URL NAME COUNT
"""

from __future__ import annotations

import sys

from holdfast.session import Session

with Session("talk", store=sys.argv[1], budget=300) as session:
    for number in range(int(sys.argv[3])):
        session.append({"role": "user", "content": f"{sys.argv[2]} {number}"})
        if number % 10 == 0:
            session.fit()
