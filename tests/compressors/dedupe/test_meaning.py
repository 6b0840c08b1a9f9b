import pytest

from holdfast.compressors.dedupe import body, contrasts, lacking, with_sentences


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploy it to staging.", "Deploy it to production."),
        ("Use retries in the client.", "Do not use retries in the client."),
        ("You should use retries.", "You shouldn't use retries."),
        ("Alice likes tea.", "Bob likes tea."),
        ("Wait for 3 seconds.", "Wait for 5 seconds."),
        ("Start the old worker now.", "Stop the old worker now."),
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


def test_the_sentences_that_name_what_another_text_does_not():
    text = (
        "The server db-17 is up. It listens on port 8080\n"
        "since 2024-05-01. See /etc/app.conf, please."
    )
    more = ["It listens on port 8080 since 2024-05-01.", "See /etc/app.conf, please."]
    assert lacking(text, "The server db-17 is up.") == more
    assert lacking(text, text) == []
    assert lacking("All is well.", "") == []


def test_part_of_a_longer_number_is_not_that_number():
    assert lacking("It is 80.", "It is 8080.") == ["It is 80."]


def test_what_was_added_grows_and_is_read_again():
    once = with_sentences("All is well.\n", ["The port is 8080."])
    assert once == "All is well.\n[also said: The port is 8080.]"
    twice = with_sentences(once, ["It is db-17.", "The port is 8080."])
    assert twice == f"{once}\n[also said: It is db-17.]"
    assert body(twice) == ("All is well.", ("The port is 8080.", "It is db-17."))
    assert lacking(twice, "8080") == ["It is db-17."]


@pytest.mark.parametrize(
    "text", ["", "All is well.", "[also said: x]", "A\n[also said: x] and more", "A\n[also said:"]
)
def test_any_other_text_is_all_body(text):
    assert body(text) == (text, ())
