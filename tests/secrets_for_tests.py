"""Secrets that never were one, made by a generator with a fixed seed, where real ones stand.

None of them is written out anywhere, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import json
import random
import string
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WORD = string.ascii_letters + string.digits
LINK = WORD + "-_"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True)
class Planted:
    """A text with one secret in it; `parts` are what must not be seen of it."""

    kind: str
    setting: str
    text: str
    parts: tuple[str, ...]


def chars(rng: random.Random, alphabet: str, count: int) -> str:
    """So many characters, with a digit and both cases among them where there are such."""
    value = rng.choices(alphabet, k=count)
    classes = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    for place, each in enumerate(classes):
        inside = [char for char in each if char in alphabet]
        if inside and count > 3:
            # Not at either end, so that words of the alphabet stay at the borders.
            value[1 + place] = rng.choice(inside)
    if value[-1] in "-_":
        value[-1] = "x"
    return "".join(value)


def _shaped(head: str, alphabet: str, count: int, tail: str = "") -> Callable[[random.Random], str]:
    return lambda rng: head + chars(rng, alphabet, count) + tail


def _jwt(rng: random.Random) -> str:
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": chars(rng, WORD, 12)})]
    coded = [b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, chars(rng, LINK, 43)])


SHAPED: dict[str, Callable[[random.Random], str]] = {
    "aws-key-id": _shaped("AK" + "IA", BASE32, 16),
    "github-token": _shaped("gh" + "p_", WORD, 36),
    "github-token ": _shaped("github" + "_pat_", WORD, 82),
    "gitlab-token": _shaped("gl" + "pat-", LINK, 20),
    "slack-token": lambda rng: (
        f"xo{'xb'}-{chars(rng, string.digits, 12)}-{chars(rng, string.digits, 12)}"
        f"-{chars(rng, WORD, 24)}"
    ),
    "stripe-key": _shaped("sk" + "_live_", WORD, 24),
    "openai-key": _shaped("sk" + "-proj-", LINK, 74),
    "openai-key ": _shaped("sk" + "-", WORD, 48),
    "anthropic-key": _shaped("sk" + "-ant-api03-", LINK, 93, "AA"),
    "google-api-key": _shaped("AI" + "za", LINK, 35),
    "google-oauth-token": _shaped("ya" + "29.", LINK, 120),
    "npm-token": _shaped("np" + "m_", WORD, 36),
    "pypi-token": _shaped("py" + "pi-AgEIcHlwaS5vcmc", LINK, 90),
    "sendgrid-key": lambda rng: f"S{'G'}.{chars(rng, LINK, 22)}.{chars(rng, LINK, 43)}",
    "twilio-key": _shaped("S" + "K", HEX, 32),
    "mailchimp-key": _shaped("", HEX, 32, "-us" + "12"),
    "square-token": _shaped("sq" + "0atp-", LINK, 22),
    "telegram-token": lambda rng: f"{chars(rng, string.digits, 9)}:A{'A'}{chars(rng, LINK, 33)}",
    "huggingface-token": _shaped("h" + "f_", string.ascii_letters, 34),
    "databricks-token": _shaped("da" + "pi", HEX, 32),
    "digitalocean-token": _shaped("do" + "p_v1_", HEX, 64),
    "vault-token": _shaped("hv" + "s.", LINK, 90),
    "docker-token": _shaped("dc" + "kr_pat_", LINK, 27),
    "shopify-token": _shaped("sh" + "pat_", HEX, 32),
    "linear-key": _shaped("li" + "n_api_", WORD, 40),
    "notion-token": _shaped("nt" + "n_", WORD, 46),
    "figma-token": _shaped("fi" + "gd_", LINK, 40),
    "grafana-token": lambda rng: f"gl{'sa'}_{chars(rng, WORD, 32)}_{chars(rng, HEX, 8)}",
    "atlassian-token": _shaped("AT" + "ATT3", LINK, 186),
    "newrelic-key": _shaped("NR" + "AK-", string.ascii_uppercase + string.digits, 27),
    "doppler-token": _shaped("dp" + ".pt.", WORD, 43),
    "age-key": _shaped("AGE-SECRET" + "-KEY-1", BECH32, 58),
    "jwt": _jwt,
}
"""What is known by its shape; a blank at the end tells two shapes of one kind apart."""

SETTINGS: dict[str, str] = {
    "env file": "DEBUG=1\nSERVICE_VALUE={}\nPORT=80\n",
    "exported": "$ export THING='{}' && make deploy",
    "curl": 'curl -sS -H "X-Thing: {}" https://api.example.com/v1/items',
    "json": '{{"status": 200, "thing": "{}", "items": [1, 2]}}',
    "escaped json": '{{\\"thing\\": \\"{}\\", \\"n\\": 1}}',
    "stack trace": 'File "app.py", line 12, in call\n    raise Refused("bad thing {}")\nRefused',
    "query": "GET /callback?thing={}&state=ok HTTP/1.1",
    "diff": "--- a/conf\n+++ b/conf\n-thing = old\n+thing = {}\n",
    "yaml": "spec:\n  thing: {}\n  replicas: 2\n",
    "written line ends": "first\\n{}\\nlast",
    "prose": "The value is {}, please use it.",
    "colours": "\x1b[32m{}\x1b[0m",
}
"""Places where a secret stands with nothing that names it one."""


def _key_block(rng: random.Random, label: str, newline: str, *, whole: bool) -> Planted:
    lines = [chars(rng, WORD + "+/", 64) for _ in range(12)] + [chars(rng, WORD, 22) + "=="]
    text = newline.join([f"-----BEGIN {label}-----", *lines])
    if whole:
        text += f"{newline}-----END {label}-----"
    name = "whole" if whole else "cut off"
    return Planted("private-key", f"{label}, {name}", f"cat id\n{text}", tuple(lines[:-1]))


def named(rng: random.Random) -> list[Planted]:
    """Secrets without a shape, known by their names or by what stands around them."""

    def one(kind: str, setting: str, text: str, value: str) -> Planted:
        return Planted(kind, setting, text.replace("@@", value), (value,))

    def word() -> str:
        return chars(rng, WORD, 12)

    def long(count: int = 40) -> str:
        return chars(rng, WORD, count)

    url = "url"
    plants = [
        one("password", url, "postgres://app:@@@db.internal:5432/app", word()),
        one("password", url, "redis://:@@@cache:6379/0", word()),
        one("password", url, "mongodb+srv://root:@@@cluster0.example.net/x?retry=1", word()),
        one("password", url, "git clone https://bot:@@@git.example.com/a/b.git", word()),
        one("password", url, "amqp://guest:@@@mq/%2f", word()),
        one("password", "env file", "DB_PASSWORD=@@\nX=1", word()),
        one("password", "env file", "PGPASSWORD=@@ psql -h db", word()),
        one("password", "env file", 'MYSQL_ROOT_PASSWORD="@@"', "p" + word()),
        one("password", "json", '{"user": "a", "password": "@@"}', word()),
        one("password", "escaped json", '{\\"password\\": \\"@@\\"}', word()),
        one("password", "yaml", "database:\n  password: @@\n", word()),
        one("password", "code", 'connect(host="db", password="@@")', word()),
        one("password", "code", "const dbPassword = '@@';", word()),
        one("password", "option", "mysqladmin --password=@@ status", word()),
        one("password", "option", "login --user me --password @@ --now", word()),
        one("password", "curl", "curl -u admin:@@ https://example.com/", word()),
        one("password", "xml", "<server><password>@@</password></server>", word()),
        one("password", "diff", "-password = old_one\n+password = @@\n", word()),
        one("password", "call", "user: a\npassword: @@\n", chars(rng, string.ascii_lowercase, 10)),
        one("aws-secret-key", "env file", "AWS_SECRET_ACCESS_KEY=@@", long()),
        one("aws-secret-key", "ini", "aws_secret_access_key = @@\n", long()),
        one("aws-secret-key", "json", '"SecretAccessKey": "@@",', long()),
        one("azure-key", "connection", "AccountName=a;AccountKey=@@;B=c", long(86) + "=="),
        one("azure-signature", url, "https://a/b?sv=2022&se=2026&sp=r&sig=@@%3D", long(43)),
        one("slack-webhook", url, "https://hooks.slack.com/services/T01AB/B02CD/@@", long(24)),
        one("discord-webhook", url, f"https://discord.com/api/webhooks/{10**17}/@@", long(68)),
        one("okta-token", "header", "Authorization: SSWS @@", "00" + long(40)),
        one("secret", "header", 'curl -H "Authorization: Bearer @@" https://x', long()),
        one("secret", "header", "'Authorization': 'token @@'", long()),
        one("secret", "header", "x-api-key: @@", long(32)),
        one("secret", "cookie", "Cookie: theme=dark; sessionid=@@; lang=en", long(32)),
        one("secret", "cookie", "Set-Cookie: auth_token=@@; Path=/; HttpOnly", long(32)),
        one("secret", "env file", "SECRET_KEY=@@", long(50)),
        one("secret", "env file", "export STRIPE_WEBHOOK_SECRET=@@", long(32)),
        one("secret", "env file", "TWILIO_AUTH_TOKEN=@@", chars(rng, HEX, 32)),
        one("secret", "json", '"api_key": "@@"', long(32)),
        one("secret", "json", '"client_secret":"@@"', long(24)),
        one("secret", "json", '"accessToken" : "@@"', long(64)),
        one("secret", "yaml", "  apiKey: @@\n", long(32)),
        one("secret", "code", "os.environ['DD_API_KEY'] = '@@'", chars(rng, HEX, 32)),
        one("secret", "code", 'os.environ.setdefault("API_TOKEN", "@@")', long(32)),
        one("secret", "code", 'token: str = "@@"', long(32)),
        one("secret", "option", "deploy --api-key @@ --force", long(32)),
        one("secret", "query", "https://x/y?access_token=@@&v=2", long(32)),
    ]
    pair = b64encode(f"user:{word()}".encode()).decode().rstrip("=")
    plants.append(one("basic-auth", "header", 'curl -H "Authorization: Basic @@"', pair))
    for label in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"):
        plants.append(_key_block(rng, label, "\n", whole=True))
        plants.append(_key_block(rng, label, "\\n", whole=True))
        plants.append(_key_block(rng, label, "\n", whole=False))
        plants.append(_key_block(rng, label, "\\n", whole=False))
    plants.append(_key_block(rng, "PGP PRIVATE KEY BLOCK", "\n", whole=True))
    return plants


def planted(seed: int = 20_261_130) -> list[Planted]:
    """More than 200 of them: each shape in a few settings, and all that are known by name."""
    rng = random.Random(seed)
    plants: list[Planted] = []
    names = list(SETTINGS)
    for number, (kind, make) in enumerate(SHAPED.items()):
        for turn in range(5):
            setting = names[(number + turn * 5) % len(names)]
            value = make(rng)
            plants.append(Planted(kind.strip(), setting, SETTINGS[setting].format(value), (value,)))
    return plants + named(rng)
