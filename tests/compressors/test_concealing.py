from holdfast.compressors.summaries import Marks, body_of, concealed, mark
from holdfast.formats import named
from tests.formats.rules.messages import assistant, user

KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"


def message(given):
    return named("openai_chat").read([given]).messages[0]


def test_secrets_are_masked_whoever_said_them_and_everything_else_is_the_same():
    for said in (user, assistant):
        assert concealed(message(said(f"Use {KEY} now."))).plain == "Use [redacted openai key] now."
    plain = message(user("Nothing secret."))
    assert concealed(plain) is plain


def test_a_summary_that_holds_a_secret_stays_a_summary():
    for role in ("user", "system"):
        transcript = named("openai_chat").read(
            [{"role": role, "content": mark(f"They used {KEY}.", role)}]
        )
        noted = Marks().admit(transcript).messages[0]
        assert body_of(concealed(noted)) == "They used [redacted openai key]."
