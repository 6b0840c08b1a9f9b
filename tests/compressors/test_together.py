"""Flows that run at once, answered by a function of the test."""

from holdfast.compressors.writer import together
from holdfast.kernel.compressor import ask
from holdfast.kernel.errors import ModelError
from holdfast.kernel.ports import All, Complete


def played(flow, answer):
    """What the flow returns, and what it asked in each round."""
    rounds, value = [], None
    while True:
        try:
            request = flow.send(value)
        except StopIteration as stop:
            return stop.value, rounds
        assert isinstance(request, All)
        rounds.append([each.prompt for each in request.asks])
        value = [answer(prompt) for prompt in rounds[-1]]


def asking(*prompts):
    said = []
    for prompt in prompts:
        said.append((yield from ask(Complete(prompt))))
    return said


def test_what_all_ask_goes_out_in_one_round():
    found, rounds = played(together([asking("a", "b"), asking("c"), asking("d", "e")]), str.upper)
    assert found == [["A", "B"], ["C"], ["D", "E"]]
    assert rounds == [["a", "c", "d"], ["b", "e"]]


def test_a_fault_ends_its_own_flow_alone():
    def answer(prompt):
        return ModelError("busy") if prompt == "a" else prompt.upper()

    found, rounds = played(together([asking("a", "b"), asking("c", "d")]), answer)
    assert isinstance(found[0], ModelError)
    assert found[1] == ["C", "D"]
    assert rounds == [["a", "c"], ["d"]]


def test_a_flow_may_go_on_after_a_fault():
    def patient():
        try:
            yield from ask(Complete("a"))
        except ModelError:
            return (yield from ask(Complete("b")))

    found, _ = played(
        together([patient()]), lambda prompt: ModelError("busy") if prompt == "a" else "fine"
    )
    assert found == ["fine"]


def test_flows_that_ask_nothing_need_no_round():
    assert played(together([asking(), asking()]), str.upper) == ([[], []], [])
    assert played(together([]), str.upper) == ([], [])
