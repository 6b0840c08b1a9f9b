"""The newest statement wins over a contradicted one, and nothing else is taken back."""

import pytest

from holdfast.compressors.digest.notation import Older, Words, line_of
from holdfast.compressors.digest.superseding import current


def _current(*said):
    lines = current([line_of(Words(*words)) for words in said])
    return [" ".join(atom.text for atom in line.atoms) for line in lines]


def test_what_is_taken_back_is_left_out():
    assert _current(("user", "Hello there. The port is 8080."), ("user", "Use port 9090 instead.")) == [
        "Hello there.",
        "Use port 9090 instead.",
    ]


def test_a_sentence_that_says_more_stands_with_what_has_become_of_it():
    older, newer = _current(
        ("user", "The port is 8080 and the host is db-7."), ("user", "The port changed to 9090.")
    )
    assert older == "The port is 8080 and the host is db-7. [superseded: port 9090]"
    assert newer == "The port changed to 9090."


def test_only_the_last_of_several_changes_stands():
    said = ["The deadline is Friday.", "The deadline moved to Monday.", "Sorry, the deadline is Tuesday."]
    assert _current(*(("user", text) for text in said)) == ["", "", said[-1]]


def test_a_correction_without_a_subject_means_what_was_said_just_before():
    assert _current(("user", "My email is ana@example.org."), ("user", "Actually ana@example.com.")) == [
        "",
        "Actually ana@example.com.",
    ]


def test_a_correction_that_could_mean_two_things_takes_back_neither():
    said = ("user", "My work email is ana@example.org. My home email is ana@example.net.")
    assert _current(said, ("user", "Actually ana@example.com."))[0] == said[1]


def test_a_correction_does_not_reach_far_back():
    said = [("user", "My email is ana@example.org."), ("user", "Thanks."), ("user", "Actually ana@example.com.")]
    assert _current(*said)[0] == said[0][1]


def test_what_a_user_says_is_not_taken_back_by_the_assistant():
    said = [("user", "The port is 8080."), ("assistant", "The port is now 9090.")]
    assert _current(*said) == [text for _, text in said]


def test_a_user_corrects_the_assistant():
    assert _current(("assistant", "The port is 8080."), ("user", "No, the port is 9090."))[0] == ""


def test_my_email_is_not_yours():
    said = [("assistant", "My email is help@example.org."), ("user", "My email is now ana@example.org.")]
    assert _current(*said) == [text for _, text in said]


def test_lines_of_older_notes_are_spoken_for_as_well():
    lines = current([line_of(Older("user: The port is 8080.")), line_of(Words("user", "Use port 9090 instead."))])
    assert not lines[0].atoms


def test_a_statement_that_was_repeated_is_taken_back_wherever_it_stands():
    said = ["The port is 8080.", "Thanks.", "The port is 8080, as I said.", "The port is now 9090."]
    assert _current(*(("user", text) for text in said)) == ["", "Thanks.", "", said[-1]]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use tabs.", "Use spaces instead of tabs."),
        ("Please use tabs for indentation.", "Use spaces, not tabs."),
        ("I prefer window seats.", "I'd prefer aisle seats rather than window seats."),
        ("Let's use Redis.", "Let's use Memcached rather than Redis."),
        ("Use tabs.", "Actually, use spaces."),
        ("Use tabs.", "Use spaces instead."),
        ("Go with Postgres.", "No, go with MySQL."),
        ("Use npm.", "Switch to pnpm."),
        ("The port is 8080.", "Use 9090 instead of 8080."),
        ("server.port = 8080", "server.port = 9090"),
    ],
)
def test_a_choice_that_names_what_it_replaces_takes_that_back(older, newer):
    assert _current(("user", older), ("user", newer)) == ["", newer]


@pytest.mark.parametrize(
    "said",
    [
        ("Use tabs.", "Use pytest."),
        ("Use tabs.", "Use spaces."),
        ("Use tabs.", "Also use spaces."),
        ("Use tabs.", "Use spaces instead of tabs in YAML files."),
        ("Use tabs.", "I use spaces instead of tabs at home."),
        ("Use tabs.", "They use spaces instead of tabs."),
        ("Use tabs.", "Should I use spaces instead of tabs?"),
        ("Use tabs.", "If possible use spaces instead of tabs."),
        ("Use tabs.", "Thanks.", "Actually, use spaces."),
        ("Use tabs. Use pytest.", "Actually, use spaces."),
        ("Use tabs and four columns.", "Use spaces instead of tabs."),
        ("Use both tabs and spaces.", "Use spaces instead."),
        ("Use blue, red, green.", "Use yellow instead of blue."),
        ("Don't use tabs.", "Use spaces instead of tabs."),
        ("Use it.", "Use spaces instead of it."),
        ("Use tabs.", "Use no quotes."),
        ("Use the red cable.", "Use the blue cable for the router instead."),
        ("Use Postgres for orders.", "Use Redis for sessions."),
        ("Use python3.", "Use python3 instead of python2."),
        ("The port of the api is 8080.", "The port of the db is 8080.", "Use 9090 instead of 8080."),
        ("The limit is 8080.", "The port is 8080.", "Use 9090 instead of 8080."),
        ("The port of the api is 8080.", "The port of the db is 9090."),
        ("Name: Ana, age: 30", "Name: Eva, age: 25"),
        ("X = 5", "Y = 7"),
        ("Room is 12.", "Room is 14."),
        ("The limit is 1.", "Take 2 pills instead of 1."),
        ("Use tabs.", "Use the switch."),
    ],
)
def test_what_may_stand_beside_it_takes_nothing_back(said):
    assert _current(*(("user", text) for text in said)) == list(said)


def test_a_choice_can_be_taken_back_and_forth():
    said = ["Use tabs.", "Use spaces instead of tabs.", "Well.", "Use tabs instead of spaces."]
    assert _current(*(("user", text) for text in said)) == ["", "", "Well.", said[-1]]


def test_a_choice_that_names_nothing_may_correct_what_the_assistant_said_last():
    said = [("user", "Use tabs."), ("assistant", "Done. I run unittest."), ("user", "Actually, use pytest.")]
    assert _current(*said) == [text for _, text in said]


def test_the_assistant_chooses_nothing_for_the_user():
    said = [("user", "Use tabs."), ("assistant", "Use spaces instead of tabs.")]
    assert _current(*said) == [text for _, text in said]


@pytest.mark.parametrize("piece", ["use ", "no ", "a", "use a instead of ", "not, ", " ", "’"])
def test_any_text_is_read(piece):
    assert _current(("user", piece * 50))
