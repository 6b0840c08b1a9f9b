"""The newest statement wins over a contradicted one, and nothing else is taken back."""

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
