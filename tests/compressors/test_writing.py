from holdfast.compressors.writer import WritingTask, _packed, quoted, written
from holdfast.kernel.compressor import Attempt, Plan
from holdfast.kernel.ports import All
from tests.talks import planned_by


def words(text):
    return len(text.split())


class Flow:
    """A strategy that writes notes and says them in the detail of its plan."""

    name = "flow"

    def __init__(self, *arguments):
        self.arguments = arguments

    def plan(self, transcript, allowance):
        text = yield from written(*self.arguments)
        return Plan(detail=text)


def noted(task, blocks, reply):
    asked = []

    def answer(request):
        if isinstance(request, All):
            return [answer(each) for each in request.asks]
        asked.append(request)
        return reply(request)

    plan = planned_by(Attempt(Flow(task, blocks), None, None), answer)
    return plan, asked


def test_everything_goes_in_one_call_where_no_window_is_known():
    plan, asked = noted(WritingTask("summarize", 100, 0, words), ["a b", "c d"], lambda _: "Notes.")
    assert plan.detail == "Notes."
    assert "a b\n\nc d" in asked[0].prompt


def test_parts_are_read_together_and_merged_in_rounds():
    blocks = [quoted(f"message {n} " + "word " * 100) for n in range(60)]
    plan, asked = noted(WritingTask("summarize", 50, 600, words), blocks, lambda _: "Notes. " * 30)
    assert all(words(request.prompt) <= 600 for request in asked)
    assert sum("Make one set of notes" in request.prompt for request in asked) > 1
    for n in range(60):
        assert sum(f"message {n} " in request.prompt for request in asked) == 1
    assert plan.detail == ("Notes. " * 30).strip()


def test_a_message_larger_than_the_window_is_read_in_pieces_of_whole_lines():
    block = "Message 3, tool:\n" + quoted("\n".join(f"line {n} of the log" for n in range(2_000)))
    packed = _packed([block], 500, words)
    assert all(words(piece) <= 500 for piece in packed)
    assert all(piece.startswith("Message 3, tool:\n| line ") for piece in packed)
    joined = "\n".join(packed)
    assert all(f"| line {n} of" in joined for n in range(2_000))
