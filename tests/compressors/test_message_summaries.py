from dataclasses import replace

import pytest

from holdfast.compressors.summaries import WorkingStore
from holdfast.compressors.writer import Single, message_summary
from holdfast.kernel.compressor import Attempt, Plan
from holdfast.kernel.errors import ModelError, StoreError
from holdfast.kernel.ports import All, Complete, Read, Write
from tests.talks import planned_by, settled

OUTPUT = "Connected to db-7.example.org. " + "Nothing to report here. " * 30 + "Job 8812 failed."
GOOD = "The job ran against the database and failed."


class Alone:
    """A strategy that summarizes one text and says it in the detail of its plan."""

    name = "alone"

    def __init__(self, text, tokens=40):
        self.text, self.tokens = text, tokens

    def plan(self, transcript, allowance):
        single = Single(self.text, "tool", 4, "output of run_job")
        store = WorkingStore(allowance.stored)
        text = yield from message_summary(single, self.tokens, allowance, store)
        return Plan(detail=text, reason=store.trouble)


class World:
    """A dictionary for a store, and replies in order."""

    def __init__(self, *replies, thread="t", broken=()):
        self.kept, self.replies, self.calls, self.broken = {}, list(replies), [], broken
        transcript, allowance = settled([{"role": "user", "content": "hi"}], 10)
        self.given = transcript, replace(allowance, stored=True, thread=thread, writer="scripted")

    def plan(self, strategy):
        return planned_by(Attempt(strategy, *self.given), self.answer)

    def answer(self, request):
        if isinstance(request, All):
            return [self.answer(each) for each in request.asks]
        if isinstance(request, Complete):
            self.calls.append(request)
            return self.replies.pop(0)
        if isinstance(request, self.broken):
            return StoreError("the disk is full")
        if isinstance(request, Read):
            return self.kept.get(request.key)
        self.kept[request.key] = request.value
        return None


def test_a_text_is_told_in_the_models_words_with_the_exact_things_that_it_left_out():
    world = World(GOOD)
    told = world.plan(Alone(OUTPUT)).detail
    assert told.startswith(GOOD)
    assert "db-7.example.org" in told
    assert "8812" in told
    assert "output of run_job" in world.calls[0].prompt


@pytest.mark.parametrize("thread", ["t", ""])
def test_it_is_kept_and_found_again_until_the_text_changes(thread):
    world = World(GOOD, "Other.", thread=thread)
    first = world.plan(Alone(OUTPUT)).detail
    assert world.plan(Alone(OUTPUT)).detail == first
    assert len(world.calls) == 1
    world.plan(Alone(OUTPUT + "!"))
    assert len(world.calls) == 2
    assert ("thread_t:message:4" in world.kept) is bool(thread)


@pytest.mark.parametrize("reply", ["", "[summary unavailable]", OUTPUT, ModelError("down")])
def test_a_reply_that_cannot_stand_for_the_text_is_refused_and_nothing_is_kept(reply):
    world = World(reply)
    plan = world.plan(Alone(OUTPUT))
    assert isinstance(plan.fault, ModelError)
    assert not world.kept


@pytest.mark.parametrize("broken", [Read, Write])
def test_a_store_that_fails_is_told_and_the_summary_stands(broken):
    plan = World(GOOD, broken=broken).plan(Alone(OUTPUT))
    assert plan.detail.startswith(GOOD)
    assert plan.reason == "summaries are not kept: the disk is full"


def test_after_a_read_that_failed_nothing_is_written():
    world = World(GOOD, broken=Read)
    world.plan(Alone(OUTPUT))
    assert not world.kept
