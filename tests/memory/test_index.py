import heapq
import random

import pytest

from benchmarks.message_index import Index
from holdfast.memory import remembered
from holdfast.memory.index import Answers, Asked
from holdfast.memory.times import DAY, moment
from tests.memory.talks import index_of, talk

TALK = talk()


def best(question, now="10 June 2024"):
    hits = index_of(TALK).search(question, 3, moment(now))
    return [TALK[hit.position].body for hit in hits]


def test_words_of_the_question_find_the_message():
    assert "INV-2041" in best("Which invoice was charged twice?")[0]


def test_an_answer_without_a_word_of_the_question_is_found_beside_it():
    assert any(
        "Pepper" in body for body in best("What is the name of the beagle that Ben adopted?")
    )


def test_the_speaker_whom_the_question_names_comes_first():
    mixed = [
        remembered(0, "user", "Ben: I paint on Sundays."),
        remembered(1, "assistant", "Nora: I paint on Mondays."),
    ]
    assert index_of(mixed).search("When does Nora paint?", 1)[0].position == 1
    assert index_of(mixed).search("When does Ben paint?", 1)[0].position == 0


def test_a_name_that_is_cut_short_is_still_the_speaker():
    mixed = [
        remembered(0, "user", "Melanie: I paint on Sundays."),
        remembered(1, "assistant", "Nora: I paint on Mondays."),
    ]
    assert index_of(mixed).search("When does Mel paint?", 1)[0].position == 0


def test_a_pronoun_names_the_role():
    mixed = [
        remembered(0, "assistant", "The port is 8080 by default."),
        remembered(1, "user", "The port is 9090 here."),
    ]
    assert index_of(mixed).search("Which port did I say?", 1)[0].position == 1


@pytest.mark.parametrize("asked", [False, True])
def test_the_times_of_an_old_talk_are_told_from_its_end(asked):
    """Also where somebody has said something since, such as the question itself."""
    question = "What did Ben do in June?"
    now = moment("20 November 2031")
    index = index_of([*TALK, remembered(len(TALK), "user", question, said=now)] if asked else TALK)
    found = [hit for hit in index.search(question, 4, now) if hit.position < len(TALK)]
    assert any("Lisbon" in TALK[hit.position].body for hit in found)
    assert all(hit.why["time"] > 0 for hit in found)


def test_a_question_that_was_just_asked_is_no_part_of_the_old_talk():
    towns = [
        remembered(at, "user", f"We stayed in town number {at}.", said=moment(f"10 {month} 2023"))
        for at, month in enumerate(("August", "September", "October", "November", "December"))
    ]
    question, now = "Where were we last month?", moment("22 November 2026")
    index = index_of([*towns, remembered(5, "user", question, said=now - 60)])
    best = [hit for hit in index.search(question, 3, now) if hit.position != 5]
    assert best[0].position == 3


def test_the_times_of_a_talk_that_goes_on_are_told_from_now():
    talk = [
        remembered(0, "user", "I planted roses.", said=moment("9 June 2030")),
        remembered(1, "user", "I planted tulips.", said=moment("9 June 2031")),
        remembered(2, "user", "I planted nothing.", said=moment("10 July 2031")),
    ]
    best = index_of(talk).search("What did I plant in June?", 3, moment("1 August 2031"))
    assert max(best, key=lambda hit: hit.why.get("time", 0.0)).position == 1


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What happened on 21 April 2024?", "marathon"),
        ("What did Ben do in June?", "Lisbon"),
        ("What did we talk about three months ago?", "beagle"),
    ],
)
def test_words_of_time_choose_the_day(question, wanted):
    assert any(wanted in body for body in best(question))


def test_the_first_and_the_latest_of_several_are_told_apart():
    cats = [
        remembered(at, "user", f"The cat is called {name}.")
        for at, name in enumerate(("Ada", "Bo", "Cy"))
    ]
    assert index_of(cats).search("What was the first cat called?", 1)[0].position == 0
    assert index_of(cats).search("What is the latest cat called?", 1)[0].position == 2


def test_a_possessive_names_no_role():
    mixed = [
        remembered(0, "assistant", "The failing test is test_login."),
        remembered(1, "user", "Thanks, I will look at the test."),
    ]
    assert "speaker" not in index_of(mixed).search("Which of my tests is failing?", 1)[0].why


def test_each_factor_says_what_it_gave():
    hit = index_of(TALK).search("What did Nora make at the pottery class in June 2024?", 1)[0]
    assert {"words", "speaker", "time"} <= hit.why.keys()
    assert sum(hit.why.values()) == pytest.approx(hit.score)
    assert 0 < hit.score <= 1


def test_the_score_tells_how_much_of_the_question_is_answered_at_all():
    known, unknown = (
        index_of(TALK).search(question, 3)
        for question in (
            "the beagle from the shelter",
            "a beagle, a zeppelin, shrubbery and quorums",
        )
    )
    assert known[0].position == unknown[0].position
    assert unknown[0].score < 0.3 < 0.6 < known[0].score


@pytest.mark.parametrize("question", ["", "???", "Wie heißt der Hund?", "了解"])
def test_a_question_that_nothing_answers_gives_the_newest_messages(question):
    hits = index_of(TALK).search(question, 2)
    assert [hit.position for hit in hits] == [len(TALK) - 1, len(TALK) - 2]
    assert {hit.score for hit in hits} == {0.0}


def test_a_question_of_many_thousand_words_is_read_in_part():
    words = [f"word{number}" for number in range(50_000)]
    hits = index_of(TALK).search(f"beagle shelter {' '.join(words)}", 1)
    assert "beagle" in TALK[hits[0].position].body


def test_an_empty_memory_finds_nothing():
    assert Index().search("What is the name of the dog?", 5) == []


def test_the_same_question_gives_the_same_hits():
    once = index_of(TALK).search("Which class did Nora start?", 10)
    again = index_of(TALK).search("Which class did Nora start?", 10)
    assert [(hit.position, hit.score) for hit in once] == [
        (hit.position, hit.score) for hit in again
    ]


def test_what_is_added_later_is_found_at_once():
    index = index_of(TALK)
    index.search("zebra", 1)
    index.add(remembered(len(TALK), "user", "I saw a zebra."))
    assert index.search("Who saw a zebra?", 1)[0].position == len(TALK)


def test_clocks_that_go_backwards_do_no_harm():
    generator = random.Random(4)
    jumping = [
        remembered(
            at, "user", f"note {at} about the harbour", said=generator.uniform(-(10**12), 10**12)
        )
        for at in range(60)
    ]
    assert len(index_of(jumping).search("What about the harbour last week?", 60, now=0.0)) == 60


def some_messages(chance, count=60):
    pause = [0.0, 60.0, 90_000.0]
    said, messages = 0.0, {}
    for place in sorted(chance.sample(range(200), count)):
        said += chance.choice(pause)
        messages[place] = remembered(
            place, "user", f"note {place}", said=chance.choice([said, None])
        )
    return messages


@pytest.mark.parametrize("seed", range(10))
def test_answers_are_ranked_by_the_sum_of_what_speaks_for_them(seed):
    chance = random.Random(seed)
    messages = some_messages(chance)
    factors = {
        name: {
            place: share * chance.choice([0.0, 0.25, 0.5, 1.0])
            for place in chance.sample(range(220), 80)
        }
        for name, share in (("words", 0.5), ("scene", 0.25), ("time", 0.25))
    }
    answers = Answers(messages, factors, (), 0.0, {})
    scores = {
        place: sum(factor.get(place, 0.0) for factor in factors.values()) for place in messages
    }
    best = heapq.nsmallest(len(scores), scores, key=lambda place: (-scores[place], place))
    assert list(answers.ranked().items()) == [(place, scores[place]) for place in best]
    assert all(sum(answers.why(place).values()) == scores[place] for place in messages)


def test_a_context_lends_its_words_and_asks_for_nothing():
    chat = [
        remembered(0, "user", "Ben: The valve leaks."),
        remembered(1, "assistant", "Nora: The pump hums."),
    ]
    retrieval = index_of(chat)._retrieval
    assert next(iter(retrieval.answers("What about it?", None, "the valve").ranked())) == 0
    named = retrieval.answers("What about the pump?", None, "Nora, you said so").factors
    assert "speaker" not in named


def test_a_long_context_leaves_every_word_of_the_question():
    question = " ".join(f"asked{number}" for number in range(40))
    context = " ".join(f"beside{number}" for number in range(1_000))
    assert Asked.of(question, (), None, context).terms == tuple(question.split())
    terms = Asked.of("valve", (), None, context).terms
    assert terms[0] == "valve"
    assert 16 <= len(terms) <= 64


NAMED = ["pool_size", "v2.4.1", "srv-31", "DBA-552", "src/pool/size.py", '"kept at twelve"']


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_exactly_comes_before_what_holds_its_pieces(name):
    plain = name.strip('"')
    pieces = " ".join(
        plain.replace("_", " ").replace("-", " ").replace("/", " ").replace(".", " ").split()[::-1]
    )
    talk = [
        remembered(
            0, "user", f"We agreed on {plain} for now, because of the load on the second node."
        )
    ]
    talk += [
        remembered(at, "assistant", f"{pieces}: {pieces}; {pieces}. Step {at}.")
        for at in range(1, 7)
    ]
    hits = index_of(talk).search(f"what about {name}?", 7)
    assert hits[0].position == 0
    assert hits[0].why["exact"] > 0
    assert all(hit.score < hits[0].score and "exact" not in hit.why for hit in hits[1:])


def test_a_name_within_a_longer_name_is_another_one():
    talk = [
        remembered(at, "user", f"{name} is 12.")
        for at, name in enumerate(("max_pool_size", "pool_size"))
    ]
    assert index_of(talk).search("pool_size", 1)[0].position == 1


@pytest.mark.parametrize(("asked", "wanted"), [("srv-31", {31}), ("srv-31 and srv-17", {17, 31})])
def test_of_many_things_alike_only_those_that_are_named_answer(asked, wanted):
    talk = [
        remembered(at, "user", f"Server srv-{at:02} has disk {at * 9} in rack {at % 7}.")
        for at in range(60)
    ]
    assert {hit.position for hit in index_of(talk).search(f"Which disk has {asked}?", 20)} == wanted


def test_another_thing_that_took_the_place_of_the_one_that_is_named_is_told():
    talk = [
        remembered(at, "user", f"Server srv-{at:02} has disk {at * 9} in rack {at % 7}.")
        for at in range(40)
    ]
    talk += [
        remembered(40, "user", "Yesterday srv-31 burnt down in the night."),
        remembered(41, "assistant", "Then srv-99 does its work from now on."),
    ]
    assert 41 in {hit.position for hit in index_of(talk).search("What became of srv-31?", 10)}


def test_neighbours_are_told_as_neighbours_and_stand_behind():
    talk = [
        remembered(0, "user", "Where is the anchor, the anchor of the boat?"),
        remembered(1, "assistant", "Behind the shed."),
        remembered(2, "user", "Good."),
        *(remembered(at, "user", f"Nothing happened on watch {at}.") for at in range(3, 30)),
        remembered(
            30,
            "user",
            "A long day: we rowed, we ate, we slept, and an anchor was painted green by Jo.",
        ),
    ]
    hits = index_of(talk).search("anchor boat", 10)
    by_words = [hit for hit in hits if "words" in hit.why]
    assert {hit.position for hit in by_words} == {0, 30}
    assert hits[:2] == by_words
    assert all(set(hit.why) <= {"neighbours", "scene"} for hit in hits[2:])
    assert 1 in {hit.position for hit in hits}


def test_how_many_are_asked_for_changes_no_score():
    index = index_of(TALK)
    whole = index.search("Who has a beagle and a marathon in the shelter?", 20)
    assert index.search("Who has a beagle and a marathon in the shelter?", 1) == whole[:1]
    assert [
        hit.score for hit in index.search("Who has a beagle and a marathon in the shelter?", 4)
    ] == [hit.score for hit in whole[:4]]


def reports():
    return [
        remembered(
            day,
            "user",
            f"Report {day}: I worked on part {day % 13}.",
            said=moment("1 March 2026") + day * DAY,
        )
        for day in range(0, 200, 2)
    ]


@pytest.mark.parametrize("day", ["28 July", "July 28", "2026-07-28"])
def test_the_day_of_a_date_is_no_number_by_itself(day):
    hits = index_of(reports()).search(f"What did I do on {day}?", 3, moment("20 September 2026"))
    assert hits[0].position == 150
    assert 28 not in {hit.position for hit in hits}


def test_a_date_that_is_spoken_of_is_found_as_it_is_written():
    talk = [
        *reports(),
        remembered(300, "user", "The fair opens on 28 July.", said=moment("2 March 2026")),
    ]
    assert (
        index_of(talk).search("What opens on 28 July?", 1, moment("20 September 2026"))[0].position
        == 300
    )


@pytest.mark.parametrize(
    ("question", "first"), [("what did I say first?", 0), ("What did I say most recently?", 198)]
)
def test_the_first_and_the_latest_of_all_are_found(question, first):
    assert index_of(reports()).search(question, 3)[0].position == first
