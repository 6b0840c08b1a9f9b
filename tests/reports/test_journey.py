"""Every message is followed from the original to the result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast import compress
from holdfast.kernel.edits import Drop, Edit, Insert, Offload, Replace
from holdfast.reports import Touch, journeys
from holdfast.result import CompressionResult, restore, sources

from .results import assistant, call, output, result_of, user


def talk(count: int) -> list[dict[str, object]]:
    return [user(f"question {i}") if i % 2 == 0 else assistant(f"answer {i}") for i in range(count)]


def test_without_edits_every_message_is_kept_where_it_was():
    found = journeys(result_of(talk(3), ("prune", [])))
    assert [(way.before, way.after, way.state) for way in found] == [
        (0, 0, "kept"),
        (1, 1, "kept"),
        (2, 2, "kept"),
    ]
    assert all(way.decided is None for way in found)


def test_a_dropped_message_stands_where_it_was_and_those_after_it_move_up():
    found = journeys(result_of(talk(4), ("trim", [Drop((0, 1), "old")])))
    assert [(way.before, way.after, way.state) for way in found] == [
        (0, None, "dropped"),
        (1, None, "dropped"),
        (2, 0, "kept"),
        (3, 1, "kept"),
    ]
    assert found[0].decided == Touch("trim", "dropped", "old")


def test_a_body_whose_input_is_a_text_has_one_message():
    body = {"model": "gpt-4o", "input": "It waits for the order. " * 500}
    (way,) = journeys(compress(body, 300))
    assert (way.state, way.before, way.after) == ("changed", 0, 0)


def test_positions_of_a_later_step_are_those_that_the_earlier_steps_left():
    steps = [
        ("window", [Drop((0,), "first")]),
        ("trim", [Drop((0,), "second")]),
        ("last", [Replace(0, 0, "short", "x", asked=True)]),
    ]
    found = journeys(result_of(talk(4), *steps))
    assert [(way.state, [touch.step for touch in way.touches]) for way in found] == [
        ("dropped", ["window"]),
        ("dropped", ["trim"]),
        ("changed", ["last"]),
        ("kept", []),
    ]


def test_a_message_that_was_changed_and_then_dropped_is_dropped_and_remembers_both():
    steps = [("shrink", [Replace(1, 0, "…", "long")]), ("trim", [Drop((0, 1), "old")])]
    way = journeys(result_of(talk(4), *steps))[1]
    assert way.state == "dropped"
    assert [(touch.step, touch.state) for touch in way.touches] == [
        ("shrink", "changed"),
        ("trim", "dropped"),
    ]
    assert way.decided == Touch("trim", "dropped", "old")


def test_an_offloaded_message_names_its_key_even_if_it_is_changed_again():
    messages = [user("look"), call("a"), output("a", "long " * 50), user("and?")]
    steps = [
        ("shrink", [Offload(2, 0, "[kept as k1]", "k1", "large")]),
        ("prune", [Replace(2, 0, "[gone]", "old")]),
    ]
    way = journeys(result_of(messages, *steps))[2]
    assert way.state == "offloaded"
    assert way.decided == Touch("shrink", "offloaded", "large", "k1")


def test_an_inserted_message_has_no_place_in_the_original_and_says_what_it_covers():
    digest = [
        Drop((0, 1, 2, 3), "old"),
        Insert(0, "user", "a digest", "stands for them", covers=(0, 3)),
    ]
    result = result_of(talk(6), ("digest", digest))
    found = journeys(result)
    assert [way.state for way in found] == ["inserted", *["dropped"] * 4, "kept", "kept"]
    assert (found[0].before, found[0].after, found[0].covers) == (None, 0, (0, 3))
    assert result.messages[found[0].after] == user("a digest")


def test_a_digest_of_a_digest_covers_what_both_speak_for_and_the_first_one_is_not_listed():
    first = [Drop((0, 1), "old"), Insert(0, "user", "first digest", covers=(0, 1))]
    second = [Drop((0, 1, 2), "old"), Insert(0, "user", "second digest", covers=(0, 2))]
    result = result_of(talk(6), ("digest", first), ("again", second))
    found = journeys(result)
    (inserted,) = (way for way in found if way.state == "inserted")
    assert inserted.covers == (0, 3)
    assert result.messages[inserted.after] == user("second digest")
    assert [way.before for way in found if way.state == "dropped"] == [0, 1, 2, 3]


def test_messages_inserted_at_one_place_keep_the_order_of_their_edits_and_may_stand_at_the_end():
    edits = [
        Insert(1, "assistant", "one"),
        Insert(1, "user", "two"),
        Insert(3, "assistant", "last"),
    ]
    result = result_of([user("a"), assistant("b"), user("c")], ("mend", edits), form="plain")
    found = journeys(result)
    assert [way.before for way in found] == [0, None, None, 1, 2, None]
    contents = [result.messages[way.after]["content"] for way in found]
    assert contents == ["a", "one", "two", "b", "c", "last"]


def test_a_request_body_and_a_tuple_are_followed_as_a_list_is():
    bare = result_of(talk(4), ("trim", [Drop((0, 1), "old")]))
    body = CompressionResult(
        messages={"model": "m", "messages": bare.messages},
        metrics=bare.metrics,
        spent=bare.spent,
        strategy_name="by_hand",
        format="openai_chat",
        steps=bare.steps,
        key="messages",
    )
    assert [way.state for way in journeys(body)] == [way.state for way in journeys(bare)]


def test_the_way_is_the_same_after_the_result_went_through_json():
    steps = [
        ("shrink", [Replace(1, 0, "…", "long")]),
        ("digest", [Drop((2, 3), "old"), Insert(2, "user", "d", covers=(2, 3))]),
    ]
    result = result_of(talk(6), *steps)
    assert journeys(CompressionResult.from_json(result.to_json())) == journeys(result)


@given(st.data())
def test_every_original_is_met_once_in_order_and_what_is_left_is_the_result(data):
    messages = talk(data.draw(st.integers(1, 12)))
    steps: list[tuple[str, list[Edit]]] = []
    length = len(messages)
    for n in range(data.draw(st.integers(0, 3))):
        going = data.draw(st.sets(st.integers(0, length - 1), max_size=length - 1))
        places = data.draw(st.lists(st.integers(0, length), max_size=2))
        changed = data.draw(
            st.sets(st.sampled_from(sorted(set(range(length)) - going)), max_size=3)
        )
        edits: list[Edit] = [Drop((i,), "r") for i in sorted(going - {length - 1})]
        edits += [Replace(i, 0, f"changed {n}", "r", asked=True) for i in sorted(changed)]
        edits += [Insert(at, "user", f"inserted {n}") for at in places]
        steps.append((f"step {n}", edits))
        length += len(places) - len(going - {length - 1})
    result = result_of(messages, *steps, form="plain")
    found = journeys(result)
    assert restore(result) == messages
    assert [way.before for way in found if way.before is not None] == list(range(len(messages)))
    assert [way.after for way in found if way.after is not None] == list(
        range(len(result.messages))
    )
    for way in found:
        if way.before is not None and way.after is not None:
            stays = messages[way.before] == result.messages[way.after]
            assert stays == (way.state == "kept")
    assert [way.before for way in found if way.after is not None] == sources(result)
