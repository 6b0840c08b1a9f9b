"""A user pastes a long text and asks about it: what answers stays, with the ends of the text."""

from random import Random

import pytest

import holdfast
from holdfast.compressors.tool_outputs import cut_around_answers, cut_words
from holdfast.tokens import meter_for

COUNT = meter_for(counter="o200k_base").text
WHO = ("The tenant", "The landlord", "The agent", "Either party", "The guarantor")
DOES = ("shall notify", "may inspect", "shall repair", "must insure", "may terminate")
WHAT = ("the boiler", "the roof", "the garden wall", "the lift", "the stairs", "the deposit")
WHEN = ("within fourteen days", "not later than 1 March", "if it exceeds 500 euros", "at any time")
ANSWER = (
    "67. Dogs of more than twelve kilograms are not allowed; a fine of 340 euros is due a month."
)
QUESTION = "May I bring a dog that weighs fifteen kilograms, and what is the fine?"
BEFORE = "Here is my lease. I have some questions on it."


def lease():
    random = Random(3)

    def said():
        return " ".join(map(random.choice, (WHO, DOES, WHAT, WHEN)))

    clauses = [f"{n}. {said()}. This applies in particular where {said()}." for n in range(1, 121)]
    clauses[66] = ANSWER
    return "\n\n".join(clauses)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("budget", [600, 1_500, 3_000])
def test_a_later_question_keeps_what_answers_it(budget):
    messages = [
        user(f"{BEFORE}\n\n{lease()}"),
        assistant("I have read it. What would you like to know?"),
        user("Who repairs the roof?"),
        assistant("Several clauses speak of the roof; mostly the landlord repairs it."),
        user(QUESTION),
    ]
    result = holdfast.compress(messages, budget)
    assert result.budget_met
    assert ANSWER in result.messages[0]["content"]
    assert result.messages[0]["content"].startswith(BEFORE)
    assert "mostly the landlord repairs it" in str(result.messages)


@pytest.mark.parametrize("profile", ["balanced", "fast"])
@pytest.mark.parametrize("budget", [300, 600, 1_500, 3_000])
@pytest.mark.parametrize(
    "frame",
    ["{lease}\n\n{question}", "{question}\n\n{lease}", "<lease>{lease}</lease>\n{question}"],
)
def test_a_question_in_the_same_message_keeps_what_answers_it(frame, budget, profile):
    message = user(frame.format(lease=lease(), question=QUESTION))
    result = holdfast.compress([message], budget, profile=profile)
    assert result.budget_met
    assert "340 euros" in result.messages[0]["content"]
    assert QUESTION in result.messages[0]["content"]


def test_short_lines_of_a_script_without_spaces_are_found_by_a_question():
    clauses = [f"{n}、承租人应当在十四天内检查锅炉。" for n in range(1, 121)]
    clauses[66] = "67、不允许饲养超过十二公斤的狗，罚款340欧元。"
    message = user("\n".join(clauses) + "\n\n我可以养一只十五公斤的狗吗？罚款是多少？")
    assert "340欧元" in holdfast.compress([message], 300).messages[0]["content"]


def test_a_text_that_does_not_answer_keeps_its_ends():
    text = lease()
    assert cut_around_answers(text, "Zebras?", 400, COUNT) == ""
    shown = cut_words(text, "Zebras?", 400, COUNT)
    assert text.startswith(shown[:200])
    assert text.endswith(shown[-200:])
    assert COUNT(shown) <= 400


@pytest.mark.parametrize("tokens", [1, 2, 8, 16])
def test_a_text_cut_to_a_few_tokens_says_more_than_that_it_was_cut(tokens):
    shown = cut_words(lease(), QUESTION, tokens, COUNT)
    assert COUNT(shown) <= tokens
    assert any(map(str.isalnum, shown))


@pytest.mark.parametrize("tokens", [8, 40, 200, 1_000])
@pytest.mark.parametrize("question", [QUESTION, "Who repairs the roof?", "lift stairs 500 euros"])
def test_a_cut_text_fits_and_marks_what_is_left_out(tokens, question):
    shown = cut_around_answers(lease(), question, tokens, COUNT)
    assert COUNT(shown) <= tokens
    assert "…" in shown or not shown
