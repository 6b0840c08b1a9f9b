from __future__ import annotations

import base64
import hashlib
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.secrets import redact, redact_any
from tests.text.adversarial import LARGE
from tests.text.secret_forms import FORMS, HARMLESS, KEY

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
random_ = random.Random(7)


def drawn(length: int, alphabet: str = LETTERS) -> str:
    return "".join(random_.choice(alphabet) for _ in range(length))


SECRETS = {
    "anthropic key": "sk-ant-api03-" + drawn(40),
    "openai key": "sk-proj-" + drawn(48),
    "github token": "ghp_" + drawn(36),
    "gitlab token": "glpat-" + drawn(20),
    "new relic key": "NRAK-" + drawn(26, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") + "7",
    "sentry token": "sntrys_eyJ" + drawn(80) + "=_" + drawn(43),
    "postman key": "PMAK-" + drawn(24, "0123456789abcdef") + "-" + drawn(34, "0123456789abcdef"),
    "supabase token": "sbp_" + drawn(40, "0123456789abcdef"),
    "fly token": "fm2_" + drawn(120),
    "slack token": "xoxb-123456789012-" + drawn(24),
    "aws key id": "AKIA" + drawn(15, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") + "7",
    "google key": "AIza" + drawn(34) + "7",
    "stripe key": "sk_live_" + drawn(24),
    "hugging face token": "hf_" + drawn(34),
    "npm token": "npm_" + drawn(36),
    "sendgrid key": "SG." + drawn(22) + "." + drawn(43),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + drawn(43),
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    "frame", ["{}", "key: {}\n", '{{"k": "{}"}}', "export K={} # x", "curl -H 'k: {}' https://x"]
)
def test_tokens_of_vendors_are_masked_wherever_they_stand(kind, frame):
    text = frame.format(SECRETS[kind])
    masked, counts = redact(text)
    assert masked == frame.format(f"[redacted {kind}]")
    assert counts == {kind: 1}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://bob:s3cr3t!@db:5432/x", "s3cr3t!"),
        ('{"password": "hunter2!"}', "hunter2!"),
        ("DB_PASSWORD=pa55 next", "pa55"),
        ("password=hunter", "hunter"),
        ("aws_secret_access_key = abcdEFGH1234ijklMNOP5678", "abcdEFGH1234ijklMNOP5678"),
        ("client_secret: 'Zx81kQp0Lm47Tr29'", "Zx81kQp0Lm47Tr29"),
        ("Authorization: Bearer abcDEF123456ghiJKL789", "abcDEF123456ghiJKL789"),
        ("create user bob with password 'hunter2';", "hunter2"),
        ("CREATE USER 'b'@'%' IDENTIFIED BY 'hunter2';", "hunter2"),
        (
            'SECRET_KEY = "django-insecure-r!4e$3x@9q2#k7(1m8&p)z6+t0=u^y5*i"',
            "django-insecure-r!4e$3x@9q2#k7(1m8&p)z6+t0=u^y5*i",
        ),
        ("GET /x?sig=abcDEF123456ghiJKL789&a=b", "abcDEF123456ghiJKL789"),
        (
            "credentials:organization/client_secret=550e8400-e29b-41d4-a716-4466554400ab",
            "550e8400-e29b-41d4-a716-4466554400ab",
        ),
        (
            "token=1700000000000:secret=ab12cd34ef-gh12ij34kl-mn12op34qr-st78uv90",
            "ab12cd34ef-gh12ij34kl-mn12op34qr-st78uv90",
        ),
        ("token-for-the-service-value: aB3dE5gH7jK9mN1pQ3sT5vW7", "aB3dE5gH7jK9mN1pQ3sT5vW7"),
        ("value=aB3dE5gH7jK9mN1pQ3sT5&name=API_TOKEN", "aB3dE5gH7jK9mN1pQ3sT5"),
        ('{"value": "p&ss|w0rd", "name": "DB_PASSWORD"}', "p&ss|w0rd"),
    ],
)
def test_what_a_name_gives_away_is_masked_and_the_rest_stays(text, secret):
    masked, counts = redact(text)
    assert secret not in masked
    assert masked.split("[redacted")[0] == text.split(secret)[0]
    assert counts.total() == 1


def test_a_private_key_is_masked_as_a_whole_even_without_its_end():
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64)}\n{drawn(64)}\n"
    assert (
        redact(f"a\n{block}-----END RSA PRIVATE KEY-----\nb")[0] == "a\n[redacted private key]\nb"
    )
    assert redact(f"a\n{block}")[0].strip() == "a\n[redacted private key]"


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "page_token=550e8400-e29b-41d4-a716-446655440000",
        "data:image/png;base64," + base64.b64encode(bytes(range(200))).decode(),
        "sha256:" + hashlib.sha256(b"x").hexdigest(),
        "max_tokens=4096 and tokens: 123456789012",
        "password: required",
        "def f(password: str, token=None)",
        "password = input()",
        "if password == other:",
        "api_key=os.environ['X']",
        "api_key=${API_KEY}",
        "password=<your password>",
        "password = settings.DB_PASSWORD",
        "password: req.body.password,",
        "user.password = body.password1;",
        "connect(user, password=self.auth_token)",
        "password: !Ref DatabasePassword",
        "PWD=/home/me/project\nOLDPWD=/home/me",
        "secret_url_part: '?first=alpha9&second=beta8&third=gamma7'",
        "token = tokens[i+1]",
        "secret_name: my-app-secret-1234",
        "class='sk-estimator-doc-link-wrapper-fitted1'",
        "https://user@host/x",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == (text, {})


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*SECRETS.values(), "password=", "token: ", "://a:", "@b ", "\n", '"', "x1", " "]
        )
    )
)
def test_masking_twice_changes_nothing_more(pieces):
    masked, _ = redact("".join(pieces))
    assert redact(masked) == (masked, {})


@pytest.mark.parametrize("name", LARGE)
def test_it_ends_on_any_text(name):
    masked, counts = redact(LARGE[name])
    assert (masked == LARGE[name]) == (counts.total() == 0)


def test_secrets_are_masked_in_the_forms_in_which_people_and_programs_write_them():
    assert len(FORMS) == 169
    assert [t for _, t, parts in FORMS if any(part in redact_any(t)[0] for part in parts)] == []


@pytest.mark.parametrize("text", HARMLESS)
def test_what_looks_like_a_form_of_a_secret_stays(text):
    assert redact_any(text) == (text, {})


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_a_form_that_was_masked_has_nothing_left_to_mask(form):
    masked = redact_any(form[1])[0]
    assert redact_any(masked) == (masked, {})


def test_json_in_which_a_form_was_masked_is_json():
    for text in [
        text
        for kind, text, _ in FORMS
        if kind in ("nested", "manifest", "registry") and text[-1] in "}]"
    ]:
        if text[0] in "{[":
            assert json.loads(redact_any(text)[0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the token password=hunter", "the token password=[redacted password]"),
        ("login failed password incorrect", None),
        ("Value: 4500, Name: token count", None),
        ("id: 4539578763621486001", None),
        (f"setx API_KEY {KEY}", "setx API_KEY [redacted secret]"),
        # names in a row, and what may stand between a command or a value and what tells of it
        ("key=token=ab12cd34ef56", "key=token=[redacted secret]"),
        (f"token id=1 token={KEY}", "token id=1 token=[redacted secret]"),
        (f"token-value: {KEY}", "token-value: [redacted secret]"),
        (f"curl h/curl.sh -u me:{KEY}", "curl h/curl.sh -u me:[redacted password]"),
        (f"value: `{KEY}`, name: TOKEN", "value: `[redacted secret]`, name: TOKEN"),
        ("\x1b[32mok\x1b[0m", None),
        ("\x1b[32mpassword\x1b[0m=hunter", "password=[redacted password]"),
    ],
)
def test_what_stands_near_a_secret_stays(text, told):
    assert redact(text)[0] == (told or text)
