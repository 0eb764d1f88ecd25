"""Finds the secrets that are known by what stands around them.

Each rule is reached by a word in lower case, and looks at what stands around that word alone.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING

from longjudge.redaction.commands import COMMANDS
from longjudge.redaction.names import AWS, AZURE, NAME_RULES
from longjudge.redaction.runs import Secret
from longjudge.redaction.stored import (
    HASHES,
    PASSWORD_HASH,
    PRIVATE_KEY,
    password_hash,
    private_key,
    private_key_end,
    putty_key,
)
from longjudge.redaction.values import PASSWORD, SECRET, is_random, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rule = Callable[[str, int], "Secret | int | None"]
    """Takes a text and where the word stands in it; a number says how far it has looked."""

BASIC, OKTA = "basic-auth", "okta-token"
SIGNATURE = "azure-signature"
SLACK_HOOK, DISCORD_HOOK = "slack-webhook", "discord-webhook"
CONTEXT_KINDS = frozenset(
    {SECRET, PASSWORD, PASSWORD_HASH, PRIVATE_KEY, BASIC, OKTA, AWS, AZURE, SIGNATURE}
    | {SLACK_HOOK, DISCORD_HOOK}
)

_I = re.IGNORECASE | re.ASCII
_LONG_VALUE = 200

_URL = re.compile(r"""://(?:[^\s/:@"'`<>]{0,100}):(?P<secret>[^\s/"'`<>]{1,256}+)""")


# An address of a database has no path with an `@`, and people put passwords in it as they are.
_OF_DATABASE = re.compile(
    r"(?:postgres|mysql|mariadb|mongodb|redis|amqp|mssql|jdbc)[\w+]{0,12}\Z", _I
)
_SOFTLAYER = re.compile(r"://api\.softlayer\.com/soap/v3(?:\.1)?/(?P<secret>[a-z0-9]{64})", _I)
_UNESCAPED = re.compile(r"""(?!\d{1,5}(?:[/?]|\Z))(?:[^\s"'`<>:,;\\]|:(?!//)){1,256}+""")
_USER_TOKEN = re.compile(
    r"""://(?P<secret>[\w.~+-]{20,255}+)(?::x-oauth-basic)?@[\w\[]""", re.ASCII
)


def _at_host(text: str, first: int, end: int) -> int:
    """Where the `@` before a host stands, or -1."""
    last = text.rfind("@", first, end)
    after = text[last + 1 : last + 2]
    return last if last >= 0 and (after.isalnum() or after == "[") else -1


def _url(text: str, at: int) -> Secret | int | None:
    """The password in `scheme://user:password@host`, or what stands alone before the `@`."""
    if text.startswith("://api.softlayer.com/", at) and (path := _SOFTLAYER.match(text, at)):
        return Secret(*path.span("secret"), SECRET)
    token = _USER_TOKEN.match(text, at)
    if token is not None and is_random(token["secret"]):
        return Secret(*token.span("secret"), SECRET)
    found = _URL.match(text, at)
    if found is None:
        return None
    first, end = found.span("secret")
    if _OF_DATABASE.search(text, max(0, at - 20), at):
        whole = _UNESCAPED.match(text, first)
        end = end if whole is None else max(end, whole.end())
    last = _at_host(text, first, end)
    if last < 0 and end > found.end():
        last = _at_host(text, first, found.end())
    if last < 0:
        return end if end - at > _LONG_VALUE else None
    value = text[first:last]
    if len(value) >= 3 and is_secret(value.ljust(4, "\0"), PASSWORD, quoted=True, setting=True):
        return Secret(first, last, PASSWORD)
    return None


_BEARER = re.compile(
    r"""bearer(?:\s|\\u0020|%20|\+|[:=]["' ]{0,2}){1,4}(?P<secret>[\w.~+/-]{16,}+={0,2})""", _I
)
_AUTHORIZATION = re.compile(
    r"""authorization\\{0,3}["']?\s{0,3}[:=,]\s{0,3}\\{0,3}["']?(?:(?P<scheme>[a-z]{1,12})\s{1,3})?"""
    r"""(?P<secret>[\w.~+/-]{8,}+={0,2})""",
    _I,
)


def _bearer(text: str, at: int) -> Secret | int | None:
    return _credential(text, _BEARER.match(text, at), "bearer")


_PAIR_ALONE = re.compile(
    r"""auth\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})""", _I
)
_ARGUMENTS = re.compile(
    r"""(?:auth|login|credentials?|usernamepassword)\s{0,3}=?\s{0,3}[\[(]\s{0,8}\\{0,7}(["'])"""
    r"""[^"'\\\n]{1,80}\\{0,7}\1\s{0,3},\s{0,8}\\{0,7}(["'])(?P<secret>[^"'\\\n]{3,100})\\{0,7}\2"""
    r"""\s{0,3},?\s{0,8}[\])]""",
    _I,
)


def _authorization(text: str, at: int) -> Secret | int | None:
    """A header; a user with a password in base64; `auth=("user", "password")`."""
    found = _AUTHORIZATION.match(text, at)
    if found is not None:
        return _credential(text, found, found["scheme"] or "")
    found = _PAIR_ALONE.match(text, at)
    if found is not None:
        return _credential(text, found, "basic") if _is_pair(found["secret"]) else None
    return _arguments(text, at)


def _arguments(text: str, at: int) -> Secret | int | None:
    """The password in `login("user", "password")`."""
    found = _ARGUMENTS.match(text, at)
    if found is not None and is_secret(found["secret"], PASSWORD, quoted=True, setting=False):
        return Secret(*found.span("secret"), PASSWORD)
    return None


def _credential(text: str, found: re.Match[str] | None, scheme: str) -> Secret | int | None:
    """What stands in a header: anything that is no word, or a user with a password in base64."""
    if found is None:
        return None
    first, last = found.span("secret")
    value = text[first:last]
    if scheme.lower() == "basic" and _is_pair(value):
        return Secret(first, last, BASIC)
    if is_random(value):
        return Secret(first, last, OKTA if scheme.lower() == "ssws" else SECRET)
    return last if last - first > _LONG_VALUE else None


def _is_pair(value: str) -> bool:
    try:
        plain = b64decode(value + "=" * (-len(value) % 4), validate=True)
    except NotBase64:
        return False
    return b":" in plain and plain.isascii() and plain.decode().isprintable()


_COOKIE = re.compile(r"""(?:cookie2?\\{0,3}["']?\s{0,3}[:=]|--cookie|-b)\s{0,3}\\{0,3}["']?""", _I)
_PAIR = re.compile(
    r"""[\w.-]{0,40}(?:sess|sid|auth|token|jwt|csrf|xsrf|login|remember)[\w.-]{0,40}=(?P<secret>[^\s;,"'\\]{16,}+)""",
    _I,
)
_COOKIE_CHARS = 4_000


def _cookie(text: str, at: int) -> tuple[list[Secret], int]:
    """What keeps a session open, of the pairs of a cookie header; and where the header ends."""
    head = _COOKIE.match(text, at)
    if head is None:
        return [], at
    here = head.end()
    end = text.find("\n", here, here + _COOKIE_CHARS)
    end = end if end >= 0 else min(len(text), here + _COOKIE_CHARS)
    found: list[Secret] = []
    for start in _starts(text, here, end):
        pair = _PAIR.match(text, start, end)
        if pair is not None and is_random(pair["secret"]):
            found.append(Secret(*pair.span("secret"), SECRET))
    return found, end


def _starts(text: str, start: int, end: int) -> Iterator[int]:
    """Where the pairs of a cookie begin."""
    yield start
    while (start := text.find(";", start, end)) >= 0:
        start += 1
        while start < end and text[start] == " ":
            start += 1
        yield start


_SIGNATURE = re.compile(r"sig=(?P<secret>[A-Za-z0-9%+/_-]{30,}+=?)", re.ASCII)
_LONG_SIGNATURE = re.compile(r"-signature=(?P<secret>[A-Za-z0-9%+/_-]{40,}+=?)", _I)
_HOOKS = re.compile(
    r"hooks(?:(?P<slack>\.slack\.com/(?:services|workflows|triggers)/[\w/]{8,60}/)|/\d{15,22}/)"
    r"(?P<secret>[\w-]{20,}+)",
    _I,
)


def _hook(text: str, at: int) -> Secret | int | None:
    """The end of an address that whoever knows it may write to."""
    found = _HOOKS.match(text, at)
    if found is None:
        return None
    kind = SLACK_HOOK if found["slack"] else DISCORD_HOOK
    return Secret(*found.span("secret"), kind)


def _long_signature(text: str, at: int) -> Secret | int | None:
    """The signature of a link to an object in a bucket."""
    found = _LONG_SIGNATURE.match(text, at)
    return None if found is None else Secret(*found.span("secret"), SECRET)


def _signature(text: str, at: int) -> Secret | int | None:
    """The signature of a shared access link, which has its times and rights beside it."""
    found = _SIGNATURE.match(text, at)
    if found is None:
        return None
    around = text[max(0, at - 300) : found.end() + 300]
    if "se=" in around and ("sv=" in around or "sp=" in around):
        return Secret(*found.span("secret"), SIGNATURE)
    return None


RULES: tuple[tuple[bytes, Rule], ...] = (
    *NAME_RULES,
    (b"://", _url),
    (b"bearer", _bearer),
    (b"auth", _authorization),
    (b"login(", _arguments),
    (b"credential(", _arguments),
    (b"usernamepassword(", _arguments),
    (b"-----begin ", private_key),
    (b"-----end ", private_key_end),
    (b"private-lines:", putty_key),
    (b"sig=", _signature),
    (b"-signature=", _long_signature),
    (b"hooks", _hook),
    *COMMANDS,
)

COOKIES = ((b"cookie", "--"), (b" -b ", ""))
"""Where cookies stand, each with what may be before the word."""


def secrets_in_context(text: str, low: bytes, offset: int) -> Iterator[Secret]:
    """The secrets with a name or a place; `low` has a byte for each character from `offset`."""
    for word, rule in RULES:
        here = low.find(word)
        while here >= 0:
            found = rule(text, offset + here)
            after = here + len(word)
            if isinstance(found, Secret):
                yield found
                after = max(after, found.end - offset)
            elif found is not None:
                after = max(after, found - offset)
            here = low.find(word, after)
    for begin in HASHES.finditer(low):
        if (hashed := password_hash(text, offset + begin.start())) is not None:
            yield hashed
    for word, before in COOKIES:
        here = low.find(word)
        while here >= 0:
            at = offset + here + (not before)
            if before and text.startswith(before, at - 2) and text[at + 6 : at + 7] in " =\t":
                at -= 2
            found, end = _cookie(text, at)
            yield from found
            here = low.find(word, max(here + len(word), end - offset))
