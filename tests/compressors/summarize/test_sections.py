from holdfast.compressors.summary_memory import joined, shortened

OLD = "## Goal\nShip the order.\n## Done\n- Asked for the address.\n- Checked the stock."
NEW = "## Done\n- Checked the stock.\n- Packed it.\n## Next\n- Call the carrier."


def words(text):
    return len(text.split())


def test_what_stands_under_one_heading_in_two_notes_stands_together_and_once():
    assert joined([OLD, NEW]) == (
        "## Goal\nShip the order.\n## Done\n- Asked for the address.\n"
        "- Checked the stock.\n- Packed it."
        "\n## Next\n- Call the carrier."
    )


def test_notes_without_headings_stand_behind_each_other():
    assert joined(["First this.", "Then that."]) == "First this.\nThen that."


def test_a_comment_in_code_is_no_heading():
    code = "## Done\n```\n# a comment\nx = 1\n```"
    assert "# a comment\nx = 1" in joined([code, "## Next\n- Run it."])


def test_notes_that_are_too_long_lose_sentences_of_the_older_ones_first_and_say_so():
    old = "## Done\n" + "\n".join(
        f"- Looked at thing number {n} of the old list." for n in range(30)
    )
    new = "## Done\n- Moved the whole list to the archive in Rotterdam."
    text = shortened([old, new], 60, words)
    assert words(text) <= 60
    assert "Rotterdam" in text
    assert "sentences of these notes left out" in text
    assert shortened([text, "- And more."], 200, words).count("left out") == 0


def test_what_fits_stays_as_it_is():
    assert shortened([OLD], 100, words) == OLD
    assert shortened([], 10, words) == ""


def test_one_endless_sentence_is_cut():
    assert words(shortened(["word " * 500], 20, words)) <= 20


def test_notes_that_fit_together_become_one_text():
    texts = [f"- Step {n} was done." for n in range(12)]
    assert shortened(texts, 100, words).split("\n") == texts
