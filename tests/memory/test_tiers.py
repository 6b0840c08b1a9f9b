import pytest

from holdfast.kernel.errors import ConfigError
from holdfast.memory.relevance import Candidate, Choice
from holdfast.memory.tiers import TIERS, Maintenance, Segment, Tiers, TierSizes, original_of


def count(text):
    return len(text.split())


def text_of(number, words=50):
    return " ".join(
        f"Word{number}x{place}." if place % 9 == 0 else f"w{number}x{place}"
        for place in range(words)
    )


class House:
    """Tiers that are maintained after each segment, with their archive of originals."""

    def __init__(self, sizes, importance=lambda held: [0.5] * len(held)):
        self.archive, self.moves, self.tiers, self.importance = {}, [], Tiers(), importance
        self.keeper = Maintenance(sizes, count, self.archive.__getitem__)

    def add(self, segment):
        self.archive[segment.id] = segment.content
        done = self.keeper.run(self.tiers.adding(segment), self.importance, segment.created)
        self.tiers = done.tiers
        self.moves += done.moves

    def promote(self, segment_id, **how):
        done = self.keeper.promote(self.tiers, segment_id, 1_000.0, **how)
        self.tiers = done.tiers
        return done.moves


def filled(segments=30, sizes=None, **how):
    house = House(sizes or TierSizes(100, 60, 30, protect_last=2), **how)
    for number in range(segments):
        house.add(Segment(f"s{number}", text_of(number), float(number), 50))
    return house


@pytest.mark.parametrize("protect_last", [0, 2, 10, 50])
def test_no_tier_is_ever_above_its_size(protect_last):
    house = filled(30, TierSizes(100, 60, 30, protect_last=protect_last))
    for tier in TIERS:
        assert house.tiers.tokens(tier) <= house.keeper.sizes.of(tier)
    assert house.tiers.hot


def test_what_matters_least_leaves_first():
    def by_name(held):
        return [0.1 if each.id == "s2" else 0.9 for each in held]

    house = House(TierSizes(220, 1_000, 1_000, protect_last=1), by_name)
    for number in range(5):
        house.add(Segment(f"s{number}", text_of(number), float(number), 50))
    assert house.moves[0].before.id == "s2"


def test_of_equals_the_oldest_leaves_first():
    assert filled(5).moves[0].before.id == "s0"


def test_a_tier_is_emptied_to_its_target_once_it_is_over_its_trigger():
    house = House(TierSizes(100, 1_000, 1_000, protect_last=0))
    for number in range(9):
        house.add(Segment(f"s{number}", text_of(number, 10), float(number), 10))
    assert house.tiers.tokens("hot") == 90
    house.add(Segment("s9", text_of(9, 10), 9.0, 10))
    assert house.tiers.tokens("hot") == 70


def test_force_empties_to_the_target_whatever_the_trigger_says():
    house = filled(1, TierSizes(60, 1_000, 1_000, protect_last=0))
    house.tiers = house.tiers.adding(Segment("s1", "one word", 1.0, 2))
    done = house.keeper.run(house.tiers, house.importance, 1.0, force=True)
    assert [move.before.id for move in done.moves] == ["s0"]


def test_pinned_segments_leave_last():
    house = House(TierSizes(100, 1_000, 1_000, protect_last=0))
    house.add(Segment("pinned", text_of(0, 30), 0.0, 30, pinned=True))
    for number in range(1, 8):
        house.add(Segment(f"s{number}", text_of(number, 30), float(number), 30))
    assert house.tiers.find("pinned")[0] == "hot"


def test_a_demoted_segment_keeps_who_it_is_and_tells_what_was_lost():
    before, after = next((move.before, move.after) for move in filled(3).moves)
    assert (after.id, after.created, after.accessed, after.access_count, after.importance) == (
        before.id,
        before.created,
        before.accessed,
        before.access_count,
        before.importance,
    )
    assert after.level == 1
    assert after.metadata["original_length"] == 50
    assert after.metadata["compressed_length"] == after.tokens
    assert after.metadata["compression_ratio"] == pytest.approx(50 / after.tokens)
    assert set(after.metadata["retained_entities"]) <= set(after.metadata["original_entities"])


def test_eviction_is_told_and_changes_nothing_in_the_archive():
    house = filled(60)
    evicted = [move for move in house.moves if move.to is None]
    assert evicted
    assert all(move.source == "cold" and move.after is None for move in evicted)
    assert all(house.tiers.find(move.before.id) is None for move in evicted)


def test_a_segment_longer_than_hot_is_split_and_its_pieces_are_its_text():
    text = " ".join(f"Sentence number {number} is here." for number in range(100))
    house = House(TierSizes(100, 10_000, 10_000, protect_last=10))
    house.add(Segment("long", text, 0.0, count(text)))
    pieces = [segment for tier in TIERS for segment in house.tiers.of(tier)]
    assert {piece.origin for piece in pieces} == {"long"}
    assert (
        "".join(original_of(piece, text) for piece in sorted(pieces, key=lambda each: each.span))
        == text
    )
    assert house.tiers.tokens("hot") <= 90


def test_a_form_is_made_only_for_the_tier_where_a_segment_stays():
    made = []

    class Halves:
        def condense(self, text, level, count):
            made.append((text, level))
            return " ".join(text.split()[: count(text) // (4 * level)])

    text = "".join(f"Sentence number {number} is here. " for number in range(400))
    keeper = Maintenance(TierSizes(100, 60, 400), count, {"long": text}.__getitem__, Halves())
    tiers = Tiers().adding(Segment("long", text, 0.0, count(text)))
    done = keeper.run(tiers, lambda held: [0.5] * len(held), 1.0)
    assert len(done.tiers.cold) > len(done.tiers.warm) > 0
    assert len({text for text, _ in made}) == len(made)
    assert all(done.tiers.tokens(tier) <= keeper.sizes.of(tier) for tier in TIERS)


def test_what_is_found_again_goes_one_tier_up_and_critical_things_straight_to_hot():
    house = filled(30, TierSizes(100, 60, 400, protect_last=1))
    warm, cold, other = house.tiers.warm[0], house.tiers.cold[0], house.tiers.cold[1]
    assert house.promote(warm.id)[0].to == "hot"
    assert house.tiers.find(warm.id)[1].content == house.archive[warm.id]
    assert house.tiers.find(warm.id)[1].metadata["original_compression_level"] == 1
    assert house.promote(cold.id)[0].to == "warm"
    assert house.tiers.find(cold.id)[1].access_count == 1
    assert house.promote(other.id, critical=True)[0].to == "hot"
    assert house.promote("unknown") == ()


def test_statistics_tell_how_full_each_tier_is():
    house = filled(2)
    hot = house.tiers.statistics(house.keeper.sizes)["hot"]
    assert (hot.size, hot.capacity, hot.segment_count, hot.utilization) == (50, 100, 1, 50.0)


@pytest.mark.parametrize("wrong", [{"hot": 0}, {"target": 0.95}, {"trigger": 1.5}, {"target": 0.0}])
def test_sizes_that_cannot_be_kept_are_refused(wrong):
    with pytest.raises(ConfigError):
        TierSizes(**wrong)


def test_a_tier_that_there_is_not_is_told_in_one_line():
    with pytest.raises(
        ConfigError, match="tier: 'lukewarm' does not belong here; give 'hot' or 'warm' or 'cold'"
    ):
        Tiers().of("lukewarm")


def test_candidates_above_the_threshold_of_their_tier_are_chosen_best_first():
    given = [
        Candidate("w1", "warm", 0.65, 10),
        Candidate("w2", "warm", 0.6, 10),
        Candidate("c1", "cold", 0.9, 10),
        Candidate("c2", "cold", 0.69, 10),
        Candidate("h1", "hot", 1.0, 10),
    ]
    assert [each.id for each in Choice().of(given)] == ["c1", "w1"]
    assert [each.id for each in Choice(max_segments=1).of(given)] == ["c1"]
    assert [each.id for each in Choice(max_tokens=15).of(given)] == ["c1"]


@pytest.mark.parametrize("of", [Tiers().of, TierSizes().of])
def test_a_tier_is_one_of_the_three(of):
    with pytest.raises(
        ConfigError, match="tier: 'trigger' does not belong here; give 'hot' or 'warm'"
    ):
        of("trigger")
