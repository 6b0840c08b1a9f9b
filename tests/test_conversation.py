import pytest

from holdfast import InputError
from holdfast.result import Conversation, unwrap, wrap


def test_unwrapping_gives_the_very_messages_that_were_wrapped():
    messages = [{"role": "user", "content": "hi"}]
    conversation = wrap(messages, "t1", {"k": 1})
    assert unwrap(conversation) is messages
    assert (conversation.thread_id, conversation.metadata) == ("t1", {"k": 1})


def test_other_messages_keep_the_id_and_the_metadata():
    other = wrap([], "t1", {"k": 1}).holding([{"role": "user", "content": "hi"}])
    assert other == Conversation("t1", [{"role": "user", "content": "hi"}], {"k": 1})


@pytest.mark.parametrize("name", ["", None, 7])
def test_an_id_is_text(name):
    with pytest.raises(InputError, match="thread_id"):
        Conversation(name, [])
