"""The retention boundary: enough stays, and the cut parts nothing that belongs together."""

from holdfast.compressors.summarize import retention_boundary
from holdfast.formats import named


def _messages(*shapes):
    made = []
    for n, shape in enumerate(shapes):
        if shape == "call":
            call = {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": "look", "arguments": "{}"},
            }
            made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif shape == "result":
            made.append({"role": "tool", "tool_call_id": f"c{n - 1}", "content": "seen"})
        else:
            made.append({"role": shape, "content": "words"})
    return named("openai").read(made).messages


def test_the_smallest_recent_history_that_is_large_enough_stays():
    assert retention_boundary(_messages("user", "assistant", "user"), [5, 7, 13], 20) == 1


def test_a_cut_moves_back_to_before_a_call():
    assert (
        retention_boundary(_messages("user", "call", "result", "assistant"), [1, 1, 6, 4], 10) == 1
    )


def test_nothing_goes_where_all_of_it_is_too_little():
    assert retention_boundary(_messages("user", "assistant"), [2, 3], 20) == 0


def test_everything_may_go_where_nothing_must_stay():
    assert retention_boundary(_messages("user", "assistant"), [2, 3], 0) == 2
