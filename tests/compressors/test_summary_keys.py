import pytest

from holdfast.compressors.summaries import message_key, summary_key, thread_prefix


def test_plain_ids_stand_as_they_are():
    assert summary_key("123", 5, 15) == "thread_123:summary:5-15"
    assert message_key("user-7/mail@host", 3) == "thread_user-7/mail@host:message:3"


@pytest.mark.parametrize(
    ("one", "other"),
    [("a:summary:1-2", "a"), ("a%3A", "a:"), ("", ":"), ("1", "1:message"), ("a", "a\n")],
)
def test_no_two_threads_share_a_key(one, other):
    assert not summary_key(one, 1, 2).startswith(thread_prefix(other))
    assert not summary_key(other, 1, 2).startswith(thread_prefix(one))
