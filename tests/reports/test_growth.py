"""Pages of long conversations take work in proportion to their length; counted in calls, not in
seconds.
"""

from __future__ import annotations

import holdfast
from holdfast.session import Session
from tests.work import calls_of


def said(number):
    role = "assistant" if number % 2 else "user"
    return {
        "role": role,
        "content": f"Message {number}: order {number * 7919} is late. It waits for a part.",
    }


def test_the_page_of_a_result_of_four_times_the_messages_takes_four_times_the_work():
    spans = range(2_000, 2_200), range(200), range(1_000, 1_800)  # no text is in two of them
    results = [holdfast.compress([*map(said, span)], 400, profile="fast") for span in spans]
    holdfast.report(results.pop(0), "html")  # loads what is loaded lazily
    few, many = (
        calls_of(lambda result=result: holdfast.report(result, "html")) for result in results
    )
    assert many < 4.6 * few


def test_the_page_of_a_session_does_not_catch_up_with_what_was_never_tended():
    made: list[int] = []
    for number in (3_000, 9_000):
        session = Session("t", budget=2_000)
        session._upkeep.appended = lambda: None  # as when another process did nothing but append
        session.append(*map(said, range(number)))
        made.append(calls_of(lambda session=session: session.report("html")))
    assert made[1] < 1.5 * made[0]
