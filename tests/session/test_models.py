"""A session whose model writes the warm and the cold forms: asked beside the session, never by
a fit.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from threading import Event

import pytest

import holdfast
from holdfast.kernel.compressor import ask
from holdfast.kernel.errors import ConfigError, ModelError, NotFoundError
from holdfast.kernel.ports import Complete
from holdfast.memory.forms import Form, RuleCondenser
from holdfast.memory.tiers import TierSizes
from holdfast.providers.openai import OpenAIModel
from holdfast.providers.scripted import Scripted
from holdfast.session import Session
from holdfast.session.forms import RECONSTRUCTED, ModelCondenser
from holdfast.stores.in_process import InProcessStore
from tests.embedders import ScriptedEmbedder
from tests.providers.vendors import Vendors
from tests.session.talks import turn, turns

SIZES = TierSizes(hot=600, warm=400, cold=2_000, protect_last=2)
WAIT = 20  # seconds; only a fault waits so long


def brief(prompt):
    """What a good model makes of a turn."""
    number = prompt.partition("ORD-")[2][:4]
    return (
        f"By the model: order ORD-{number} waited at customs of Lisbon; Dana Reyes sent "
        f"the invoice."
    )


def expansion(prompt):
    """What a good model makes of a note: all of it."""
    piece = " ".join(line[2:] for line in prompt.splitlines() if line.startswith("| "))
    return f"The note says: {piece}"


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return f"memory://{tmp_path}" if request.param == "memory" else f"sqlite:///{tmp_path / 'a.db'}"


def opened(store, llm, **options):
    return Session("t", store=store, budget=900, tiers=SIZES, llm=llm, **options)


def forms(session):
    """The forms of warm and cold by who wrote them."""
    tiers = session.tiers()
    return {
        segment.id: (segment.metadata.get("written_by", "rule"), segment.content)
        for segment in (*tiers.warm, *tiers.cold)
    }


def kinds(session, kind):
    return [event for event in session.history() if event.kind == kind]


def ended():
    """Wait until no session works in the background any more."""
    for thread in threading.enumerate():
        if thread.name == "holdfast-session":
            thread.join(WAIT)


def until_asked(model, gate):
    while not model.calls:
        gate.wait(0.001)


def test_the_models_form_is_put_in_the_place_of_the_rules_at_the_next_tending(store):
    model = Scripted(brief)
    with opened(store, model) as session:
        for message in turns(12):
            session.append(message)
        assert model.calls
        assert {writer for writer, _ in forms(session).values()} >= {"scripted"}
        written = [text for writer, text in forms(session).values() if writer == "scripted"]
        assert all(text.startswith("By the model: ") for text in written)
        rewritten = [
            move
            for event in kinds(session, "tiers")
            for move in event.facts["moves"]
            if move[3] == "rewritten"
        ]
        assert rewritten
        assert session.stats().forms["scripted"] == len(written)
        assert f"{len(written)} by scripted" in session.report()
        assert session.restore() == turns(12)


def test_what_the_text_names_and_the_model_does_not_stands_behind_its_form(store):
    with opened(store, Scripted(brief)) as session:
        session.append(*turns(12))
        session.tend()
        for segment in session.tiers().warm:
            assert (
                f"depot {int(segment.content.partition('ORD-')[2][:4])}".split()[1]
                in segment.content
            )


def test_the_tiers_keep_their_sizes_whatever_the_model_writes(store):
    with opened(store, Scripted(brief)) as session:
        for message in turns(40):
            session.append(message)
            assert all(tier.size <= tier.capacity for tier in session.stats().tiers.values())


def test_a_fit_asks_no_model(store):
    model = Scripted(brief)
    with opened(store, model) as session:
        session.append(*turns(40))
        session.tend()
        before = len(model.calls)
        assert session.fit().budget_met
        assert session.fit("What became of order ORD-0003?").budget_met
        session.stats()
        session.search("customs")
        assert len(model.calls) == before


def test_a_fit_does_not_wait_for_an_append_that_waits_for_the_model(store):
    gate = Event()
    model = Scripted(brief, gate=gate)
    with opened(store, model, background=True) as session:
        session.append(*turns(12))
        until_asked(model, gate)
        view = session.fit("What became of order ORD-0003?")
        assert view.budget_met
        assert {writer for writer, _ in forms(session).values()} == {"rule"}
        gate.set()
        session.tend()
        assert session.stats().forms["scripted"]


def test_neither_a_fit_nor_an_append_waits_for_an_append_in_another_thread_that_waits_for_the_model(
    store,
):
    gate = Event()
    model = Scripted(brief, gate=gate)
    with opened(store, model) as session, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(session.append, *turns(8))
        until_asked(model, gate)
        assert session.fit().budget_met
        assert session.restore() == turns(8)
        session.append({"role": "user", "content": "short"})
        assert not waiting.done()
        gate.set()
        assert waiting.result(WAIT) == list(range(16))


def test_a_large_backlog_is_tended_in_portions_in_the_background(store):
    with opened(store, None, background=True) as session:
        session.append(*turns(150))
        ended()
        assert len(kinds(session, "tiers")) > 5
        at_once = Session("another", store=store, tiers=SIZES)
        at_once.append(*turns(150))
        assert {segment.origin for segment in session.tiers().hot} == {
            each.origin for each in at_once.tiers().hot
        }
        held = [
            segment.id for tier in ("hot", "warm", "cold") for segment in session.tiers().of(tier)
        ]
        assert len(held) == len(set(held))
        assert all(tier.size <= tier.capacity for tier in session.stats().tiers.values())


def test_closing_leaves_a_request_that_is_under_way_and_nothing_is_half_written(store):
    gate = Event()
    model = Scripted(brief, gate=gate)
    session = opened(store, model, background=True)
    session.append(*turns(12))
    while not model.calls:
        gate.wait(0.001)
    session.close()
    with opened(store, None) as again:
        before = again.tiers(), again.history()
        gate.set()
        ended()
        assert (again.tiers(), again.history()) == before
        assert {writer for writer, _ in forms(again).values()} == {"rule"}
        assert again.restore() == turns(12)


def test_forms_that_came_are_put_in_their_place_when_the_session_is_closed(store):
    session = opened(store, Scripted(brief))
    for message in turns(6):
        session.append(message)
    session.close()
    with opened(store, None) as again:
        assert "scripted" in again.stats().forms


@pytest.mark.parametrize("background", [False, True])
def test_a_model_that_fails_is_told_and_the_rules_form_stands(store, background):
    model = Scripted(lambda prompt: ModelError("the model is away"))
    with opened(store, model, background=background) as session:
        session.append(*turns(12))
        session.tend()
        stats = session.stats()
        assert set(stats.forms) == {"rule"}
        assert stats.faults[-1] == "the model is away"
        assert stats.events["fault"] == len(kinds(session, "fault")) == 1
        assert kinds(session, "forms")[-1].facts["failed"]
        assert stats.to_dict()["faults"] == stats.faults
        assert "What went wrong" in session.report()
        assert "the model is away" in session.report("html")
        assert session.restore() == turns(12)


def test_a_form_is_asked_for_twice_at_most(store):
    model = Scripted(lambda prompt: ModelError("the model is away"))
    with opened(store, model) as session:
        session.append(*turns(12))
        for _ in range(6):
            session.tend(force=True)
        prompts = [call.prompt for call in model.calls]
        assert prompts
        assert max(map(prompts.count, prompts)) <= 2


@pytest.mark.parametrize(
    "reply", ["", "I'm sorry, I cannot help with that.", "Order ORD-9999 was lost by Dana Reyes."]
)
def test_a_reply_that_cannot_stand_for_the_text_is_refused_and_not_asked_for_again(store, reply):
    model = Scripted(reply)
    with opened(store, model) as session:
        session.append(*turns(12))
        session.tend()
        asked = len(model.calls)
        session.tend()
        assert len(model.calls) == asked > 0
        tiers = session.tiers()
        assert session.stats().forms == {"rule": len(tiers.warm) + len(tiers.cold)}
        assert kinds(session, "forms")[0].facts["refused"]
        assert any("refused" in segment.metadata for segment in tiers.warm)


def test_what_is_too_short_to_ask_for_counts_as_no_form_of_the_model(store):
    notes = [{"role": "user", "content": f"Order ORD-{n:04} went to Lisbon."} for n in range(60)]
    with opened(
        store, Scripted(lambda prompt: "It was refused: order ORD-9999 went to Porto.")
    ) as session:
        session.append(*notes, *turns(6))
        session.tend()
        assert set(session.stats().forms) == {"rule"}
        told = kinds(session, "forms")
    assert told
    assert {event.facts["taken"] for event in told} == {0}
    assert all(event.reason.startswith("0 of ") for event in told)


def test_equal_requests_are_paid_for_once(tmp_path):
    cache = holdfast.CompressionCache()
    first, second = Scripted(brief), Scripted(brief)
    for name, model in (("a", first), ("b", second)):
        with Session(name, budget=900, tiers=SIZES, llm=model, cache=cache) as session:
            session.append(*turns(12))
            session.tend()
            assert session.stats().forms["scripted"]
    assert first.calls
    assert not second.calls
    assert cache.statistics().summaries.hits


def test_a_form_of_a_message_that_was_edited_meanwhile_is_not_taken(store):
    gate = Event()
    model = Scripted(brief, gate=gate)
    with opened(store, model, background=True) as session:
        session.append(*turns(12))
        until_asked(model, gate)
        session.edit(1, {"role": "assistant", "content": "It was " + "never sent at all. " * 40})
        gate.set()
        session.tend()
        told = [
            text
            for writer, text in forms(session).values()
            if "0000" in text and writer == "scripted"
        ]
        assert not told


def test_edits_and_deletions_reach_what_the_tiers_hold(store):
    with opened(store, None) as session:
        session.append(*turns(12))
        session.stats()
        session.edit(2, {"role": "user", "content": "What became of order QX-77?"})
        session.delete(4, 5)
        held = "\n".join(
            each.content for tier in ("hot", "warm", "cold") for each in session.tiers().of(tier)
        )
        assert "QX-77" in held
        assert "ORD-0002" not in held
        session.undo()
        held = "\n".join(
            each.content for tier in ("hot", "warm", "cold") for each in session.tiers().of(tier)
        )
        assert "ORD-0002" in held


def test_secrets_are_masked_before_the_model_sees_them(store):
    model = Scripted(brief)
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    with opened(store, model, redact=True) as session:
        session.append(
            {"role": "user", "content": f"The key is {secret}. " + turn(1)[1]["content"]},
            *turns(12),
        )
        session.tend()
        assert model.calls
        assert not any(secret in call.prompt for call in model.calls)


def test_a_condenser_of_the_callers_own_may_ask_too():
    class Shouting(RuleCondenser):
        def asking(self, text, level, count):
            return Form((yield from ask(Complete(text))))

    model = Scripted("LOUD")
    with opened(InProcessStore(), model, condenser=Shouting()) as session:
        session.append(*turns(12))
        session.tend()
        assert "LOUD" in [text for _, text in forms(session).values()]


@pytest.mark.parametrize("background", [False, True])
def test_a_condenser_that_breaks_is_told_and_nothing_is_lost(background):
    class Broken:
        def condense(self, text, level, count):
            raise ValueError("no form today")

    with opened(InProcessStore(), None, condenser=Broken(), background=background) as session:
        for message in turns(12):
            session.append(message)
        assert session.stats().faults[-1] == "ValueError: no form today"
        assert kinds(session, "fault")
        assert session.restore() == turns(12)
        assert session.fit().budget_met


@pytest.mark.parametrize("form", [None, ValueError("no\nform")])
def test_where_a_condenser_breaks_rules_make_the_form(form):
    class Broken:
        def condense(self, text, level, count):
            if form is None:
                return
            raise form

    with (
        opened(InProcessStore(), None, condenser=Broken()) as session,
        opened(InProcessStore(), None) as usual,
    ):
        for each in (session, usual):
            each.append(*turns(12))
            each.tend()
        assert forms(session) == forms(usual)
        told = "ConfigError: condense: None does not belong here; give text"
        assert session.stats().faults == (told if form is None else "ValueError: no form",)
        assert len(kinds(session, "fault")) == 1


def test_where_a_condenser_that_asks_breaks_rules_make_the_form():
    class Broken(RuleCondenser):
        def asking(self, text, level, count):
            raise ValueError("no\nform")

    with opened(InProcessStore(), Scripted("LOUD"), condenser=Broken()) as session:
        session.append(*turns(12))
        session.tend()
        assert forms(session)
        assert session.stats().faults == ("ValueError: no form",)


def test_a_condenser_that_asks_needs_a_model():
    with pytest.raises(ConfigError, match="it asks a model, and there is none; give llm="):
        Session("t", condenser=ModelCondenser())


def test_two_sessions_of_one_thread_tend_it_in_turns(store):
    first, second = (
        opened(store, Scripted(brief), background=True),
        opened(store, Scripted(brief), background=True),
    )
    for number in range(12):
        (first, second)[number % 2].append(*turn(number))
    first.tend()
    second.tend()
    first.close()
    second.close()
    ended()
    with opened(store, None) as again:
        told = [
            segment.id for tier in ("hot", "warm", "cold") for segment in again.tiers().of(tier)
        ]
        assert len(told) == len(set(told))
        assert again.stats().forms["scripted"]
        assert "fault" not in again.stats().events
        assert again.restore() == turns(12)


class TestWeighing:
    @staticmethod
    def by_topic(text):
        return [1.0, 0.1] if "parcel" in text else [0.1, 1.0]

    def left(self, name, store, **options):
        """How many of the segments that stayed in hot are about what the talk came to, and how
        many are not.
        """
        sizes = TierSizes(hot=400, warm=300, cold=300, protect_last=0)
        with Session(
            name,
            store=store,
            budget=900,
            tiers=sizes,
            vectors=False,
            clock=count(1.0).__next__,
            **options,
        ) as session:
            for n in range(60):
                what = "a parcel" if n % 2 else "a garden"
                session.append(
                    {"role": "user", "content": f"Number {n} is {what}, spoken of at some length."}
                )
                if not options:
                    session.tiers()
            for n in range(20):
                session.append({"role": "user", "content": f"Now it is the parcel, {n}."})
                if not options:
                    session.tiers()
            about = [
                "parcel" in segment.content
                for segment in session.tiers().hot
                if "Number" in segment.content
            ]
        return sum(about), len(about) - sum(about)

    def test_segments_are_weighed_by_what_they_mean_where_there_is_an_embedder(self, store):
        embedder = ScriptedEmbedder(self.by_topic)
        near, far = self.left("a", store, embedder=embedder)
        assert near > far == 0
        assert self.left("b", store)[1] > 0  # words alone know the same word, and time
        texts = [text for call in embedder.calls for text in call]
        assert texts
        assert len(texts) == len(set(texts))

    def test_an_embedder_that_fails_is_told_and_words_stand_in(self, store):
        def away(text):
            raise ModelError("the embedder is away")

        with opened(store, None, embedder=ScriptedEmbedder(away)) as session:
            for message in turns(12):
                session.append(message)
            assert session.stats().faults[-1] == "the embedder is away"
            assert session.tiers().warm


class TestExpanding:
    """A message whose line the store has lost, by hand or by a rule of how long data is kept."""

    @pytest.fixture
    def lost(self, tmp_path):
        path = tmp_path / "a.db"
        with opened(f"sqlite:///{path}", None) as session:
            session.append(*turns(12))
            assert "2-3" in [segment.id for segment in session.tiers().warm]
        with closing(sqlite3.connect(path)) as connection, connection:
            gone = "DELETE FROM lines WHERE instr(CAST(body AS TEXT), 'ORD-0001 left depot')"
            assert connection.execute(gone).rowcount == 1
        return f"sqlite:///{path}"

    def test_without_being_asked_nothing_is_made_up(self, lost):
        model = Scripted("Order ORD-0001 reached Lisbon.")
        with opened(lost, model) as session, pytest.raises(NotFoundError):
            session.recall(3)
        assert not model.calls

    def test_what_the_model_makes_of_the_note_is_marked_as_reconstructed(self, lost):
        with opened(lost, Scripted(expansion)) as session:
            text = session.recall(3, expand="model")
            assert text.splitlines()[0] == RECONSTRUCTED
            assert "ORD-0001" in text
            assert session.recall(3, pattern="ORD", expand="model").startswith("The note says")

    def test_an_original_that_is_kept_is_never_made_anew(self, lost):
        model = Scripted(expansion)
        with opened(lost, model) as session:
            assert session.recall(5, expand="model") == turns(12)[5]["content"]
            session.delete(6, 7)
            with pytest.raises(NotFoundError):
                session.recall(6, expand="model")
        assert not [call for call in model.calls if "Write it out" in call.prompt]

    def test_a_model_that_invents_is_refused(self, lost):
        with (
            opened(lost, Scripted("Order ORD-4711 reached Lisbon.")) as session,
            pytest.raises(ModelError),
        ):
            session.recall(3, expand="model")

    def test_without_a_model_it_says_what_to_give(self, lost):
        with (
            opened(lost, None) as session,
            pytest.raises(ConfigError, match="give llm= to the session"),
        ):
            session.recall(3, expand="model")


def test_the_asynchronous_forms_do_the_same(store):
    async def use():
        async with opened(store, Scripted(brief)) as session:
            await session.aappend(*turns(12))
            await session.atend()
            return (await session.astats()).forms, await session.atiers()

    told, tiers = asyncio.run(use())
    assert told["scripted"]
    assert tiers.warm


class TestOverHttp:
    @pytest.fixture
    def vendors(self):
        server = Vendors()
        server.reply = brief
        yield server
        server.close()

    def model(self, vendors):
        return OpenAIModel(
            "a-model", api_key="a-key", base_url=vendors.base("openai"), timeout=WAIT
        )

    def test_forms_come_over_the_wire(self, vendors, store):
        with opened(store, self.model(vendors), background=True) as session:
            session.append(*turns(12))
            session.tend()
            assert session.stats().forms["a-model"]
            assert kinds(session, "forms")[0].facts["input_tokens"]

    def test_a_server_that_refuses_is_told_in_one_line(self, vendors, store):
        vendors.judge = lambda text: "refused"
        with opened(store, self.model(vendors)) as session:
            session.append(*turns(12))
            session.tend()
            (fault, *_) = session.stats().faults
            assert "this key is not known" in fault
            assert "\n" not in fault

    def test_a_server_that_is_silent_keeps_nobody_from_fitting_or_closing(self, vendors, store):
        vendors.judge = lambda text: "hang"
        session = opened(store, self.model(vendors), background=True)
        session.append(*turns(12))
        while not vendors.requests:
            vendors.over.wait(0.001)
        assert session.fit().budget_met
        session.append(*turns(1, 20))
        session.close()
        with opened(store, None) as again:
            assert again.restore() == turns(12) + turns(1, 20)
