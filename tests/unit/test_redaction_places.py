"""Secrets in the places where people and programs put them, and tokens glued to what is around.

No value is written out: each is made of a fixed seed, and no scanner takes this file for a leak.
"""

from __future__ import annotations

import json
import random
import string
from base64 import b64encode

import pytest

from longjudge.redaction import redact
from secrets_for_tests import BASE32, HEX, LINK, WORD, chars

RNG = random.Random(4)
WEAK = "Winter" + "2025!"
ODD = "x9$" + "kQ!2vLm"
LONG = chars(RNG, WORD, 24)
HEXES = chars(RNG, HEX, 32)
PAIR = b64encode(f"bob:{WEAK}".encode()).decode()
WORDS = " ".join(["correct", "horse", "battery", "staple"])
LINES = [chars(RNG, WORD + "+/", 64) for _ in range(5)]

PLACES: tuple[tuple[str, str], ...] = (
    # A file of variables, where the name is short or the gap wide.
    ("HOST=x\nDB_PASS=@@\nPORT=1", WEAK),
    ('SMTP_PASS="@@"', WEAK),
    ("ADMIN_PW=@@\n", LONG),
    ("db_key = '@@'", LONG),
    ("aws_key: @@\n", LONG),
    ("contraseña = '@@'", WEAK),
    ('  password             = "@@"', WEAK),
    # Lists of variables.
    ("- name: API_TOKEN\n          value: @@\n", LONG),
    ('- name: DB_PASSWORD\n  value: "@@"\n', WEAK),
    ('{"name": "DB_PASSWORD", "value": "@@"}', WEAK),
    ('headers: [{"name":"x-api-key","value":"@@"}]', LONG),
    ('<add key="ApiKey" value="@@" />', LONG),
    # Fallbacks beside what is read from elsewhere.
    ("POSTGRES_PASSWORD: ${DB_PASSWORD:-@@}", WEAK),
    ("password = os.getenv('PW') or '@@'", WEAK),
    ("const token = process.env.TOKEN || '@@'", LONG),
    # Code.
    ('ds.setPassword("@@");', WEAK),
    ("password = (\n    '@@'\n)", WEAK),
    ("requests.get(url, auth=('bob', '@@'))", WEAK),
    ("transport({auth: {user: 'bob', pass: '@@'}})", WEAK),
    ('["tool", "--token", "@@"]', LONG),
    ('["tool", "--password", "@@"]', WEAK),
    ("CREATE USER bob WITH PASSWORD '@@';", WEAK),
    ("CREATE USER 'bob'@'%' IDENTIFIED BY '@@';", WEAK),
    # Words in quotes.
    ('{"password": "@@"}', WORDS),
    ("PASSWORD = '@@'", WORDS),
    ('{\\"password\\": \\"@@\\"}', WORDS),
    ('password: "@@"', "my Secret pass 99!"),
    # Connections.
    ("Server=h;Uid=sa;Pwd=@@;", WEAK),
    ("Server=h;User Id=sa;Password=@@;Encrypt=True", "p@ss w0rd"),
    ("postgres://app:@@@db.host/x", "p@ss/w0rd#1"),
    ("amqp://app:@@@db/x\njdbc:oracle:thin:@//host:1521/svc", LONG),
    ("--Cookie: theme=dark; connect.sid=s%3A@@", LONG),
    ("jdbc:oracle:thin:scott/@@@//host:1521/svc", LONG),
    ("git clone https://@@@github.com/a/b.git", HEXES),
    ("git clone https://@@:x-oauth-basic@github.com/a/b.git", HEXES),
    # Files of logins.
    ("machine api.example.com\n  login bob\n  password @@\n", WEAK),
    ("machine api.example.com login bob password @@\n", LONG),
    ("_auth=@@\n", PAIR),
    ('{"auths": {"https://images.example.com/v1/": {"auth": "@@"}}}', PAIR),
    ("bob:$apr1$abcdefgh$@@", chars(RNG, WORD, 22)),
    ("root:$6$abcdefgh$@@:19000:0:", chars(RNG, WORD, 86)),
    ("bob $2b$12$@@", chars(RNG, WORD, 53)),
    # Commands.
    ("curl -uadmin:@@ https://x.io/api", ODD),
    ("curl -b 'session=@@' https://x", HEXES),
    ("curl --cookie 'sessionid=@@' https://x", HEXES),
    ("curl -H 'X-Vault-Token: s.@@' https://x", LONG),
    ("mysql -u root -p@@ -h db", WEAK),
    ("sshpass -p '@@' ssh root@host", ODD),
    ("sshpass -p@@ ssh root@host", WEAK),
    ("docker login -u bob -p @@ registry.io", WEAK),
    ("redis-cli -h cache -a @@ ping", WEAK),
    ("openssl rsa -in k -passin pass:@@", ODD),
    ("echo '@@' | docker login -u bob --password-stdin", ODD),
    ("echo '@@' | sudo -S apt update", ODD),
    ("echo 'root:@@' | chpasswd", ODD),
    ("ConvertTo-SecureString '@@' -AsPlainText -Force", WEAK),
    # Links.
    ("https://maps.example.com/x?q=2&key=@@", HEXES),
    ("https://b.example.com/k?X-Amz-Signature=@@", HEXES * 2),
    # Text for people and terminals.
    ("The password is @@ for the admin user.", ODD),
    ("my api key is @@ thanks", LONG),
    ("--\nmy api key is @@ thanks", LONG),
    ("**Password:** @@", ODD),
    ("| password | @@ |", ODD),
    ("\x1b[36mAPI_TOKEN\x1b[0m=\x1b[33m@@\x1b[0m", LONG),
    # Names and values that are parted, wrapped or written out in another way.
    ('{"pwd": "@@"}', WEAK),
    ("bearer: @@", LONG),
    ("aws configure set aws_secret_access_key @@", LONG),
    ('setx API_KEY "@@"', LONG),
    ("api_key       @@\nregion        x", LONG),
    ("token -> @@", LONG),
    ("export KEY=@@", LONG),
    ("GOOGLE_MAPS_KEY=@@", LONG),
    ("username: bob\npass: @@\n", WEAK),
    ("PASS=@@\n", WEAK),
    ("[client]\nuser=a\npassword = @@\n", "monkey" + "word"),
    ("<Password>@@</Password>", "monkey" + "word"),
    ("java -Dspring.datasource.password=@@ -jar x", "monkey" + "word"),
    ("password: >-\n  @@\n", WEAK),
    ("password: !!str @@", WEAK),
    ('hmac_secret := []byte("@@")', LONG),
    ('Invoke-X -Password "@@"', WEAK),
    ("tool -token @@", LONG),
    ('new NetworkCredential("bob", "@@")', WEAK),
    ('smtp.login("bob", "@@")', WEAK),
    ("a=1%26access_token%3D@@%26b", LONG),
    ("&quot;password&quot;:&quot;@@&quot;", WEAK),
    ("\\u0022password\\u0022:\\u0022@@\\u0022", WEAK),
    ("ansible_become_pass: @@", WEAK),
    ("ldapsearch -x -w @@ -b dc", WEAK),
    ("mongosh -u a -p @@", WEAK),
    ("htpasswd -b f bob @@", WEAK),
    ("totp_secret: @@", "JBSW" + "Y3DPEHPK3PXP"),
    # Keys.
    ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n@@\nPrivate-MAC: a", "\n".join(LINES[:2])),
    ("@@\n-----END " + "PRIVATE KEY-----\n", "\n".join(LINES)),
)


@pytest.mark.parametrize(("text", "value"), PLACES)
def test_no_secret_is_left_where_people_and_programs_put_one(text: str, value: str) -> None:
    redacted = redact("first\n" + text.replace("@@", value, 1))
    assert value not in redacted.text
    assert len(redacted.replacements) == 1
    assert redact(redacted.text).replacements == ()


GITHUB = "gh" + "p_" + chars(RNG, WORD, 36)
GLUED = {
    "github": GITHUB,
    "stripe": "sk" + "_live_" + chars(RNG, WORD, 24),
    "gitlab": "gl" + "pat-" + chars(RNG, LINK, 20),
    "anthropic": "sk" + "-ant-api03-" + chars(RNG, LINK, 93),
    "aws": "AK" + "IA" + chars(RNG, BASE32, 16),
    "google": "AI" + "za" + chars(RNG, WORD, 35),
}


@pytest.mark.parametrize("before", ["token", "ID", "a", "1", "n", "=3D", "\\x3d", "\\033[32m", "é"])
@pytest.mark.parametrize("name", GLUED)
def test_a_token_is_found_glued_to_what_stands_before_it(name: str, before: str) -> None:
    redacted = redact(f"see {before}{GLUED[name]} there")
    assert GLUED[name] not in redacted.text
    assert redacted.text.startswith(f"see {before}[redacted ")


def test_words_of_the_shape_of_a_glued_token_stay() -> None:
    for text in (
        "desk_live_streamingservicehandler",
        "task_test_configurationmanager2",
        "monkey-" + "0123456789abcdef" * 2,
        "self-ask-proj-" + "a" * 8 + "-bridge-builder-name",
    ):
        assert redact(text).text == text


# What the expressions of detect-secrets 1.5 match, where it is certain to be a secret: their own
# alphabets and lengths, between what their rules allow around them.
LOWER = string.ascii_lowercase + string.digits
DETECTED: tuple[str, ...] = (
    "A3" + "TX" + chars(RNG, string.ascii_uppercase + string.digits, 16),
    "AC" + "CA" + chars(RNG, string.ascii_uppercase + string.digits, 16),
    "AK" + "Cp8" + chars(RNG, WORD, 68),
    "AccountKey=" + chars(RNG, WORD + "+/", 86) + "==",
    "M" + chars(RNG, LINK, 23) + "." + chars(RNG, LINK, 6) + "." + chars(RNG, LINK, 27),
    "gh" + "r_" + chars(RNG, WORD, 36),
    "gl" + "oas-" + chars(RNG, LINK, 64),
    "gl" + "cbt-1f_" + chars(RNG, LINK, 20),
    "gl" + "imt-" + chars(RNG, LINK, 25),
    "gl" + "agent-" + chars(RNG, LINK, 50),
    "GR" + "1348941" + chars(RNG, LINK, 20),
    chars(RNG, HEX, 32) + "-us" + "7",
    "//registry.example.com/:_authToken=np" + "m_" + chars(RNG, WORD, 36),
    "//registry.example.com/:_authToken=1234abcd-12ab-34cd-56ef-" + chars(RNG, HEX, 12),
    "sk" + "-" + chars(RNG, WORD, 20) + "T3Blb" + "kFJ" + chars(RNG, WORD, 20),
    "py" + "pi-AgENdGVzdC5weXBpLm9yZw" + chars(RNG, LINK, 70),
    f"S{'G'}.{chars(RNG, LINK, 22)}.{chars(RNG, LINK, 43)}",
    f"xo{'xs'}-{chars(RNG, string.digits, 11)}-{chars(RNG, LOWER, 24)}",
    f"https://hooks.slack.com/services/T{chars(RNG, WORD, 8)}/B{chars(RNG, WORD, 8)}/{LONG}",
    "sq" + "0csp-" + chars(RNG, LINK, 43),
    "rk" + "_live_" + chars(RNG, WORD, 24),
    "123456789:A" + "A" + chars(RNG, LINK, 33),
    "SK" + chars(RNG, HEX, 32),
    "https://api.softlayer.com/soap/v3.1/" + chars(RNG, LOWER, 64),
    "https://me:" + chars(RNG, HEX, 64) + "@me.cloudant.com",
    "softlayer_api_key = '" + chars(RNG, LOWER, 64) + "'",
    "cloudant_password: '" + chars(RNG, string.ascii_lowercase, 24) + "'",
    "ibm_cloud_iam_key = '" + chars(RNG, LINK, 44) + "'",
    "cos_hmac_secret_access_key = '" + chars(RNG, HEX, 48) + "'",
)


@pytest.mark.parametrize("text", DETECTED)
def test_what_a_maintained_detector_is_certain_of_is_replaced(text: str) -> None:
    redacted = redact(f'before "{text}" after')
    assert len(redacted.replacements) == 1
    assert redact(f"{text}").replacements


@pytest.mark.parametrize(("text", "value"), PLACES)
def test_no_secret_is_left_where_the_place_is_written_out_in_json(text: str, value: str) -> None:
    output = json.dumps({"stdout": "first\n" + text.replace("@@", value, 1), "code": 0})
    sent = redact(output).text
    assert json.dumps(value)[1:-1] not in sent
    assert json.loads(sent)["code"] == 0
