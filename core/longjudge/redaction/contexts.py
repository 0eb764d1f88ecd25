"""Finds the secrets that are known by what stands around them.

Each rule is reached by a word in lower case, and looks at what stands around that word alone.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING

from longjudge.redaction.runs import Secret
from longjudge.redaction.values import PASSWORD, SECRET, is_random, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rule = Callable[[str, int], "Secret | int | None"]
    """Takes a text and where the word stands in it; a number says how far it has looked."""

PRIVATE_KEY, BASIC, OKTA = "private-key", "basic-auth", "okta-token"
AWS, AZURE, SIGNATURE = "aws-secret-key", "azure-key", "azure-signature"
SLACK_HOOK, DISCORD_HOOK = "slack-webhook", "discord-webhook"
CONTEXT_KINDS = frozenset(
    {SECRET, PASSWORD, PRIVATE_KEY, BASIC, OKTA, AWS, AZURE, SIGNATURE, SLACK_HOOK, DISCORD_HOOK}
)

_I = re.IGNORECASE | re.ASCII
_TAIL = (
    r"(?:s|[_-]?(?:access[_-]?key|key[_-]?base|key|token|hash|value|prod(?:uction)?|dev(?:elopment)?"
    r"|test|live|staging|old|new|base64|b64|string|plain|raw|v?\d{1,3}))?"
)
_WORDS_BY_NAME: tuple[tuple[str, str, str], ...] = (
    # The word, the rest of the name's own word, the kind.
    ("passw", "(?:or)?d", PASSWORD),
    ("passphrase", "", PASSWORD),
    ("pwd", "", PASSWORD),
    ("secret", "", SECRET),
    ("token", "", SECRET),
    ("key", "", SECRET),
    ("credential", "s?", SECRET),
)
_SEPARATOR = r"""(?P<closed>\\{0,3}["'`])?\]?\s{0,8}
(?:(?::\s{0,3}(?:Optional\[)?(?:str|string|String|&str|char\s?\*)\]?\s{0,3}=(?!=))
|(?::=|=>|={1,3}|:(?!:))|(?P<comma>,)|>(?=[^<>\s]{4,200}</))\s{0,8}"""
_OPTION = re.compile(r"(?:\s{1,4}|=)", re.ASCII)
_QUOTE = re.compile(r"""[rbfu]?(\\{0,3})(["'`])""", re.ASCII)
_BARE = re.compile(r"""[^\s"'`,;&|<>(){}\[\]\\]++""")
_SETTING = re.compile(r"""[^\s"'`;&|<>\\]++""")
_IN_QUOTES = {quote: re.compile(rf"(?:[^\\\s{quote}]|\\[^\s])*+") for quote in "\"'`"}
_IN_ESCAPED_QUOTES = re.compile(r"""(?:[^\\\s"'`]|\\[^\s"'`\\nrt])*+""")
_KEY_NAMES = re.compile(
    r"(?:api|access|secret|private|encryption|signing|account|auth|master|service|client|storage"
    r"|shared|webhook|license|admin|deploy|registry|subscription|app|application)[_\- ]{0,1}\Z",
    _I,
)
_OTHER_TOKENS = re.compile(
    r"(?:next|page|pagination|continuation|cursor|sync|max|min|num|total|input|output|eos|bos|pad|unk"
    r"|sep|cls|mask|special|stop|cancellation)[_\- ]?\Z",
    _I,
)
_OF_FILES = (":", ": ", "=")
_WORD_TO_THE_END = re.compile(r"""[^\s"'`,;(){}\[\]<>]{4,}+(?=[ \t]*(?:\r?\n|\Z|\\[rn]))""")
_IS_NAME = re.compile(r"""\\{0,3}["'`]\s{0,3}:""")
_LONG_VALUE = 200


def _name_rule(word: str, rest: str, kind: str) -> Rule:
    name = re.compile(re.escape(word) + rest + _TAIL, _I)
    named = re.compile(
        f"(?P<name>{re.escape(word)}{rest}{_TAIL}){_SEPARATOR}",
        re.IGNORECASE | re.VERBOSE | re.ASCII,
    )

    def rule(text: str, at: int) -> Secret | int | None:
        found = named.match(text, at)
        if found is None:
            if "--" not in text[max(0, at - 24) : at] or (found := name.match(text, at)) is None:
                return None
            return _of_option(text, found.end(), text[max(0, at - 24) : at], kind)
        left = text[max(0, at - 24) : at]
        return _value(text, found, left, kind) if _is_a_name(word, left) else None

    return rule


_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."


def _is_a_name(word: str, left: str) -> bool:
    if word == "key":
        return _KEY_NAMES.search(left) is not None
    if word == "token":
        return _OTHER_TOKENS.search(left) is None
    if word == "pwd":
        # The shell's working folder has this name.
        return not (left[-1:].isalpha() and left[-3:].upper() == "OLD") and (
            (left[-1:] in "_-." and left != "") or left[-1:].isalpha()
        )
    return True


def _of_option(text: str, end: int, left: str, kind: str) -> Secret | int | None:
    """The value of an option of a command, after a space."""
    dashes = left.rstrip("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not left[len(dashes) :].startswith("--") and not left.endswith("--"):
        return None
    gap = _OPTION.match(text, end)
    if gap is None:
        return None
    return _checked(text, gap.end(), kind, setting=False)


def _value(text: str, found: re.Match[str], left: str, kind: str) -> Secret | int | None:
    """The value after a name with its separator."""
    start = found.end()
    quoted = _QUOTE.match(text, start) is not None
    separator = text[found.end("name") : start]
    if not quoted and "\n" in separator:
        return None
    before = left.rstrip(_NAME_CHARS)
    if found["comma"] and not (quoted and found["closed"] and before[:-1].endswith("(")):
        # A list, unless a name in quotes is the first argument and a value in quotes the second.
        return None
    whole = left[len(before) :] + found["name"]
    setting = separator == "=" and whole.isupper()
    if kind == PASSWORD and not quoted and separator in _OF_FILES:
        setting = setting or _is_whole_line(text, found.end("name") - len(whole), start)
    secret = _checked(text, start, kind, setting=setting)
    if isinstance(secret, Secret):
        if found["comma"] and _IS_NAME.match(text, secret.end):
            return None
        return secret._replace(kind=_kind(text[secret.start : secret.end], whole, kind))
    return secret


def _is_whole_line(text: str, name: int, value: int) -> bool:
    """Whether a line holds a name and a word and nothing else, as the files of settings do."""
    line = text.rfind("\n", max(0, name - 40), name) + 1
    before = text[max(line, name - 40) : name]
    word = _WORD_TO_THE_END.match(text, value)
    return word is not None and not before.strip(" \t+-") and not word.group()[0].isupper()


def _checked(text: str, start: int, kind: str, *, setting: bool) -> Secret | int | None:
    quote = _QUOTE.match(text, start)
    if quote is None:
        body = (_SETTING if setting else _BARE).match(text, start)
    elif quote[1]:
        body = _IN_ESCAPED_QUOTES.match(text, quote.end())
    else:
        body = _IN_QUOTES[quote[2]].match(text, quote.end())
    if body is None:
        return None
    first, last = body.span()
    if quote is not None and text[last : last + 1] == " ":
        # Words: a text about secrets, and none itself.
        return last
    if quote is None:
        if text[last : last + 1] in "([" and text[last : last + 1]:
            return last
        last = first + len(body.group().rstrip(".,:!?"))
    if is_secret(text[first:last], kind, quoted=quote is not None, setting=setting):
        return Secret(first, last, kind)
    return last if last - first > _LONG_VALUE else None


def _kind(value: str, name: str, kind: str) -> str:
    low = name.lower().replace("_", "").replace("-", "")
    if len(value) == 40 and "secretaccesskey" in low:
        return AWS
    if value.endswith("==") and low.endswith(("accountkey", "accesskey")):
        return AZURE
    return kind


_URL = re.compile(r"""://(?:[^\s/:@"'`<>]{0,100}):(?P<secret>[^\s/"'`<>]{1,256}+)""")


def _url(text: str, at: int) -> Secret | int | None:
    """The password in `scheme://user:password@host`."""
    found = _URL.match(text, at)
    if found is None:
        return None
    first = found.start("secret")
    last = text.rfind("@", first, found.end())
    if last < 0 or not (text[last + 1 : last + 2].isalnum() or text[last + 1 : last + 2] == "["):
        return found.end() if found.end() - at > _LONG_VALUE else None
    value = text[first:last]
    if len(value) >= 3 and is_secret(value.ljust(4, "\0"), PASSWORD, quoted=True, setting=True):
        return Secret(first, last, PASSWORD)
    return None


_BEARER = re.compile(r"""bearer(?:\s|\\u0020|%20|\+){1,4}(?P<secret>[\w.~+/-]{16,}+={0,2})""", _I)
_AUTHORIZATION = re.compile(
    r"""authorization\\{0,3}["']?\s{0,3}[:=,]\s{0,3}\\{0,3}["']?(?:(?P<scheme>[a-z]{1,12})\s{1,3})?"""
    r"""(?P<secret>[\w.~+/-]{8,}+={0,2})""",
    _I,
)


def _bearer(text: str, at: int) -> Secret | int | None:
    return _credential(text, _BEARER.match(text, at), "bearer")


def _authorization(text: str, at: int) -> Secret | int | None:
    found = _AUTHORIZATION.match(text, at)
    return _credential(text, found, (found and found["scheme"]) or "")


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


_COOKIE = re.compile(r"""cookie2?\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?""", _I)
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


def _signature(text: str, at: int) -> Secret | int | None:
    """The signature of a shared access link, which has its times and rights beside it."""
    found = _SIGNATURE.match(text, at)
    if found is None:
        return None
    around = text[max(0, at - 300) : found.end() + 300]
    if "se=" in around and ("sv=" in around or "sp=" in around):
        return Secret(*found.span("secret"), SIGNATURE)
    return None


_USER = re.compile(r"""-u(?:ser)?[ =]["']?[^\s:'"$]{1,64}:(?P<secret>[^\s'"]{3,200}+)""", re.ASCII)
_FETCHERS = re.compile(r"\b(?:curl|wget|http|https|xh)\b")


def _user(text: str, at: int) -> Secret | int | None:
    """`curl -u user:password`."""
    found = _USER.match(text, at + 1)
    if found is None or not _FETCHERS.search(text, max(0, at - 400), at):
        return None
    first, last = found.span("secret")
    value = text[first:last].rstrip("\\")
    if is_secret(value.ljust(4, "\0"), PASSWORD, quoted=True, setting=True):
        return Secret(first, first + len(value), PASSWORD)
    return None


_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----", re.ASCII)
_KEY_CHARS = 40_000
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=]{16}")
# What may stand between the lines of a key: line ends, also written out; what a diff, a quotation
# or a listing with numbers puts before a line; string quotes of code.
_BETWEEN = r"""(?:\\{1,3}[nr]|[\s"'`,>|+-]|\b\d{1,5}[→|:\t])"""
_BODY = re.compile(
    rf"(?:{_BETWEEN}{{0,24}}+(?:[A-Za-z0-9+/=]{{16,}}+|(?:Proc-Type|DEK-Info|Version|Comment|Charset)"
    rf":[^\n\\]{{0,200}}+))*+(?:{_BETWEEN}{{1,24}}+=?[A-Za-z0-9+/=]{{2,}}+(?=\s*\Z|[\"'`\\….]))?+",
    re.ASCII,
)


def _private_key(text: str, at: int) -> Secret | int | None:
    """A whole block, or what there is of one that was cut off."""
    begin = _BEGIN.match(text, at)
    if begin is None:
        return None
    close = f"-----END {begin[1]}-----"
    body = _BODY.match(text, begin.end())
    last = body.end() if body is not None else begin.end()
    end = text.find(close, begin.end(), begin.end() + _KEY_CHARS)
    is_whole = end >= 0 and text.find("-----BEGIN ", begin.end(), end) < 0
    if is_whole and _KEY_TEXT.search(text, begin.end(), end):
        return Secret(at, end + len(close), PRIVATE_KEY)
    if last - begin.end() < 16:
        return None
    return Secret(at, last, PRIVATE_KEY)


RULES: tuple[tuple[bytes, Rule], ...] = (
    *((word.encode(), _name_rule(word, rest, kind)) for word, rest, kind in _WORDS_BY_NAME),
    (b"://", _url),
    (b"bearer", _bearer),
    (b"authorization", _authorization),
    (b"-----begin ", _private_key),
    (b"sig=", _signature),
    (b"hooks", _hook),
    (b" -u", _user),
    (b"--user", _user),
)


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
    here = low.find(b"cookie")
    while here >= 0:
        found, end = _cookie(text, offset + here)
        yield from found
        here = low.find(b"cookie", max(here + 6, end - offset))
