"""The strategy through the public door, with embedders that see what the test says."""

import math

import pytest

import holdfast
from holdfast.compressors.dedupe import Semantic
from holdfast.compressors.summaries import mark
from holdfast.kernel.compressor import described
from tests.embedders import ScriptedEmbedder
from tests.formats.rules.messages import assistant, calling, tool, user
from tests.talks import same, system, words

RECENT = [
    user("What now?"),
    assistant("Let us see."),
    user("And then?"),
    assistant("We wait."),
    user("Fine."),
]


def alike(text):
    """To this embedder all texts are the same."""
    return [1.0, 0.0]


def deduped(messages, budget=10, vector=alike, embedder=None, **knobs):
    return holdfast.compress(
        messages,
        budget,
        strategy=Semantic(**knobs),
        embedder=embedder or ScriptedEmbedder(vector),
        counter="words",
    )


def contents(result):
    return [message["content"] for message in result.messages]


def test_of_messages_that_say_the_same_the_longest_stays_where_it_stands():
    older = [
        user("Please reset it."),
        assistant("Sure, I do."),
        user("Reset it, please, once more, if you can."),
    ]
    result = deduped([*older, *RECENT])
    assert same(result.messages, [*older[1:], *RECENT])
    assert holdfast.restore(result) == [*older, *RECENT]


def test_of_equal_messages_the_first_stays():
    older = [
        user("Please reset it."),
        assistant("Sure."),
        user("Please reset it."),
        assistant("Done now."),
    ]
    result = deduped(
        [*older, *RECENT], vector=lambda text: [1.0, 0.0] if text.startswith("P") else [0.0, 1.0]
    )
    assert result.messages[0] is older[0]
    assert older[2] not in result.messages[2:]


def test_roles_are_never_mixed_and_the_system_is_never_compared():
    older = [system("Reset it."), user("Reset it."), assistant("Reset it."), system("Reset it.")]
    assert same(deduped([*older, *RECENT]).messages, [*older, *RECENT])


def test_the_newest_messages_are_left_alone():
    older = [assistant("Just as it was."), assistant("Just as it was.")]
    assert len(deduped([*older, *RECENT[1:]]).messages) == 6
    assert same(deduped([*older, *RECENT[2:]]).messages, [*older, *RECENT[2:]])
    assert len(deduped([*older, *RECENT[2:]], keep_recent=3).messages) == 4


def test_a_users_message_stays_if_something_in_it_would_be_lost():
    older = [user("Port 8080, please."), user("Please, the usual port and nothing more than that.")]
    assert same(deduped([*older, *RECENT]).messages, [*older, *RECENT])


LONG = assistant(
    "It is to be found behind the gateway, as all of them are in this part of the "
    "house, and nowhere else."
)


def test_an_answer_stays_if_something_in_it_would_be_lost():
    messages = [
        user("Which?"),
        assistant("The one on port 8080 behind the gateway. Fine."),
        LONG,
        *RECENT,
    ]
    assert same(deduped(messages).messages, messages)


def test_opposites_are_not_merged_however_near_their_vectors_are():
    older = [
        user("Go."),
        assistant("Deploy it to staging now."),
        assistant("Deploy it to production now."),
        assistant("Do not deploy it to staging now."),
    ]
    assert same(deduped([*older, *RECENT]).messages, [*older, *RECENT])


def exchange(number, output, path="a.py"):
    call = calling(f"call_{number}")
    call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{path}"}}'
    return [call, tool(f"call_{number}", output)]


def test_an_exchange_leaves_whole_for_a_newer_one_that_shows_the_same():
    older = [user("Look."), *exchange(1, "x = 1"), *exchange(2, "x = 1 and then some more")]
    result = deduped([*older, *RECENT])
    assert same(result.messages, [older[0], *older[3:], *RECENT])


@pytest.mark.parametrize(
    "older",
    [
        [*exchange(1, "x = 1"), *exchange(2, "x = 2")],
        [*exchange(1, "x = 1"), *exchange(2, "x = 1", path="b.py")],
        [
            *exchange(1, "one of the files changed and more"),
            *exchange(2, "one of the files changed"),
        ],
        [*exchange(1, "3 passed, 2 failed"), *exchange(2, "2 passed, 3 failed")],
    ],
    ids=["other output", "other argument", "the newer one shows less", "another order"],
)
def test_an_exchange_that_shows_something_of_its_own_stays(older):
    messages = [user("Look."), *older, *RECENT]
    assert same(deduped(messages).messages, messages)


@pytest.mark.parametrize("answer", ["No.", "It is 20.", "Approved, go ahead with that one."])
def test_equal_answers_to_different_questions_stay(answer):
    asked = "Is the limit of srv-1 as it should be?", "Shall I write to every customer now？"
    messages = [each for question in asked for each in (assistant(question), user(answer))]

    def by_length(text):
        return [float(len(text) == size) for size in (len(answer), *map(len, asked))]

    result = deduped([*messages, *RECENT], vector=by_length)
    assert same(result.messages, [*messages, *RECENT])


def test_equal_answers_to_the_same_question_are_merged():
    messages = [user("Where is the parser?"), assistant("It is in a.py.")]
    assert len(deduped([*messages, *messages, *RECENT]).messages) == 2 + len(RECENT)


@pytest.mark.parametrize("answer", ["No.", "Yes, do that.", "👍"])
def test_what_says_nothing_without_the_message_before_stays(answer):
    messages = [
        assistant("I shall delete the backups of 2019."),
        user(answer),
        assistant("I shall write to Acme and all other customers."),
        user(answer),
    ]
    assert same(deduped([*messages, *RECENT]).messages, [*messages, *RECENT])


def test_messages_with_images_and_summaries_are_left_alone():
    image = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}],
    }
    summary = user(mark("What was said before."))
    messages = [image, image, summary, summary, *RECENT]
    assert same(deduped(messages).messages, messages)


def test_the_texts_are_embedded_in_one_request_and_each_once():
    embedder = ScriptedEmbedder(lambda text: [1.0, float(len(text))])
    deduped(
        [user("Hi."), assistant("Hello."), assistant("Ho."), user("Hi."), *RECENT],
        embedder=embedder,
    )
    assert embedder.calls[0] == ("Hi.", "Hello.", "Ho.")


@pytest.mark.parametrize(
    "vector",
    [
        lambda text: [0.0, 0.0],
        lambda text: [math.nan, 1.0],
        lambda text: [1.0] * len(text),
        lambda text: [],
        lambda text: "no vector",
        lambda text: 1 / 0,
    ],
    ids=["zero", "nan", "lengths", "empty", "text", "raises"],
)
def test_bad_vectors_never_break_anything(vector):
    messages = [user("Please reset it."), user("Reset it, please."), *RECENT]
    assert same(deduped(messages, vector=vector).messages, messages)


def test_too_few_vectors_are_a_failure_that_says_so():
    class Short:
        name = "short"

        def embed(self, texts):
            return [[1.0, 0.0]]

    messages = [user("Please reset it."), user("Reset it now, please."), *RECENT]
    result = deduped(messages, embedder=Short())
    assert result.steps[0].status == "failed"
    assert same(result.messages, messages)


def test_doing_it_again_changes_nothing():
    older = [
        assistant(f"The server is up and runs on port {port} as it did.") for port in (80, 81, 82)
    ]
    older += [assistant("The server is up and running as it always did before.")] * 2
    once = deduped([user("Go."), *older, *RECENT]).messages
    assert same(deduped(once).messages, once)


def test_without_an_embedder_words_and_letters_do():
    text = "The build failed because the disk of the worker was full. " + words(20)
    result = holdfast.compress(
        [user("Go."), assistant(text), assistant(f"{text} "), *RECENT],
        10,
        strategy=Semantic(),
        counter="words",
    )
    assert len(result.messages) == 7


def test_the_threshold_is_brought_into_its_bounds():
    assert Semantic(similarity_threshold=1.7).similarity_threshold == 1.0
    assert Semantic(similarity_threshold=-0.2).similarity_threshold == 0.0
    with pytest.raises(holdfast.ConfigError):
        Semantic(similarity_threshold=math.nan)
    with pytest.raises(holdfast.ConfigError):
        Semantic(similarity_threshold="high")


def test_it_describes_itself():
    assert described(Semantic()) == {
        "strategy": "semantic",
        "similarity_threshold": 0.85,
        "keep_recent": 5,
    }
