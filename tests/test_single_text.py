"""One text on its own."""

import json

import pytest

import holdfast
from holdfast.compressors.references import key_in
from holdfast.stores.in_process import InProcessStore
from tests.compressors.shrink.exchanges import log, records
from tests.stores.doubles import TextStore


def tokens(text: str) -> int:
    return holdfast.shrink(text, 10**9).tokens_before


def test_what_fits_comes_back_as_it_is():
    text = log()
    shrunk = holdfast.shrink(text, tokens(text))
    assert shrunk.text is text
    assert (shrunk.kind, shrunk.lossless, shrunk.omitted, shrunk.key) == ("log", True, "", "")


def test_a_lossless_form_comes_before_any_loss():
    shrunk = holdfast.shrink(records(), tokens(records()) * 2 // 3)
    assert shrunk.lossless
    assert all(f"order {i}" in shrunk.text for i in range(40))


@pytest.mark.parametrize("room", [1, 2, 5, 17, 40, 90, 300])
@pytest.mark.parametrize(
    "text", [log(400), records(200), "Words of a text. " * 400, "x" * 20_000, "\x00\x01" * 4_000]
)
@pytest.mark.parametrize("stored", [False, True])
def test_any_room_is_kept(text, room, stored):
    shrunk = holdfast.shrink(text, room, "worker 7", store=InProcessStore() if stored else None)
    assert shrunk.tokens_after <= room
    assert tokens(shrunk.text) == shrunk.tokens_after


def test_the_query_decides_what_stays():
    assert "worker 321 finished" in holdfast.shrink(log(900), 400, "What did worker 321 do?").text
    assert (
        "worker 321 finished" not in holdfast.shrink(log(900), 400, "What did worker 123 do?").text
    )


def test_with_a_store_the_text_names_its_original():
    store = InProcessStore()
    shrunk = holdfast.shrink(log(900), 400, store=store)
    assert shrunk.key == key_in(shrunk.text)
    assert holdfast.recall(shrunk.key, store=store) == log(900)


def test_nothing_is_saved_where_nothing_is_left_out():
    store = TextStore()
    assert holdfast.shrink(records(), tokens(records()) * 2 // 3, store=store).key == ""
    assert not store.entries


def test_a_room_too_small_for_the_reference_has_none():
    shrunk = holdfast.shrink(log(900), 10, store=InProcessStore())
    assert shrunk.key == ""
    assert "original" not in shrunk.text


def test_the_kind_can_be_named():
    assert holdfast.shrink("a: 1\n" * 400, 30, kind="prose").kind == "prose"
    with pytest.raises(holdfast.ConfigError, match="did you mean 'json'"):
        holdfast.shrink("a", 30, kind="jsn")


def test_secrets_are_masked_first():
    secret = "ghp_" + "a1B2c3D4e5" * 4
    store = TextStore()
    text = json.dumps([{"id": i, "note": f"{i * i} used {secret}"} for i in range(50)])
    shrunk = holdfast.shrink(text, 120, store=store, redact=True)
    assert secret not in shrunk.text
    assert secret not in holdfast.recall(shrunk.key, store=store)
    assert shrunk.redacted == (("github token", 50),)


def test_a_store_that_fails_is_an_error():
    class Failing(TextStore):
        def set(self, key, value):
            raise OSError("full")

    with pytest.raises(holdfast.StoreError, match="full"):
        holdfast.shrink(log(900), 400, store=Failing())


@pytest.mark.parametrize("room", [0, -3, 1.5, "many", True, None])
def test_a_room_that_is_none_is_refused(room):
    with pytest.raises(holdfast.ConfigError, match="give a positive number of tokens"):
        holdfast.shrink("text", room)


@pytest.mark.parametrize("query", [None, 5, b"x", ["x"]])
def test_a_question_that_is_no_text_is_refused_in_one_line(query):
    with pytest.raises(holdfast.ConfigError, match=r"^query: .* does not belong here; give text$"):
        holdfast.shrink("line\n" * 200, 50, query=query)
