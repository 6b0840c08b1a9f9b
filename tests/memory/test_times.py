import pytest

from holdfast.memory.times import DAY, Period, day_name, direction, moment, period

NOW = moment("Wednesday, 12 June 2024 at 9:30 am")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1:56 pm on 8 May, 2023", "8 May 2023"),
        ("2023-05-08 13:56", "8 May 2023"),
        ("2023-05-08T13:56:00Z", "8 May 2023"),
        ("May 8th, 2023", "8 May 2023"),
        ("8th of May 2023", "8 May 2023"),
        ("Sept 3 2021", "3 September 2021"),
    ],
)
def test_dates_are_read_in_the_forms_that_people_write(text, day):
    assert day_name(moment(text)) == day


def test_the_time_of_day_counts():
    assert moment("8 May 2023, 1:56 pm") - moment("8 May 2023") == 13 * 3600 + 56 * 60
    assert moment("12:10 am on 8 May 2023") - moment("8 May 2023") == 600


@pytest.mark.parametrize("text", ["", "soon", "31 February 2023", "version 2.10.3", "8 May"])
def test_what_is_no_full_date_is_none(text):
    assert moment(text) is None


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("on 3 May 2024", "3 May 2024", "4 May 2024"),
        ("in May 2023", "1 May 2023", "1 June 2023"),
        ("in December 2023", "1 December 2023", "1 January 2024"),
        ("in 2022", "1 January 2022", "1 January 2023"),
        ("last May", "1 May 2024", "1 June 2024"),
        ("in August", "1 August 2023", "1 September 2023"),
        ("on May 3", "3 May 2024", "4 May 2024"),
        ("yesterday", "11 June 2024", "12 June 2024"),
        ("the day before yesterday", "10 June 2024", "11 June 2024"),
        ("on Monday", "10 June 2024", "11 June 2024"),
        ("last month", "1 May 2024", "1 June 2024"),
        ("last year", "1 January 2023", "1 January 2024"),
    ],
)
def test_a_question_means_a_period(question, first, last):
    found = period(f"What did she say {question}?", NOW)
    assert (day_name(found.first), day_name(found.last)) == (first, last)


def test_two_weeks_ago_lies_around_that_day():
    found = period("What did I say two weeks ago?", NOW)
    assert found.first < NOW - 14 * DAY < found.last


@pytest.mark.parametrize(
    "question", ["May I ask something?", "What may happen?", "Where is the cat?", ""]
)
def test_no_word_of_time_is_no_period(question):
    assert period(question, NOW) is None


def test_without_a_now_only_full_dates_count():
    assert period("yesterday", None) is None
    assert period("on 3 May 2024", None) is not None


def test_what_is_told_soon_after_counts_and_what_was_said_before_does_not():
    week = Period(NOW, NOW + DAY)
    assert week.nearness(NOW + DAY / 2) == 1.0
    assert 0 < week.nearness(NOW + 9 * DAY) < week.nearness(NOW + 3 * DAY) < 1
    assert week.nearness(NOW - 1) == 0.0


def test_first_and_latest_are_heard():
    assert direction("What was the first name of the cat?") == -1
    assert direction("What is she currently reading?") == 1
    assert direction("What is she reading?") == 0


def test_a_day_before_1970_is_told():
    assert day_name(moment("1950-03-04")) == "4 March 1950"


@pytest.mark.parametrize("said", [-1e18, 1e18, 0.0])
def test_a_broken_clock_still_has_a_day(said):
    assert day_name(said)
