import pytest

from holdfast.memory.entities import Entity, entities, frequency, importance, relations

TEXT = (
    "Dana Reyes reported that invoice INV-2041 was charged twice on 3 May. "
    "Dana Reyes opened case C-778 at https://example.org/c/778 and lost 41.20 EUR. "
    "Announced changes stay in /etc/hosts."
)


def test_names_identifiers_amounts_paths_and_addresses_keep_their_spelling():
    found = [entity.text for entity in entities(TEXT)]
    assert found[0] == "Dana Reyes"
    assert {
        "INV-2041",
        "C-778",
        "https://example.org/c/778",
        "41.20",
        "/etc/hosts",
    } <= set(found)


def test_the_first_word_of_a_sentence_is_no_name_by_that():
    assert "Announced" not in {entity.text for entity in entities(TEXT)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Maria's friend called.", ["Maria"]),
        ("Hey Caroline! I'm fine.", ["Caroline"]),
        ("Nora: fine.", ["Nora"]),
        ("They met the Lord Mayor of London.", ["Lord Mayor", "London"]),
        ("Wow! Great! Thanks!", []),
        ("It needs Python 3.11 since August 31, 2020.", ["Python 3.11", "August 31, 2020"]),
    ],
)
def test_names_are_runs_of_capitalised_words(text, found):
    assert [entity.text for entity in entities(text) if entity.kind == "name"] == found


def test_a_pair_of_words_is_an_entity_only_if_it_comes_back():
    assert entities("the support group met") == []
    assert Entity("support group", "phrase", 2) in entities(
        "the support group met; a support group left"
    )


def test_there_are_at_most_fifteen_entities_and_ten_relations():
    many = ". ".join(f"Then Xan{n} met Yor{n}" for n in range(40))
    assert len(entities(many)) == 15
    assert len(relations(many)) == 10


def test_nothing_is_in_an_empty_text():
    assert entities("") == []
    assert relations("") == []


def test_a_relation_has_the_verb_between_its_entities_or_says_that_they_are_related():
    found = [(each.subject, each.verb, each.object) for each in relations(TEXT)]
    assert ("Dana Reyes", "reported", "INV-2041") in found
    assert ("Paris", "related-to", "Rome") in [
        (each.subject, each.verb, each.object) for each in relations("From Paris to Rome.")
    ]


def test_who_speaks_without_a_name_is_no_entity_nor_is_the_word_that_follows():
    text = "User: Booking for Dana Reyes.\nAssistant: Booked.\nCall: book(who)\nResult: ok"
    assert [entity.text for entity in entities(text)] == ["Dana Reyes"]
    assert entities("Talia: Booking for Dana Reyes.")[0].text == "Talia"


def test_relations_join_what_stands_in_one_sentence_and_know_the_names_of_all():
    found = [
        (each.subject, each.verb, each.object)
        for each in relations("We saw Talia. Talia and Dana Reyes left.")
    ]
    assert found == [("Talia", "related-to", "Dana Reyes")]


def test_things_inside_a_name_are_not_related_to_it():
    assert relations("The flight Air-7 Oslo left.") == []


def test_shared_entities_count_by_their_share_and_by_how_often_all_texts_name_them():
    assert importance("abcd", "ab", {"a": 0.4, "b": 0.2}, 0.5) == pytest.approx(0.55)
    assert importance([], ["a"], {}, 0.5) == 0.0
    assert frequency([["a", "a"], ["a", "b"]]) == {"a": 1.0, "b": 0.5}
