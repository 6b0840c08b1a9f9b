"""Forms in which secrets stand in what people and programs write, and harmless texts that look
like them.

A form is a text and the parts of it that nobody may read; the secrets are drawn, and nobody's.
"""

from __future__ import annotations

import base64
import json
from random import Random

_random = Random(89)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def drawn(length: int, alphabet: str = _LETTERS) -> str:
    return "".join(_random.choice(alphabet) for _ in range(length - 1)) + "7"


HEX = "0123456789abcdef"
GITHUB, OPENAI, STRIPE = "ghp_" + drawn(36), "sk-proj-" + drawn(48), "sk_live_" + drawn(24)
PASSWORD, PLAIN, KEY = "Tr0ub4dor&3", "hunter2!", drawn(40)
RED, BOLD, OFF = "\x1b[31m", "\x1b[1;32m", "\x1b[0m"
BODY = [drawn(64) for _ in range(4)]
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
PGP, PGP_END = "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"
BASIC = base64.b64encode(b"deploy:Tr0ub4dor").decode()
LINES = [BEGIN, *BODY, END]
TELEGRAM = "710201" + drawn(4, "0123456789") + ":AAH" + drawn(32)
DISCORD = "MTA" + drawn(23) + "." + drawn(6) + "." + drawn(38)
SESSION = drawn(32)
HEXADECIMAL = drawn(32, HEX)
UUID = "5e88eb13-1242-4c89-aedc-8c08e026d8b2"


def _joined(lines: list[str], each: str) -> str:
    return "\n".join(each.format(line, n=n + 1) for n, line in enumerate(lines))


MIXED = "Kx9-vYq2_LmQz-7Wd"
"""Letters and digits in runs of a few."""
FORMS: list[tuple[str, str, tuple[str, ...]]] = [
    # behind terminal colours
    ("colours", f"token {RED}{GITHUB}{OFF}", (GITHUB,)),
    ("colours", f"export {BOLD}API_KEY{OFF}={RED}{KEY}{OFF}", (KEY,)),
    ("colours", f"{BOLD}password{OFF}: {RED}{PASSWORD}{OFF}", (PASSWORD,)),
    ("colours", f"{GITHUB[:9]}{RED}{GITHUB[9:20]}{OFF}{GITHUB[20:]}", (GITHUB[9:20], GITHUB[20:])),
    ("colours", f"\x1b[38;5;208mAWS_SECRET_ACCESS_KEY{OFF}\x1b[2m=\x1b[22m{KEY}", (KEY,)),
    ("colours", f"\\u001b[31mpassword\\u001b[0m=\\u001b[33m{PASSWORD}\\u001b[0m", (PASSWORD,)),
    ("colours", f"\x1b]8;;https://x\x07OPENAI_API_KEY\x1b]8;;\x07={RED}{OPENAI}{OFF}", (OPENAI,)),
    # blocks, tags and anchors of YAML
    ("yaml", f"password: >\n  {PASSWORD}\nuser: x", (PASSWORD,)),
    ("yaml", f"password: |+\n  {PASSWORD}\n", (PASSWORD,)),
    ("yaml", f"password: |2\n  {PASSWORD}\n", (PASSWORD,)),
    ("yaml", "password: !!str 84027316\n", ("84027316",)),
    ("yaml", f"password: &pw {PASSWORD}\n", (PASSWORD,)),
    # a row of a table in JSON without escapes
    ("table", f'{{"row": "| db | password | {MIXED.replace("-", "")} |"}}', ("vYq2",)),
    # in HTML, as Python escapes it
    ("html", f"password=&#x27;{PLAIN}&#x27;", (PLAIN,)),
    # keys of several lines
    ("key", "\n".join(LINES), tuple(BODY)),
    (
        "key",
        f"{PGP}\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n" + "\n".join(BODY) + f"\n=aB3d\n{PGP_END}",
        tuple(BODY),
    ),
    (
        "key",
        f"{PGP}\nComment: GPGTools - https://gpgtools.org\n\n" + "\n".join(BODY) + f"\n{PGP_END}",
        tuple(BODY),
    ),
    ("key", f"{PGP}\nVersion: BCPG v1.68\n\n" + "\n".join(BODY), tuple(BODY)),
    (
        "key",
        f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n"
        + "\n".join(BODY)
        + f"\n{END}",
        tuple(BODY),
    ),
    ("key", _joined(LINES, "> {}"), tuple(BODY)),
    ("key", _joined(LINES, ">> {}"), tuple(BODY)),
    ("key", _joined(LINES[:-1], "> {}"), tuple(BODY)),
    ("key", _joined(LINES, "{n}:{}"), tuple(BODY)),
    ("key", _joined(LINES, "deploy/id_rsa.pem:{n}:{}"), tuple(BODY)),
    ("key", _joined(LINES, "deploy/id_rsa.pem-{n}-{}"), tuple(BODY)),
    ("key", _joined(LINES, "     {n}\t{}"), tuple(BODY)),
    # of which the end is cut off
    ("key", _joined(LINES[:-1], "deploy/id_rsa.pem:{n}:{}"), tuple(BODY)),
    ("key", _joined(LINES[:-1], "     {n}→{}"), tuple(BODY)),
    ("key", _joined(LINES[:-1], "Jul 3 10:00:01 host app[{n}]: {}"), tuple(BODY)),
    ("key", "$key = " + _joined(LINES[:-1], "'{}' . \"\\n\""), tuple(BODY)),
    ("key", _joined(LINES, "+{}"), tuple(BODY)),
    ("key", _joined(LINES, "  | {}"), tuple(BODY)),
    ("key", "key = (\n" + _joined(LINES, '    "{}\\n"') + "\n)", tuple(BODY)),
    ("key", "String key = " + _joined(LINES, '"{}\\n" +') + ' "";', tuple(BODY)),
    ("key", "const key = " + _joined(LINES, "'{}\\n' +"), tuple(BODY)),
    ("key", "$key = " + _joined(LINES[:-1], '"{}\\n" .'), tuple(BODY)),
    ("key", json.dumps({"private_key": "\n".join(LINES)}), tuple(BODY)),
    ("key", f"{BOLD}{BEGIN}{OFF}\n" + "\n".join(BODY) + f"\n{BOLD}{END}{OFF}", tuple(BODY)),
    # JSON inside JSON, and otherwise escaped
    ("nested", json.dumps({"body": json.dumps({"password": PASSWORD})}), (PASSWORD,)),
    ("nested", json.dumps({"a": json.dumps({"b": json.dumps({"api_key": KEY})})}), (KEY,)),
    ("nested", "response: " + json.dumps(json.dumps({"password": PASSWORD})), (PASSWORD,)),
    ("nested", "INFO sent " + json.dumps(json.dumps({"client_secret": KEY})), (KEY,)),
    ("nested", 'log: {\\\\\\"password\\\\\\": \\\\\\"' + PASSWORD + '\\\\\\"}', (PASSWORD,)),
    ("nested", json.dumps({"out": "x\nDB_PASSWORD=" + PASSWORD + "\ny"}), (PASSWORD,)),
    ("nested", f"&quot;password&quot;: &quot;{PLAIN}&quot;", (PLAIN,)),
    ("nested", f"https://x/y?api%5Fkey%3D{KEY}", (KEY,)),
    ("nested", "data: " + json.dumps(json.dumps({"auth": {"token": KEY}})), (KEY,)),
    # markup
    ("markup", f"<password>{PASSWORD}</password>", (PASSWORD,)),
    ("markup", f"<server><username>bob</username><password>{PLAIN}</password></server>", (PLAIN,)),
    ("markup", f'<ApiKey type="live">{KEY}</ApiKey>', (KEY,)),
    ("markup", f"<password>\n  {PASSWORD}\n</password>", (PASSWORD,)),
    ("markup", f"<Password><![CDATA[{PASSWORD}]]></Password>", (PASSWORD,)),
    ("markup", f"<wsse:Password>{PASSWORD}</wsse:Password>", (PASSWORD,)),
    ("markup", f'<add key="DbPassword" value="{PASSWORD}"/>', (PASSWORD,)),
    ("markup", f'<input name="password" value="{PASSWORD}">', (PASSWORD,)),
    # options of commands
    ("option", f"tool --password {PASSWORD} --verbose", (PASSWORD,)),
    ("option", f"tool --password={PASSWORD}", (PASSWORD,)),
    ("option", f"helm install --set-string x --api-key '{KEY}'", (KEY,)),
    ("option", f"az login --service-principal --client-secret {KEY}", (KEY,)),
    ("option", f"curl -u bob:{PASSWORD} https://x", (PASSWORD,)),
    ("option", f"curl -s --user 'bob:{PASSWORD}' https://x", (PASSWORD,)),
    ("option", f"curl https://x -ubob:{PASSWORD}", (PASSWORD,)),
    ("option", f"curl https://x \\\n  -H 'a: b' \\\n  -u bob:{PASSWORD}", (PASSWORD,)),
    ("option", f"mysql -uroot -p{PASSWORD} shop", (PASSWORD,)),
    ("option", f"mysqldump -h db -u root -p'{PASSWORD}' shop > x.sql", (PASSWORD,)),
    ("option", f"docker login -u bob -p {PASSWORD} registry.x", (PASSWORD,)),
    ("option", f"sshpass -p {PASSWORD} ssh bob@host", (PASSWORD,)),
    ("option", f"redis-cli -h cache -a {PASSWORD} ping", (PASSWORD,)),
    ("option", f"['docker', 'login', '--password', '{PASSWORD}']", (PASSWORD,)),
    # manifests with name and value
    ("manifest", f"- name: DB_PASSWORD\n  value: {PASSWORD}", (PASSWORD,)),
    ("manifest", f'- name: "API_KEY"\n  value: "{KEY}"', (KEY,)),
    ("manifest", json.dumps({"name": "DB_PASSWORD", "value": PASSWORD}), (PASSWORD,)),
    ("manifest", json.dumps([{"Key": "ClientSecret", "Value": KEY}]), (KEY,)),
    ("manifest", json.dumps({"value": PASSWORD, "name": "DB_PASSWORD"}), (PASSWORD,)),
    ("manifest", f'environment {{\n  name = "AUTH_TOKEN"\n  value = "{KEY}"\n}}', (KEY,)),
    # netrc
    ("netrc", f"machine api.x login bob password {PASSWORD}", (PASSWORD,)),
    ("netrc", f"machine api.x\n  login bob\n  password {PLAIN}\n", (PLAIN,)),
    ("netrc", f"default login anonymous password {PASSWORD}", (PASSWORD,)),
    # cookies and headers
    ("cookie", f"Cookie: sid={SESSION}; theme=dark", (SESSION,)),
    ("cookie", f"Set-Cookie: JSESSIONID={SESSION}; Path=/; HttpOnly", (SESSION,)),
    ("cookie", f"< set-cookie: _app_session={SESSION}%3D%3D--{KEY}; path=/", (SESSION, KEY)),
    ("cookie", f"curl -H 'Cookie: sessionid={SESSION}' https://x", (SESSION,)),
    (
        "cookie",
        json.dumps({"headers": {"Cookie": f"theme=dark; connect.sid=s%3A{SESSION}"}}),
        (SESSION,),
    ),
    ("header", f"Authorization: Bearer {KEY}", (KEY,)),
    ("header", f"Authorization: Basic {BASIC}", (BASIC,)),
    ("header", f"X-Api-Key: {KEY}", (KEY,)),
    # registries' auth
    ("registry", json.dumps({"auths": {"ghcr.io": {"auth": BASIC}}}), (BASIC,)),
    ("registry", f"//registry.npmjs.org/:_authToken={KEY}", (KEY,)),
    ("registry", f"//npm.example.com/:_authToken={UUID}", (UUID,)),
    ("yaml", f"  client_secret: >-\n    {KEY}\n  redirect: /cb", (KEY,)),
    ("yaml", f"password: |\n  {PLAIN}\nuser: a", (PLAIN,)),
    ("settings", f"bind_dn=cn=admin\nbind_pw={PASSWORD}", (PASSWORD,)),
    ("registry", f"//registry.x/:_auth={BASIC}", (BASIC,)),
    ("registry", f"[distutils]\nusername = bob\npassword = {PASSWORD}", (PASSWORD,)),
    # chat bots
    ("bot", f"https://api.telegram.org/bot{TELEGRAM}/getMe", (TELEGRAM,)),
    ("bot", f"bot = Bot('{TELEGRAM}')", (TELEGRAM,)),
    ("bot", f"client.run('{DISCORD}')", (DISCORD,)),
    ("bot", f"xoxb-123456789012-{KEY[:24]}7", (KEY[:24],)),
    # cards and accounts
    ("card", "Card 4111 1111 1111 1111, 12/29", ("4111 1111 1111 1111",)),
    ("card", "pan=5555555555554444", ("5555555555554444",)),
    ("card", "Amex 3782-822463-10005", ("3782-822463-10005",)),
    ("iban", "IBAN DE89 3704 0044 0532 0130 00", ("3704 0044 0532 0130 00",)),
    ("iban", "pay to GB82WEST12345698765432 today", ("GB82WEST12345698765432",)),
    # parts that are mixed, in names of other places
    ("option", f"deploy --token {MIXED} prod", (MIXED,)),
    ("option", f"curl -H 'X-Auth-Token: {MIXED}' https://x", (MIXED,)),
    ("option", f"az login --service-principal -u app -p {MIXED} --tenant t", (MIXED,)),
    ("manifest", f'<add key="ClientSecret" value="{MIXED}" />', (MIXED,)),
    ("plain", f"smtp_pass={PLAIN}", (PLAIN,)),
    ("plain", f"x-api-key: {MIXED}", (MIXED,)),
    ("nested", f"%22password%22%3A%22{PLAIN}%22", (PLAIN,)),
    ("bot", f"https://x.webhook.office.com/webhookb2/{KEY}@{KEY}/IncomingWebhook/{KEY}", (KEY,)),
    ("hash", f"rita:$6$Zs4mQ1pX$7{KEY}{KEY}:19000:0", (KEY,)),
    ("plain", f'[db]\npass = "{PASSWORD}"', (PASSWORD,)),
    ("plain", f"auth: {{ user: 'rita', pass: '{PASSWORD}' }}", (PASSWORD,)),
    ("call", f"define( 'DB_PASSWORD', '{PASSWORD}' );", (PASSWORD,)),
    ("call", f'setenv("API_TOKEN", "{MIXED}")', (MIXED,)),
    ("code", f"os.environ['API_KEY'] = '{KEY}'", (KEY,)),
    ("code", f'config["password"] = "{PASSWORD}"', (PASSWORD,)),
    ("code", f"app.secret_key = b'{KEY}'", (KEY,)),
    ("code", f'password: str = "{PASSWORD}"', (PASSWORD,)),
    ("markdown", f"password:\u00a0{PASSWORD}", (PASSWORD,)),
    ("code", f'let password: &str = "{PASSWORD}";', (PASSWORD,)),
    ("sentence", f"API key: {KEY}", (KEY,)),
    ("sentence", f"My password is {PASSWORD}, please log in.", (PASSWORD,)),
    # separators and quotes of several languages and of Markdown
    ("code", f'password <- "{PASSWORD}"', (PASSWORD,)),
    ("code", f"password ||= '{PASSWORD}'", (PASSWORD,)),
    ("code", f"const key = process.env.API_KEY || '{MIXED}';", (MIXED,)),
    ("code", f"const TOKEN = `{KEY}`;", (KEY,)),
    ("code", f'val apiKey = """{KEY}"""', (KEY,)),
    ("code", f'token = f"{KEY}"', (KEY,)),
    ("code", f'char password[] = "{PASSWORD}";', (PASSWORD,)),
    ("code", f'string Password {{ get; }} = "{PASSWORD}";', (PASSWORD,)),
    ("code", f'var password string = "{PASSWORD}"', (PASSWORD,)),
    ("code", f'#define PASSWORD "{PASSWORD}"', (PASSWORD,)),
    ("code", f'(password "{PASSWORD}")', (PASSWORD,)),
    ("code", f'System.setProperty("api.key", "{KEY}")', (KEY,)),
    ("markdown", f"**Password:** {PASSWORD}", (PASSWORD,)),
    ("markdown", f"**API key**: `{KEY}`", (KEY,)),
    ("markdown", f"- `password`: `{PASSWORD}`", (PASSWORD,)),
    ("markdown", f"| User | rita |\n| Password | {PASSWORD} |", (PASSWORD,)),
    ("markdown", f"password: “{PASSWORD}”", (PASSWORD,)),
    ("markup", f"<key>password</key>\n<string>{PASSWORD}</string>", (PASSWORD,)),
    ("markup", f'<setting name="ApiKey"><value>{KEY}</value></setting>', (KEY,)),
    ("settings", f"userPassword:: {BASIC}", (BASIC,)),
    ("sentence", f"the token was {KEY}", (KEY,)),
    # names in other languages
    ("plain", f"Passwort: {PASSWORD}", (PASSWORD,)),
    ("plain", f"mot de passe : {PASSWORD}", (PASSWORD,)),
    ("plain", f"contraseña: {PASSWORD}", (PASSWORD,)),
    ("plain", f"senha: {PASSWORD}", (PASSWORD,)),
    ("plain", f"Пароль: {PASSWORD}", (PASSWORD,)),
    ("plain", f"密码：{PASSWORD}", (PASSWORD,)),
    ("plain", f"パスワード：{PASSWORD}", (PASSWORD,)),
    ("plain", f"비밀번호: {PASSWORD}", (PASSWORD,)),
    # whatever a key is for
    ("key", f"export STRIPE_KEY={KEY}", (KEY,)),
    ("key", f"RAILS_MASTER_KEY={HEXADECIMAL}", (HEXADECIMAL,)),
    ("key", f"APP_KEY=base64:{KEY}=", (KEY,)),
    ("key", f"GET https://maps.example.com/api?key={KEY}&v=3", (KEY,)),
    ("key", json.dumps({"key": KEY}), (KEY,)),
    ("key", f"x-functions-key: {KEY}", (KEY,)),
    # whatever the scheme is
    ("header", f"Authorization: SSWS {KEY}", (KEY,)),
    ("header", f"Authorization: GenieKey {UUID}", (UUID,)),
    ("header", f'headers.put("Authorization", "{KEY}")', (KEY,)),
    ("registry", f"git clone https://{KEY}@git.example.com/a/b.git", (KEY,)),
    # what was masked before
    ("plain", f"postgres://bob:{PLAIN}@db:5432/x", (PLAIN,)),
    ("plain", f"postgres://bob:p@{PLAIN}@db:5432/x", (PLAIN,)),
    ("plain", f"session eyJhbGciOiJkaXIiLCJlbmMifQ..{SESSION}.{KEY}.{SESSION}", (KEY, SESSION)),
    ("plain", f"client_secret: '{KEY}'", (KEY,)),
    ("plain", f"stripe {STRIPE}", (STRIPE,)),
    ("plain", f"aws_secret_access_key = {KEY}", (KEY,)),
]

HARMLESS = [
    "password: >\n  must have eight characters",
    "password: !Ref DatabasePassword1",
    'type T = "a" | Password | Abc12345',
    "let secret: &str = name;",
    "let password: &mut Buf9 = x;",
    "secret: &dyn Ed25519Key,",
    f"page_token: {UUID}",
    f"token: {UUID}",
    "authTokenizer = BertTokenizer2",
    "secret: |\n  is what nobody should know",
    'bypass = "abcdef"',
    '{"pass": true, "fail": "2"}',
    '["id", "password", "Created_at2"]',
    'x.replace("password", "newPassword")',
    "The password is base64-encoded, and the secret is safe.",
    "api_key = MyApp2-Config-Eu1",
    "pass: 1234 of 2000",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs'
    '17LhbZVGedAJv8XZ1tvj5FvSg=="',
    "data:image/png;base64," + base64.b64encode(bytes(range(120))).decode(),
    "max_tokens=4096 and tokens: 123456789012",
    "password: required",
    "def f(password: str, token=None)",
    "password = input('Password: ')",
    "api_key=os.environ['X']",
    "api_key=${API_KEY}",
    "password=<your password>",
    "token = tokens[i+1]",
    "secret_name: my-app-secret-1234",
    "https://user@host/x",
    "tool --password-file /run/secrets/db --verbose",
    "tool --password-stdin < file",
    "tool --token-limit 4000000000",
    "curl -u $USER:$PASS https://x",
    "curl -u bob https://x",
    "curl -o out.txt https://x",
    "mysql -u root -p shop",
    "mysql -P 3306 -h db",
    "docker run -p 8080:80 nginx",
    "mkdir -p src/main/java",
    "ssh -p 2222 bob@host",
    "<password></password>",
    "postgres://<user>:<password>@db:5432/shop",
    "see http://localhost:3000/a@b and mail x@y.z",
    'fields["password"] == other["password"]',
    "api key: see the settings of your account",
    "<password>${db.password}</password>",
    "<label>Password</label>",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db, key: password}",
    "- name: LOG_LEVEL\n  value: debug",
    json.dumps({"name": "token_limit", "value": 4096}),
    "the login page asks for a password twice",
    "Cookie: theme=dark; lang=en",
    "Set-Cookie: theme=light; Max-Age=3600; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    '{"auth": "required", "auth_type": "oauth2"}',
    "order 1234 5678 9012 3456 was sent",
    "took 1700000000000000 ns, at 1792669500123456",
    "GB29 tests, DE12 of them failed in run AB12CD34EF56GH78",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n"
    "-----END CERTIFICATE-----",
    f"key: node-cache-Linux-{HEXADECIMAL}",
    json.dumps({"cache_key": HEXADECIMAL, "key": "uploads/2026/IMG_20261122_Lisbon.jpg"}),
    '"result_key": "ServerlessV2PlatformVersions"',
    f"public_key: {KEY}",
    "sort_key = created_at, primary key: order_id",
    "def load(self) -> Ed25519PrivateKey | Ed448PrivateKey | X25519PrivateKey: ...",
    "| Field | Type |\n| password | string |\n| token | Bearer |",
    "<tr><th>Password</th><th>Role</th></tr>",
    "The `password`, `token` and `api_key` of `Account2` are required.",
    "Password::Digest2.new",
    "if (token || 'none2') return password ?? default1;",
    "desenha: abc123def",
    "https://averylongusername@host/x",
    "12:34:56 build 2026.11.22-rc1 of \x1b[32mweb\x1b[0m passed in 8s",
]
