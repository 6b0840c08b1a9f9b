import pytest

from holdfast.compressors.dedupe import contrasts, lacks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploy it to staging.", "Deploy it to production."),
        ("Use retries in the client.", "Do not use retries in the client."),
        ("You should use retries.", "You shouldn't use retries."),
        ("Alice likes tea.", "Bob likes tea."),
        ("Wait for 3 seconds.", "Wait for 5 seconds."),
        ("Start the old worker now.", "Stop the old worker now."),
        ("Raise the limit from 20 to 50.", "Raise the limit from 50 to 20."),
        ("From 20 to 50.", "From 50 to 20."),
        ("Alice reviewed Bob's patch.", "Bob reviewed Alice's patch."),
        ("Der Test ist grün, der Build ist rot.", "Der Build ist grün, der Test ist rot."),
    ],
)
def test_what_fills_one_frame_differently_is_not_the_same(one, other):
    assert contrasts(one, other)
    assert contrasts(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The disk was full, so it failed.", "The disk was full, so it failed."),
        ("The disk was full, so it failed.", "The disk was full, so it failed again at night."),
        ("It failed because the disk was full.", "The disk was full, and so it failed."),
        ("How do I reset my password?", "How do I reset the password?"),
        ("All tests pass.", "All the tests passed."),
        ("", "Hello"),
    ],
)
def test_other_words_for_the_same_do_not_contrast(one, other):
    assert not contrasts(one, other)


def test_a_text_lacks_what_another_one_names():
    text = "The server db-17 is up. It listens on port 8080."
    assert lacks("The server db-17 is up.", text)
    assert not lacks(text, "The server db-17 is up.")
    assert not lacks(text, text)
    assert not lacks("", "All is well.")


def test_part_of_a_longer_number_is_not_that_number():
    assert lacks("It is 8080.", "It is 80.")
