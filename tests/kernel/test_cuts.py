from dataclasses import replace

import pytest

from holdfast.formats import named
from holdfast.kernel.integrity import Rule
from holdfast.kernel.transcript import legal, oldest_first, violations
from tests.formats.rules.messages import assistant, result, thought, use, user
from tests.properties.conversations import FORMS
from tests.talks import METER, chat, exchange, system


class Alternating(Rule):
    """Two of one role may not stand next to each other, and a user starts."""

    name = "alternating"

    def violations(self, messages):
        return iter(())

    def may_follow(self, before, message):
        return message.role == "user" if before is None else before.role != message.role


def talk(roles, pinned=()):
    """A transcript of one letter a message: s, u, a."""
    makers = {"s": system, "u": user, "a": assistant}
    transcript = named("plain").read([makers[role]("x") for role in roles])
    return replace(transcript, rules=(Alternating(),), pinned=frozenset(pinned))


def left(roles, gone, kept=(), pinned=()):
    """The roles that stay when these positions were to go."""
    now = legal(talk(roles, pinned), set(gone), set(kept))
    return "".join(role if i not in now else "." for i, role in enumerate(roles))


@pytest.mark.parametrize(
    ("roles", "gone", "stays"),
    [
        ("uauau", {}, "uauau"),
        ("uauau", {1, 2}, "u..au"),
        ("uauaua", {0}, "..uaua"),
        ("suauau", {1}, "s..uau"),
        ("uauaua", {1}, "u..aua"),
        ("uauauau", {2}, "ua..uau"),
        ("uauauau", {1, 3}, "u....au"),
    ],
)
def test_a_gap_grows_until_what_meets_may_meet(roles, gone, stays):
    assert left(roles, gone) == stays


@pytest.mark.parametrize(
    ("roles", "gone", "kept", "stays"),
    [
        ("uauauau", {3}, {4}, "ua..uau"),
        ("uauau", {1}, {2}, "..uau"),
        ("uauau", {3}, {0, 1, 2}, "uauau"),
    ],
)
def test_what_is_kept_stays_and_the_message_before_the_gap_goes_or_one_comes_back(
    roles, gone, kept, stays
):
    assert left(roles, gone, kept) == stays


def test_a_pinned_neighbour_counts_as_kept():
    assert left("uauau", {1}, pinned={0, 2}) == "uauau"


def test_the_newest_of_the_gap_that_mends_it_comes_back():
    assert left("uauauau", {1, 2, 3}, kept={0, 4}) == "u..auau"


def test_what_cannot_be_mended_is_left_and_the_rest_is_mended_all_the_same():
    assert left("auauau", {0}, kept={1, 2}) == ".uauau"
    assert left("uuauau", {1, 3}, kept={0}) == "u.a..u"


def test_system_messages_do_not_come_between():
    assert left("uasua", {0}) == "..sua"
    assert left("uausaua", {2}) == "ua.s.ua"


def test_neighbours_that_never_were_apart_are_not_looked_at():
    assert left("uuaau", {}) == "uuaau"
    assert left("uaaua", {0}) == "...ua"


def test_the_oldest_go_until_enough_is_free_and_units_go_whole():
    transcript = named("openai").read(
        [user("go"), *exchange(0, 10), *exchange(1, 10), user("x"), assistant("y")]
    )
    sizes = METER.sizes(transcript)
    assert oldest_first(transcript, sizes, 0, set()) == set()
    assert oldest_first(transcript, sizes, 1, set()) == {0}
    assert oldest_first(transcript, sizes, 2, set()) == {0, 1, 2}
    assert oldest_first(transcript, sizes, 10**9, set()) == set(range(6)) | {6}
    assert oldest_first(transcript, sizes, 10**9, transcript.protected | {1}) == {0, 3, 4, 5}


@pytest.mark.parametrize("form", ["bedrock", "anthropic", "openai_chat"])
def test_legal_drops_of_generated_conversations_break_no_rule_that_held(form):
    from random import Random

    wire, worse, changed = named(form), [], 0
    for number in range(300):
        rng = Random(f"cuts:{number}")
        payload = FORMS["anthropic" if form == "bedrock" else form](rng)
        transcript = wire.read(payload)
        old = {v.rule for v in violations(transcript.rules, transcript.messages)}
        free = [unit for unit in transcript.units if transcript.protected.isdisjoint(unit)]
        share = rng.random()
        pinned = {i for unit in free if rng.random() < 0.1 for i in unit}
        going = {i for unit in free[: int(share * len(free))] for i in unit} - pinned
        now = legal(transcript, going, pinned)
        changed += now != going
        after = [m for i, m in enumerate(transcript.messages) if i not in now]
        assert transcript.protected.union(pinned).isdisjoint(now)
        worse += [v for v in violations(transcript.rules, after) if v.rule not in old]
    assert worse == []
    assert changed or form != "bedrock"


def test_twenty_thousand_gaps_are_mended_in_one_pass():
    class Watched(Alternating):
        asked = 0

        def may_follow(self, before, message):
            Watched.asked += 1
            return super().may_follow(before, message)

    transcript = replace(named("plain").read(chat(10_000, 1)), rules=(Watched(),))
    now = legal(transcript, set(range(1, 20_000, 4)), set())
    assert len(now) == 10_000
    assert Watched.asked <= 3 * len(transcript)


def test_turns_that_the_newest_word_of_a_user_parts_do_not_become_one_that_is_refused():
    loop = [assistant(thought(), use("a")), user(result("a")), assistant("so")]
    transcript = named("anthropic").read([user("x"), assistant("kept"), user("y"), *loop])
    assert legal(transcript, {2}, {1}) == set()
    assert legal(transcript, {0, 1, 2}, set()) == {0, 1}
    assert legal(transcript, {1, 2}, {0}) == {1, 2}


def test_results_in_a_users_message_are_no_other_role():
    transcript = named("bedrock").read(
        [user("a"), assistant("b"), user("c"), assistant(use("x")), user(result("x"))]
    )
    assert legal(transcript, {0}, set()) == {0, 1}
