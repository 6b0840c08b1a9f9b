import pytest

from holdfast import IntegrityError
from holdfast.compressors.pipeline import apply_steps
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Replace
from tests.talks import agent_run, settled


def test_a_failed_plan_changes_nothing_and_keeps_the_fault():
    fault = ValueError("too long")
    plan = Plan.fail(fault)
    assert (plan.edits, plan.status, plan.detail, plan.fault) == (
        (),
        "failed",
        "ValueError: too long",
        fault,
    )


def test_plans_are_values_whatever_became_of_them():
    assert Plan((Drop((1,)),)) == Plan((Drop((1,)),), fault=ValueError("x"))
    assert Plan.skip("a") != Plan.skip("b")


def test_the_plan_of_a_pipeline_is_played_step_by_step():
    transcript, _ = settled(agent_run())
    deep = Plan(steps=(("deep", Plan((Replace(3, 0, "x"),))),))
    records = list(
        apply_steps(
            transcript, "whole", Plan(steps=(("first", Plan((Drop((2, 3)),))), ("second", deep)))
        )
    )
    assert [name for name, _, _ in records] == ["first", "deep"]
    assert records[1][2].before is records[0][2].transcript
    assert records[1][2].transcript.messages[3].content_text == "x"


def test_playing_stops_at_the_first_edit_that_breaks_a_rule():
    transcript, _ = settled(agent_run())
    plan = Plan(
        steps=(("fine", Plan((Drop((2, 3)),))), ("broken", Plan((Drop((2,)),))), ("never", Plan()))
    )
    records = apply_steps(transcript, "whole", plan)
    assert next(records)[0] == "fine"
    with pytest.raises(IntegrityError):
        next(records)
