from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from openai.types.responses import ResponseFunctionToolCall

import holdfast
from holdfast.kernel.errors import BudgetError, ConfigError, FormatError, InputError, NotFoundError
from holdfast.session import Session
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import TOPICS, call, chatter, talk
from tests.stores.doubles import AwaitedTextStore, TextStore

BUDGET = 900


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "memory":
        return InProcessStore()
    return f"sqlite:///{tmp_path / 'a.db'}"


@pytest.fixture
def session(store):
    with Session("thread-1", store=store, budget=BUDGET) as session:
        yield session


def texts(view):
    return [message["content"] for message in view.messages]


class TestAppending:
    def test_everything_comes_back_as_it_was_appended(self, session):
        messages = talk(30) + call(1, "one\ntwo")
        assert session.append(*messages[:10]) == list(range(10))
        session.append(*messages[10:])
        assert session.restore() == messages
        assert session.messages() == messages

    def test_a_message_whose_id_is_known_is_not_kept_again(self, session):
        session.append({"role": "user", "content": "a", "id": "one"})
        assert session.append({"role": "user", "content": "a", "id": "one"}) == [0]
        assert session.append(
            {"role": "user", "content": "b"}, {"role": "user", "content": "a"}, ids=["two", "one"]
        ) == [1, 0]
        assert [message["content"] for message in session.restore()] == ["a", "b"]

    def test_an_object_of_a_package_has_its_id_too(self, session):
        said = {"role": "user", "content": "a"}
        session.append(said)
        call = ResponseFunctionToolCall(
            id="fc_1", call_id="c1", name="f", arguments="{}", type="function_call"
        )
        assert (session.append(call), session.append(call)) == ([1], [1])
        assert len(session.restore()) == 2

    def test_another_session_goes_on_where_this_one_ended(self, store):
        with Session("t", store=store) as first:
            first.append(*chatter(4))
        with Session("t", store=store) as second, Session("t", store=store) as third:
            second.append(*chatter(2, 4))
            assert third.messages() == chatter(6)

    @pytest.mark.parametrize(
        "thread",
        [" ", "../x", "a:b", "\ud800", "二", "x" * 10_000, "a\x00b", "a\nb", "messages:thread-1"],
    )
    def test_any_text_names_a_thread(self, store, session, thread):
        session.append(*chatter(3))
        with Session(thread, store=store) as other:
            assert other.messages() == []
            other.append(*chatter(1))
            assert len(other.messages()) == 1
        assert len(session.messages()) == 3

    def test_what_is_no_message_is_refused_and_nothing_of_the_call_is_kept(self, session):
        with pytest.raises(FormatError):
            session.append({"role": "user", "content": "fine"}, {"text": "no role"})
        with pytest.raises(InputError, match="cannot be kept as JSON"):
            session.append({"role": "user", "content": "x", "extra": {1, 2}})
        assert session.messages() == []

    @pytest.mark.parametrize("kind", [TextStore, AwaitedTextStore])
    def test_a_store_of_keys_alone_keeps_a_thread_whole(self, kind):
        entries = kind()
        with Session("t", store=entries, budget=300) as session:
            session.append(*chatter(30))
            view = session.fit()
            assert view.budget_met
        with Session("t", store=entries, budget=300) as again:
            assert again.restore() == chatter(30)
            assert again.fit().messages == view.messages
            assert again.search("topic", 3)

    def test_clocks_that_go_backwards_keep_the_order_of_the_log(self, store):
        times = iter([500.0, 400.0, 300.0] + [200.0] * 99)
        with Session("t", store=store, clock=lambda: next(times)) as session:
            for message in chatter(3):
                session.append(message)
            assert session.messages() == chatter(3)

    def test_threads_of_execution_that_append_at_once_lose_nothing(self, session):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(session.append, chatter(40)))
        found = [message["content"] for message in session.messages()]
        assert sorted(found) == sorted(message["content"] for message in chatter(40))


class TestFitting:
    def test_a_thread_that_fits_comes_back_whole(self, session):
        session.append(*talk(3))
        view = session.fit()
        assert view.messages == talk(3)
        assert view.reason == "everything_fits"
        assert view.tokens == holdfast.count(view.messages).total

    @pytest.mark.parametrize("query", [None, "What was decided about retries?"])
    def test_the_view_is_within_the_budget_and_counted_right(self, session, query):
        session.append(*talk())
        view = session.fit(query)
        assert view.budget_met
        assert view.tokens == holdfast.count(view.messages).total <= BUDGET
        assert view.messages[0] == talk()[0]
        assert view.messages[-1] == talk()[-1]

    @pytest.mark.parametrize(
        ("query", "fact"), [("Which invoice was charged twice?", 0), ("how many retries", 3)]
    )
    def test_what_a_question_asks_for_comes_back_from_the_past(self, session, query, fact):
        session.append(*talk(400))
        view = session.fit(query)
        (restored,) = [text for text in texts(view) if "From earlier" in text]
        assert TOPICS[fact] in restored
        assert fact + 1 in [each.position for each in view.recalled]
        assert all(each.why for each in view.recalled)

    def test_the_newest_input_is_the_question_where_none_is_given(self, session):
        session.append(*talk(400), {"role": "user", "content": "Where does Dana want the parcel?"})
        assert TOPICS[2] in "\n".join(texts(session.fit()))

    def test_what_is_restored_stands_before_the_recent_turns_in_order_of_time(self, session):
        session.append(
            *talk(400),
            {"role": "user", "content": "Tell me of the deploy, the invoice and the backup."},
        )
        view = session.fit()
        at = next(i for i, text in enumerate(texts(view)) if "From earlier" in text)
        assert view.messages[at]["role"] == "user"
        assert [message["role"] for message in view.messages[:at]] == ["system"]
        places = [each.position for each in view.recalled]
        assert places == sorted(places)
        assert max(places) < view.since

    def test_between_two_inputs_of_the_user_the_view_only_grows_at_its_end(self, session):
        session.append(*talk(400))
        session.fit()
        session.append(
            {"role": "user", "content": "How many retries were agreed on?"}, *call(9, "output")
        )
        before = session.fit()
        for number in range(3):
            session.append(*call(number, f"output {number}"))
            after = session.fit()
            assert after.reason == "grown"
            assert after.messages[: len(before.messages)] == before.messages
            before = after

    def test_the_past_is_asked_again_when_the_work_turns_to_something_else(self, session):
        session.append(*talk(400), {"role": "user", "content": "Begin with the retries."})
        session.fit()
        for number in range(9):
            session.append(
                *call(number, f"parrots Miso and Tofu, tortoise of Priya, cage {number}")
            )
            view = session.fit()
        assert any(TOPICS[5] in text for text in texts(view) if text)
        recalls = [event for event in session.history() if event.kind == "recall"]
        assert len(recalls) > 1
        for event in recalls:
            found = len(event.facts["chosen"])
            assert (
                event.reason
                == f"{found} {'message' if found == 1 else 'messages'} of the past found for it"
            )

    def test_another_process_sends_the_same_beginning(self, store):
        messages = [*talk(400), {"role": "user", "content": "How many retries were agreed on?"}]
        with Session("t", store=store, budget=BUDGET) as first:
            first.append(*messages)
            before = first.fit()
        with Session("t", store=store, budget=BUDGET) as second:
            assert second.fit().messages == before.messages

    def test_an_agents_outputs_fit_valid_and_the_newest_exchange_is_there(self, session):
        session.append({"role": "user", "content": "Find the fault."})
        for number in range(60):
            session.append(*call(number, f"line of file {number}\n" * 60))
            view = session.fit()
            assert view.budget_met
            assert holdfast.validate(view.messages, provider="openai") == []
            assert view.messages[-1]["tool_call_id"] == f"call-{number}"
        assert view.messages[0]["content"] == "Find the fault."

    @pytest.mark.parametrize(
        "query",
        ["", " ", "Wie oft wird es wiederholt?", "何回", "word " * 50_000, "?" * 9, "\ud800"],
    )
    def test_any_question_gives_a_view_that_fits(self, session, query):
        session.append(*talk())
        view = session.fit(query)
        assert view.budget_met
        assert view.messages[-1] == talk()[-1]

    def test_a_question_is_answered_in_a_script_without_spaces(self, session):
        session.append(
            *talk(60), {"role": "user", "content": "我的护照在蓝色的抽屉里。"}, *chatter(200, 100)
        )
        assert "护照" in "\n".join(texts(session.fit("护照在哪里？")))

    def test_a_budget_that_cannot_be_met_is_told_or_raised(self, session):
        session.append({"role": "system", "content": "word " * 500}, *chatter(3))
        assert not session.fit(budget=100).budget_met
        with pytest.raises(BudgetError):
            session.fit(budget=holdfast.Budget(limit=100, hard=True))

    def test_each_budget_is_met_whatever_the_one_before_it_was(self, session):
        session.append(*talk(200))
        used = [
            session.fit(budget=budget).tokens
            for budget in (2_000, 1_000, 400, 150, 400, 1_000, 2_000)
        ]
        for tokens, budget in zip(used, (2_000, 1_000, 400, 150, 400, 1_000, 2_000), strict=True):
            assert budget * 0.4 <= tokens <= budget

    def test_what_is_to_be_kept_in_mind_stands_after_the_systems_messages_and_is_counted(
        self, session
    ):
        system, *said = talk(4)
        session.append(system, *said)
        session.remember("Answer in Portuguese.")
        view = session.fit()
        assert view.messages[0] == system
        assert view.messages[1]["content"].endswith("To be kept in mind:\n- Answer in Portuguese.")
        assert view.messages[2:] == said
        assert view.tokens == holdfast.count(view.messages).total
        assert session.fit(budget=view.tokens).messages == view.messages
        assert session.fit(budget=view.tokens - 1).tokens < view.tokens

    def test_without_a_budget_it_says_what_to_do(self, store):
        with (
            Session("t", store=store) as session,
            pytest.raises(ConfigError, match="give one such as 8_000 to the session, or to fit"),
        ):
            session.fit()

    def test_what_a_caller_does_to_a_view_does_not_change_the_thread(self, session):
        session.append(*talk(3))
        session.fit().messages[1]["content"] = "changed"
        assert session.fit().messages == talk(3)

    def test_what_a_caller_does_inside_a_message_does_not_change_it(self, session):
        parts = [{"type": "text", "text": "the pump hums"}]
        session.append({"role": "user", "content": parts})
        for messages in (session.fit().messages, session.messages(), session.restore()):
            messages[0]["content"][0]["text"] = "no word of that"
            messages[0]["role"] = "assistant"
        assert session.fit().messages == session.messages() == [{"role": "user", "content": parts}]

    def test_pins_stay_in_every_view(self, session):
        session.append(*talk(400))
        session.pin(6)
        assert TOPICS[5] in texts(session.fit("something else entirely"))
        session.undo()
        assert TOPICS[5] not in texts(session.fit("something else entirely"))


class TestTheRecord:
    def test_compactions_are_events_with_their_reason_and_can_be_undone(self, session):
        session.append(*talk(400))
        session.fit()
        (event,) = [event for event in session.history() if event.kind == "compaction"]
        assert (event.reason, event.facts["from"]) == (
            "the recent turns outgrew their share of the budget",
            0,
        )
        assert session.stats().since == event.facts["to"] > 300
        session.undo(event)
        assert session.stats().since == 0
        assert session.restore() == talk(400)

    def test_an_edit_is_seen_at_once_and_can_be_undone(self, session):
        session.append(*talk(300), {"role": "user", "content": "How many retries were agreed on?"})
        assert TOPICS[3] in "\n".join(texts(session.fit()))
        session.edit(4, {"role": "assistant", "content": "We agreed on nine retries."})
        after = "\n".join(texts(session.fit()))
        assert "nine retries" in after
        assert TOPICS[3] not in after
        assert session.recall(4) == "We agreed on nine retries."
        assert session.restore()[4]["content"] == TOPICS[3]
        session.undo()
        assert session.recall(4) == TOPICS[3]
        assert "nine retries" not in "\n".join(texts(session.fit()))

    def test_an_edit_inside_what_was_folded_into_notes_is_what_the_notes_say_from_then_on(
        self, session
    ):
        session.append({"role": "user", "content": "Find the fault."})
        for number in range(12):
            session.append(
                *call(number, f"reading {number} of gauge quartz is {number * 37} bar\n" * 30)
            )
            session.fit()
        session.append({"role": "user", "content": "The gauge is called quartz."}, *call(50, "out"))
        session.fit()
        session.edit(-3, {"role": "user", "content": "The gauge is called feldspar."})
        for number in range(60, 64):
            session.append(*call(number, f"other {number}\n" * 30))
            view = session.fit()
            assert "gauge is called quartz" not in str(view.messages)
            assert view.budget_met
            assert holdfast.validate(view.messages, provider="openai") == []

    def test_what_is_deleted_is_in_no_view_and_no_search_until_it_is_undone(self, session):
        session.append(*talk(300))
        session.delete(4)
        assert TOPICS[3] not in "\n".join(texts(session.fit("retries")))
        assert 4 not in [each.position for each in session.search("retries")]
        assert len(session.messages()) == len(talk(300)) - 1
        with pytest.raises(NotFoundError):
            session.recall(4)
        session.undo()
        assert [each.position for each in session.search("retries", 1)] == [4]

    def test_a_call_and_its_results_are_deleted_together(self, session):
        session.append({"role": "user", "content": "go"}, *call(1, "out"), *chatter(2))
        session.delete(2)
        assert [message["role"] for message in session.messages()] == ["user", "user", "assistant"]

    def test_undoing_what_is_not_there_is_refused(self, session):
        session.append(*chatter(2))
        with pytest.raises(InputError, match="nothing to undo"):
            session.undo()
        event = session.pin(0)
        session.undo(event)
        with pytest.raises(InputError, match="cannot be undone"):
            session.undo(event)

    def test_of_several_edits_or_pins_of_a_message_each_is_undone_by_itself(self, session):
        session.append(*chatter(2))
        first, second = (
            session.edit(0, {"role": "user", "content": text}) for text in ("one", "two")
        )
        session.undo(first)
        assert session.recall(0) == "two"
        session.undo(second)
        assert session.messages() == session.restore()
        older, newer = session.pin(0), session.pin(0, 1)
        session.undo(newer)
        assert session.stats().pinned == 1
        session.undo(older)
        assert session.stats().pinned == 0

    @pytest.mark.parametrize("filled", ["append", "remember"])
    @pytest.mark.parametrize("copied", [(), ("append",), ("append", "remember")])
    def test_no_fork_is_made_into_a_thread_that_has_anything(self, store, filled, copied):
        given = {"append": {"role": "user", "content": "hello"}, "remember": "Answer in Dutch."}
        with Session("full", store=store) as full, Session("other", store=store) as other:
            getattr(full, filled)(given[filled])
            for method in copied:
                getattr(other, method)(given[method])
            before = full.restore(), full.notes()
            with pytest.raises(ConfigError, match="thread 'full' is not empty"):
                other.fork("full")
            assert (full.restore(), full.notes()) == before

    def test_a_fork_begins_as_the_thread_stands_and_goes_its_own_way(self, session):
        session.append(*talk(60))
        session.edit(4, {"role": "assistant", "content": "We agreed on nine retries."})
        session.delete(6)
        fork = session.fork("thread-2")
        assert fork.messages() == session.messages()
        assert fork.restore() == session.restore()
        fork.append(*chatter(1, 900))
        assert len(session.messages()) == len(fork.messages()) - 1
        assert [each.position for each in fork.search("retries", 1)] == [4]
        with pytest.raises(ConfigError, match="is not empty"):
            session.fork("thread-2")


class TestRecalling:
    def test_a_message_comes_back_whole_or_in_part(self, session):
        session.append({"role": "user", "content": "one\ntwo\nthree", "id": "it"}, *chatter(2))
        assert session.recall(0) == session.recall("it") == session.recall(-3) == "one\ntwo\nthree"
        assert session.recall("it", lines=(2, 3)) == "two\nthree"
        assert session.recall("it", pattern="t.o") == "two\n"

    def test_a_message_with_a_call_alone_comes_back_as_its_call(self, session):
        session.append({"role": "user", "content": "read it"}, *call(1, "done"))
        assert "read" in session.recall(1)

    def test_what_a_view_cut_out_of_an_output_can_be_recalled(self, session):
        output = "\n".join(f"row {n}: value {n * n}" for n in range(900))
        session.append({"role": "user", "content": "read it"}, *call(1, output))
        view = session.fit()
        key = texts(view)[-1].rpartition("original: ")[2].split()[0]
        assert session.recall(key) == output
        assert session.recall(key, lines="3:3") == "row 2: value 4\n"

    @pytest.mark.parametrize("key", [99, -99, "no-such-id", "0123456789ab"])
    def test_what_is_not_there_is_not_found(self, session, key):
        session.append(*chatter(2))
        with pytest.raises(NotFoundError):
            session.recall(key)

    def test_times_in_a_question_are_times_of_the_messages(self, session):
        session.append(*talk(100), at=datetime(2024, 3, 1, tzinfo=UTC))
        session.append(
            {"role": "user", "content": "I flew to Lisbon."}, at=datetime(2024, 5, 7, tzinfo=UTC)
        )
        session.append(*chatter(100, 200), at=datetime(2024, 8, 1, tzinfo=UTC))
        assert session.search("Where did I go in May 2024?", 1)[0].position == 107


class TestTheAsynchronousForms:
    def test_they_do_what_the_others_do(self, store):
        async def use():
            async with Session("t", store=store, budget=BUDGET) as session:
                await session.aappend(*talk(100))
                view = await session.afit("retries")
                await session.apin(1)
                await session.aundo()
                await session.aedit(1, {"role": "user", "content": "edited"})
                await session.adelete(2)
                fork = await session.afork("t2")
                found = await fork.asearch("parcel", 1)
                facts = (
                    await fork.amessages(),
                    await fork.arestore(),
                    await fork.ahistory(),
                    await fork.astats(),
                )
                return view, found, await fork.arecall(1), facts

        view, found, recalled, (messages, restored, history, stats) = asyncio.run(use())
        assert view.budget_met
        assert (found[0].position, recalled) == (3, "edited")
        assert (len(messages), len(restored)) == (106, 107)
        assert [event.kind for event in history][-2:] == ["edit", "delete"]
        assert (stats.messages, stats.deleted, stats.edited) == (107, 1, 1)


@pytest.mark.parametrize("name", [5, None, b"t"])
def test_a_conversation_has_a_name(name):
    with pytest.raises(
        ConfigError, match=r"^thread: .* does not belong here; give a name as text$"
    ):
        Session(name)


def test_a_call_is_found_as_it_was_made_and_a_message_that_says_nothing_is_not(session):
    session.append({"role": "user", "content": "Read the port of the archive."}, *call(7, ""))
    found = [each.text for each in session.search("port of the archive in file-7.txt")]
    assert 'Call: read({"path": "file-7.txt"})' in found
    assert all(found)


class Picky:
    """A counter that cannot count one text."""

    name, accuracy = "picky", holdfast.count([]).accuracy

    def count(self, text):
        if "bad" in text:
            raise ZeroDivisionError
        return len(text.split())


def test_a_message_that_cannot_be_counted_is_not_stored(store):
    sound = {"role": "user", "content": "good"}
    with Session("t", store=store, budget=BUDGET, counter=Picky()) as session:
        session.append(sound)
        with pytest.raises(ConfigError, match="ZeroDivisionError"):
            session.append(sound, {"role": "user", "content": "bad"})
        assert session.restore() == session.fit().messages == [sound]
