import pytest

import holdfast
from holdfast.recovery import delete_summaries
from holdfast.stores.in_process import InProcessStore
from tests.compressors.summarize.threads import fitted, grown, thread, writer


class Bare:
    """A store with the three methods and no more."""

    def __init__(self):
        self.kept = {}

    def get(self, key):
        return self.kept.get(key)

    def set(self, key, value):
        self.kept[key] = value

    def delete(self, key):
        self.kept.pop(key, None)


def test_a_thread_is_forgotten_whole_and_others_stay():
    store = Bare()
    for name in ("a", "a:b"):
        grown(writer(), 60, feeds_back=True, thread=name, store=store)
    kept = [key for key in store.kept if key.startswith("thread_a%3Ab:")]
    assert delete_summaries("a", store=store) == len(kept)
    assert sorted(store.kept) == sorted([*kept, "secret"])


def test_a_store_that_lists_its_keys_is_asked_for_them(tmp_path):
    for store in (InProcessStore(), f"sqlite:///{tmp_path}/kept.db"):
        fitted(thread(40), writer(), thread="a", store=store)
        assert delete_summaries("a", store=store) == 2
        fitted(thread(40), model := writer(), thread="a", store=store)
        assert len(model.calls) == 1


@pytest.mark.parametrize("name", ["", None])
def test_an_id_is_text(name):
    with pytest.raises(holdfast.ConfigError, match="thread"):
        delete_summaries(name, store=InProcessStore())
