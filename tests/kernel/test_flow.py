import asyncio
from contextlib import suppress

import pytest

from holdfast import ModelError, StoreError
from holdfast.kernel.compressor import Attempt, Plan, ask, run, run_batch
from holdfast.kernel.ports import All, Complete, Embed, Load, Save
from tests.talks import Somebody, agent_run, aplanned_by, drops, planned_by, settled

TRANSCRIPT, ALLOWANCE = settled(agent_run())


def attempt(what, name="somebody"):
    strategy = what if hasattr(what, "plan") else Somebody(what, name)
    return Attempt(strategy, TRANSCRIPT, ALLOWANCE)


def run_rounds(attempts, answer):
    """The plans of a batch, every round answered at once."""
    return run(run_batch(attempts), lambda asked: answer([request for _, request in asked]))


def echo(request):
    """Answers a Load with its key; has no model."""
    if isinstance(request, All):
        return [echo(each) for each in request.asks]
    return request.key if isinstance(request, Load) else ModelError("no model here")


async def aecho(request):
    await asyncio.sleep(0)
    return echo(request)


def loading(*keys):
    """A flow that loads these keys one after the other and says what it got."""

    def flow(transcript, allowance):
        got: list[str] = []
        for key in keys:
            got += [(yield from ask(Load(key)))]
        return Plan(detail=",".join(got))

    return flow


BOTH = pytest.mark.parametrize(
    "drive",
    [lambda a: planned_by(a, echo), lambda a: asyncio.run(aplanned_by(a, aecho))],
    ids=["run", "arun"],
)


@BOTH
def test_a_strategy_that_asks_nothing_gives_its_plan(drive):
    assert drive(attempt(Plan(reason="mine"))) == Plan(reason="mine")


@BOTH
def test_a_flow_is_sent_the_answer_to_each_ask(drive):
    assert drive(attempt(loading("a", "b"))).detail == "a,b"


@BOTH
def test_several_asks_at_once_are_answered_in_their_order(drive):
    def flow(transcript, allowance):
        first, second, third = yield from ask(All((Load("a"), Complete("hm"), Load("c"))))
        return Plan(detail=f"{first} {type(second).__name__} {third}")

    assert drive(attempt(flow)).detail == "a ModelError c"


@BOTH
def test_a_failed_ask_is_thrown_into_the_flow_which_may_go_on(drive):
    def flow(transcript, allowance):
        try:
            yield from ask(Complete("summarise"))
        except ModelError as fault:
            return Plan.skip("no_model", str(fault))

    assert drive(attempt(flow)) == Plan.skip("no_model", "no model here")


@BOTH
def test_a_failed_ask_that_the_flow_does_not_catch_fails_the_plan(drive):
    plan = drive(attempt(lambda t, a: (yield Embed(("x",)))))
    assert (plan.status, plan.reason, plan.edits) == ("failed", "strategy_failed", ())
    assert isinstance(plan.fault, ModelError)


@BOTH
@pytest.mark.parametrize(
    "fault", [RuntimeError("out of luck"), RecursionError(), StopIteration(), KeyError("x")]
)
def test_any_fault_of_a_strategy_is_a_failed_plan_that_names_it(drive, fault):
    plan = drive(attempt(fault))
    assert (plan.status, plan.fault) == ("failed", fault)
    assert plan.detail.startswith(type(fault).__name__)


@BOTH
@pytest.mark.parametrize("what", [None, "a plan", [], 5, (Plan(),)])
def test_what_is_no_plan_is_a_failed_one(drive, what):
    plan = drive(attempt(lambda t, a: what))
    assert plan.detail == f"TypeError: a strategy returns a Plan, not {type(what).__name__}"


@BOTH
@pytest.mark.parametrize("strange", [5, "Load", None, object()])
def test_a_flow_that_yields_no_ask_fails(drive, strange):
    def flow(transcript, allowance):
        yield strange
        return Plan(reason="never")

    assert drive(attempt(flow)).status == "failed"


@BOTH
def test_a_flow_that_returns_no_plan_fails(drive):
    def flow(transcript, allowance):
        yield from ask(Load("a"))
        return "done"

    assert drive(attempt(flow)).detail == "TypeError: a strategy returns a Plan, not str"


@BOTH
def test_a_strategy_attempts_another_and_gets_its_plan(drive):
    def wrapper(transcript, allowance):
        inner = yield from ask(Attempt(Somebody(loading("k")), transcript, allowance))
        more = yield from ask(Load("after"))
        return Plan(detail=f"{inner.detail}+{more}")

    def outermost(transcript, allowance):
        return (yield from ask(Attempt(Somebody(wrapper), transcript, allowance)))

    assert drive(attempt(outermost)).detail == "k+after"


@BOTH
def test_a_fault_of_an_attempted_strategy_comes_back_as_a_failed_plan(drive):
    def wrapper(transcript, allowance):
        inner = yield from ask(Attempt(Somebody(RuntimeError("no")), transcript, allowance))
        return Plan.skip("inner_failed", inner.detail)

    assert drive(attempt(wrapper)) == Plan.skip("inner_failed", "RuntimeError: no")


@BOTH
def test_attempting_what_is_no_strategy_comes_back_as_a_failed_plan(drive):
    def wrapper(transcript, allowance):
        inner = yield from ask(Attempt(None, transcript, allowance))
        return Plan(reason=inner.status)

    assert drive(attempt(wrapper)).reason == "failed"


@BOTH
def test_ten_thousand_asks_need_no_depth(drive):
    assert drive(attempt(loading(*"x" * 10_000))).detail.count("x") == 10_000


class Watched:
    """A flow that asks once and says when it was closed."""

    name = "watched"

    def __init__(self):
        self.closed = False

    def plan(self, transcript, allowance):
        try:
            yield Load("forever")
            return Plan()
        finally:
            self.closed = True


@BOTH
def test_ten_thousand_attempts_need_no_depth_either(drive):
    def flow(transcript, allowance):
        made = 0
        for _ in range(10_000):
            made += (
                yield from ask(Attempt(Somebody(Plan.skip("x")), transcript, allowance))
            ).status == "skipped"
        return Plan(detail=str(made))

    assert drive(attempt(flow)).detail == "10000"


@BOTH
def test_asks_that_are_none_are_a_fault_of_the_flow(drive):
    assert (
        drive(attempt(lambda t, a: (yield All((Load("a"), 5))))).detail
        == "TypeError: All takes asks"
    )
    assert drive(attempt(lambda t, a: (yield All(None)))).status == "failed"


def test_a_driver_that_is_broken_off_closes_the_flows_innermost_first():
    inner, order = Watched(), []

    def wrapper(transcript, allowance):
        try:
            yield from ask(Attempt(inner, transcript, allowance))
        finally:
            order.append(inner.closed)

    def interrupt(request):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        planned_by(attempt(wrapper), interrupt)
    assert order == [True]


def test_a_cancelled_run_closes_its_flow_and_tells_the_caller():
    watched = Watched()

    async def forever(request):
        await asyncio.Event().wait()

    async def scenario():
        task = asyncio.create_task(aplanned_by(attempt(watched), forever))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert watched.closed


def test_many_runs_on_one_loop_do_not_mix_their_answers():
    async def scenario():
        return await asyncio.gather(
            *(aplanned_by(attempt(loading(f"{n}a", f"{n}b")), aecho) for n in range(50))
        )

    assert [plan.detail for plan in asyncio.run(scenario())] == [f"{n}a,{n}b" for n in range(50)]


def test_a_batch_goes_in_lockstep_one_round_for_all_that_wait():
    rounds = []

    def answer(requests):
        rounds.append([request.key for request in requests])
        return [echo(request) for request in requests]

    plans = run_rounds(
        [attempt(loading("a")), attempt(loading("b", "c")), attempt(Plan(detail="d"))], answer
    )
    assert rounds == [["a", "b"], ["c"]]
    assert [plan.detail for plan in plans] == ["a", "b,c", "d"]


def test_a_lane_that_fails_fails_only_itself():
    def answer(requests):
        return [StoreError("gone") if request == Load("bad") else "fine" for request in requests]

    plans = run_rounds(
        [
            attempt(loading("good", "good")),
            attempt(loading("bad")),
            attempt(ValueError("x")),
            attempt(drops(2, 3)),
        ],
        answer,
    )
    assert [plan.status for plan in plans] == ["compacted", "failed", "failed", "compacted"]
    assert plans[0].detail == "fine,fine"
    assert isinstance(plans[1].fault, StoreError)


def test_a_batch_says_whose_ask_each_is():
    rounds = run_batch([attempt(Plan()), attempt(loading("a"))])
    assert next(rounds) == [(1, Load("a"))]
    rounds.close()


def test_a_batch_that_is_broken_off_closes_every_lane():
    lanes = [Watched(), Watched()]

    def interrupt(requests):
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        run_rounds([attempt(lane) for lane in lanes], interrupt)
    assert all(lane.closed for lane in lanes)


def test_an_empty_batch_asks_nothing():
    assert run_rounds([], pytest.fail) == []


def test_an_ask_is_a_value():
    assert Save("text", "log") == Save("text", "log") != Save("text")
    assert len({Load("a"), Load("a"), Load("b")}) == 2
