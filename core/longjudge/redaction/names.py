"""Finds the values that stand under the name of a secret, however the two are put together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.redaction.runs import Secret
from longjudge.redaction.values import PASSWORD, SECRET, is_phrase, is_random, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[[str, int], "Secret | int | None"]
    """Takes a text and where the word stands in it; a number says how far it has looked."""

AWS, AZURE = "aws-secret-key", "azure-key"

_I = re.IGNORECASE | re.ASCII
_TAIL = (
    r"(?:s|[_-]?(?:access[_-]?key|key[_-]?base|key|token|hash|value|prod(?:uction)?|dev(?:elopment)?"
    r"|test|live|staging|old|new|base64|b64|string|plain|raw|v?\d{1,3}))?"
)
_WORDS_BY_NAME: tuple[tuple[str, str, str], ...] = (
    # The word, the rest of the name's own word, the kind.
    ("passw", "(?:or)?d", PASSWORD),
    ("passphrase", "", PASSWORD),
    ("pass", "", PASSWORD),
    ("contrase", r"(?:[nñ]|\\{1,3}u00f1)a", PASSWORD),
    ("pwd", "", PASSWORD),
    ("pw", "", PASSWORD),
    ("secret", "", SECRET),
    ("token", "", SECRET),
    ("key", "", SECRET),
    ("credential", "s?", SECRET),
)
_ESCAPE = r"(?:\x1b|\\u001b|\\x1b|\\e|\\033)"
_COLOUR = rf"(?:{_ESCAPE}\[[\d;]{{0,12}}m)?"
# A quote, also as pages and addresses write it.
_MARK = r"""(?:\\{0,15}["'`]|&quot;|%22|\\{1,3}u0022)"""
_SEPARATOR = rf"""\*{{0,2}}{_COLOUR}(?P<closed>{_MARK})?\]?\s{{0,40}}
(?:(?::\s{{0,3}}(?:Optional\[)?(?:str|string|String|&str|char\s?\*)\]?\s{{0,3}}=(?!=))
|(?::=|=>|={{1,3}}|:(?!:)|%3D|%3A)|(?P<comma>,)|(?:\stype=["'][\w:]{{1,40}}["'])?>(?=[^<>\s]{{4,200}}</)
|(?P<call>\()|(?P<cell>\|(?!\|)))\*{{0,2}}\s{{0,8}}{_COLOUR}(?:&quot;|%22|\\{{1,3}}u0022|!!str[ ])?
(?:(?:\[\]byte)?\((?:\s|\\{{1,7}}[nrt]){{0,24}}(?=[rbfu]?\\{{0,15}}["']))?
(?P<block>[|>][+-]?[ ]{{0,4}}(?:\n|\\{{1,7}}n)[ ]{{1,40}})?"""
# The name in one entry and the value in the next, as lists of variables have it.
_GAP = r"(?:\s|\\{1,7}[nrt]){1,40}"
_APART = (
    rf"""(?P<closed>\\{{0,15}}["'])?,?{_GAP}(?:\\{{0,15}}["'])?value(?:\\{{0,15}}["'])?"""
    r"""\s{0,3}[:=]\s{0,3}"""
)
_APART_TIGHT = r"""\\{0,15}["'],\\{0,15}["']value\\{0,15}["']:"""
_PROSE = re.compile(r"\s{1,3}(?:is|was)\s{0,2}:?\s{1,3}", re.ASCII)
# A name and a value with nothing but blanks, an arrow or a remark between.
_BESIDE = re.compile(
    r"""[ \t]{1,20}(?:(?:->|→|-)[ \t]{1,8}|\([^()\n]{1,30}\):?[ \t]{1,8})?(?:\\{0,7}["'])?"""
    r"""(?P<secret>[\w+/=~-]{20,200}+)(?=(?:\\{0,7}["'])?(?:\s|\\[nr]|[,;.]\s|\Z)|\\{0,7}["'])""",
    re.ASCII,
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HEX = re.compile("[0-9a-f]{32,64}")
_OPTION = re.compile(r"(?:\s{1,4}|=)", re.ASCII)
_QUOTE = re.compile(r"""[rbfu]?(\\{0,15})(["'`])""", re.ASCII)
_BARE = re.compile(r"""[^\s"'`,;&|<>(){}\[\]\\\x1b]++""")
_SETTING = re.compile(r"""[^\s"'`;&|<>\\\x1b]++""")
_IN_QUOTES = {quote: re.compile(rf"(?:[^\\\s{quote}]|\\[^\s])*+") for quote in "\"'`"}
_IN_ESCAPED_QUOTES = re.compile(r"""(?:[^\\\s"'`]|\\[^\s"'`\\nrt])*+""")
_PHRASE = {
    quote: re.compile(rf"(?:[^\\\n{quote}]|\\[^\nnrt]){{1,100}}+(?={quote})") for quote in "\"'`"
}
_ESCAPED_PHRASE = re.compile(r"""[^\\\n"'`]{1,100}+(?=\\{1,7}["'`])""")
_KEY_NAMES = _words(
    """
    & ? access account admin aes algolia anthropic api app application auth aws azure cipher
    claude client cloud cloudant cloudflare cohere cookie cos crypto database datadog db
    deploy encryption firebase gcp gemini github gitlab google groq hmac iam ibm jwt license
    mailgun master mistral openai pinecone priv private registry secret sendgrid sentry
    service session shared signing slack softlayer storage stripe subscription supabase twilio
    webhook
    """
)
_OTHER_KEYS = re.compile(r"(?:PUBLIC|PUB|CACHE|PRIMARY|FOREIGN|SORT|PARTITION|HOST|ROUTING)_?\Z")
_PUBLIC_KEYS = re.compile(r"--(?:recv|receive|send|search|export|list|delete|refresh|sign)-\Z")
_PASS_NAMES = _words(
    """
    account admin amqp api app artifactory auth backup basic become bot database db default
    docker elastic ftp git http imap jenkins jira kafka key keystore ldap login mail mongo
    mqtt my mysql nexus pg postgres priv proxy rabbit rabbitmq redis registry root sa service
    sftp smtp sonar ssh sudo svc system truststore user usr vault wifi
    """
)
_USER_BESIDE = re.compile(
    r"""(?:\b|(?<=\\n))user(?:name)?\\{0,3}["']?\s{0,3}[:=][^:=]{1,60}\Z""", _I
)
_OTHER_TOKENS = _words(
    """
    bos cancellation cls continuation cursor eos input mask max min next num output pad page
    pagination sep special stop sync total unk
    """
)
_OF_FILES = (":", ": ", "=")
_WORD_TO_THE_END = re.compile(r"""[^\s"'`,;(){}\[\]<>\\]{4,}+(?=[ \t]*(?:\r?\n|\Z|\\[rn]))""")
_IS_NAME = re.compile(r"""\\{0,3}["'`]\s{0,3}:""")
_SECTION = re.compile(
    r"(?:^|\\n)\[(?!redacted )[\w.: -]{1,60}\][ \t]{0,8}(?:\r?$|\\[rn])", re.MULTILINE | re.ASCII
)
_NETRC = re.compile(r"\blogin\s{1,4}\S{1,80}\s{1,8}\Z", re.ASCII)
_CONNECTION = re.compile(
    r"(?:server|data source|host|user id|uid|driver|initial catalog|database|addr|address)\s?=", _I
)
_IN_CONNECTION = re.compile(r"""[^;"'\\\r\n<>]{4,128}+(?=;|\\?["']|\\[rn]|\r?\n|\Z)""")
_FALLBACK = re.compile(
    r"""[^\n"';#{}]{0,60}(?:["'][\w.-]{0,40}["'][)\]]{1,2})?\s{0,3}(?:\bor|\|\||\?\?)\s{1,3}(?=["'`])"""
)
_DEFAULT = re.compile(r"""["']?\$\{\w{1,60}(?::?[-=]|:)(?P<secret>[^}\s"'`$]{4,100})\}""", re.ASCII)
_FALLBACK_CHARS = 120
_LONG_VALUE = 200
_LEFT = 24
_NAME_LEFT = 14
_AFTER_NAME = frozenset("\"'`:=%&,>|(]*\\\x1b \t\n\r\f\v")


def _name_rule(word: str, rest: str, kind: str) -> Rule:
    name = re.compile(re.escape(word) + rest + _TAIL, _I)
    named = re.compile(
        f"(?P<name>{re.escape(word)}{rest}{_TAIL}){_SEPARATOR}",
        re.IGNORECASE | re.VERBOSE | re.ASCII,
    )
    apart = re.compile(f"(?P<name>{re.escape(word)}{rest}{_TAIL})(?:{_APART}|{_APART_TIGHT})", _I)

    def rule(text: str, at: int) -> Secret | int | None:
        bare = name.match(text, at)
        if bare is None or text[bare.end() : bare.end() + 1] not in _AFTER_NAME:
            return None
        left = text[max(0, at - _LEFT) : at]
        is_a_name = _is_a_name(word, left, text, at)
        is_option = "--" in left or _is_dash(left)
        if not is_a_name and not is_option:
            return None
        if is_a_name and (found := apart.match(text, at)) is not None:
            return _checked(text, found.end(), kind, setting=True)
        if (found := named.match(text, at)) is not None:
            return _value(text, found, left, kind) if is_a_name else None
        if is_option and (value := _of_option(text, bare.end(), left, kind)) is not None:
            return value
        return _after_blank(text, bare, kind) if is_a_name else None

    return rule


_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."


def _ends_in(left: str, words: tuple[str, ...]) -> bool:
    """Whether one of some words stands in front of another one, at most a mark between."""
    low = left.lower()
    return (low[:-1] if low[-1:] in ("_", "-", " ") else low).endswith(words)


def _is_a_name(word: str, left: str, text: str, at: int) -> bool:
    if word == "key":
        if _ends_in(left, _KEY_NAMES):
            return True
        return text.startswith("KEY=", at) and not _OTHER_KEYS.search(left[-_NAME_LEFT:])
    if word == "token":
        return not _ends_in(left, _OTHER_TOKENS)
    if word in ("pass", "pw"):
        if _ends_in(left, _PASS_NAMES):
            return True
        alone = left.endswith(("\\n", "\\t")) or not (left[-1:].isalnum() or left[-1:] in "_-.")
        alone = alone or not left
        return alone and (
            text.startswith("PASS=", at)
            or _USER_BESIDE.search(text, max(0, at - 90), at) is not None
        )
    if word == "pwd":
        if left[-1:] in ("'", '"') and (text[at + 3 : at + 12].lstrip("\\")[:1] == left[-1:]):
            return True
        # The shell's working folder has this name.
        return not (left[-1:].isalpha() and left[-3:].upper() == "OLD") and (
            (left[-1:] in "_-.;" and left != "") or left[-1:].isalpha()
        )
    return True


def _is_dash(left: str) -> bool:
    return left[-1:] == "-" and left[-2:-1].isspace()


def _of_option(text: str, end: int, left: str, kind: str) -> Secret | int | None:
    """The value of an option of a command, after a space."""
    dashes = left.rstrip("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not left[len(dashes) :].startswith("--") and not (left.endswith("--") or _is_dash(left)):
        return None
    gap = _OPTION.match(text, end)
    if gap is None or _PUBLIC_KEYS.search(left):
        return None
    return _checked(text, gap.end(), kind, setting=False)


def _after_blank(text: str, name: re.Match[str], kind: str) -> Secret | int | None:
    """The value after a name alone: in prose, in SQL, in a file of logins."""
    start = name.end()
    prose = _PROSE.match(text, start)
    if prose is not None:
        secret = _checked(text, prose.end(), kind, setting=False)
        if not isinstance(secret, Secret) or _QUOTE.match(text, prose.end()):
            return secret
        value = text[secret.start : secret.end]
        return secret if len(value) >= 6 and (kind == PASSWORD or is_random(value)) else None
    if kind != PASSWORD:
        beside = _BESIDE.match(text, start)
        return (
            Secret(*beside.span("secret"), kind) if beside and _is_long(beside["secret"]) else None
        )
    if not text[start : start + 1].isspace():
        return None
    if name.group() == "PASSWORD" and text[start + 1 : start + 2] == "'":
        return _checked(text, start + 1, kind, setting=False)
    if _NETRC.search(text, max(0, name.start() - 100), name.start()):
        return _checked(text, start + 1, kind, setting=True)
    return None


def _without_escape(before: str, name: str) -> str:
    """A name without the letter of a written-out line end in front of it."""
    return name[1:] if before.endswith("\\") and name[:1] in "nrt" else name


def _is_long(value: str) -> bool:
    """Whether a value is too random to be anything but a key: both cases and digits, or hex."""
    return is_secret(value, SECRET, quoted=False, setting=False) and (
        (value.lower() != value and value.upper() != value) or _HEX.fullmatch(value) is not None
    )


def _value(text: str, found: re.Match[str], left: str, kind: str) -> Secret | int | None:
    """The value after a name with its separator."""
    start = found.end()
    quoted = _QUOTE.match(text, start) is not None
    separator = text[found.end("name") : start]
    if not quoted and "\n" in separator and not found["block"]:
        return None
    before = left.rstrip(_NAME_CHARS)
    whole = _without_escape(before, left[len(before) :] + found["name"])
    odd = False
    if found["comma"]:
        odd = kind == PASSWORD
        if not (quoted and found["closed"]):
            return None
        if not before[:-1].endswith("(") and not whole.startswith("--"):
            # A list, unless both are arguments, or an option and what follows it.
            return None
    if found["call"]:
        method = whole.rsplit(".", 1)[-1].lower()
        odd = not method.startswith("set")
        if (
            not quoted
            or found["closed"]
            or not (method.startswith(("set", "with")) or "." in whole)
        ):
            return None
    if found["cell"]:
        cell = _BARE.match(text, start)
        if kind != PASSWORD or quoted or cell is None or text[cell.end() :][:3].lstrip()[:1] != "|":
            return None
    setting = (
        (separator == "=" and (whole.isupper() or whole.startswith("-D")))
        or left.endswith(":_")
        or separator.endswith(">")
    )
    if kind == PASSWORD and not quoted:
        if before.endswith((";", "; ")) and (secret := _of_connection(text, found, separator)):
            return secret
        if separator in _OF_FILES or (
            separator == " = " and _SECTION.search(text, max(0, found.start() - 300), found.start())
        ):
            setting = setting or _is_whole_line(text, found.end("name") - len(whole), start)
    secret = _checked(text, start, kind, setting=setting, odd=odd)
    if isinstance(secret, Secret):
        if found["comma"] and _IS_NAME.match(text, secret.end):
            return None
        value = text[secret.start : secret.end]
        named = found["name"].lower() != "key" or _ends_in(left.rstrip("?&"), _KEY_NAMES)
        if not named and not is_random(value):
            # Many keys open nothing: one without a name that says so must look like one that does.
            return None
        if whole.lower() == "pass" and separator == "=" and len(value) < 8:
            return None
        return secret._replace(kind=_kind(value, whole, kind))
    if secret is None and not found["comma"] and (not quoted or text[start + 1 : start + 2] == "$"):
        return _of_fallback(text, start, kind)
    return secret


def _of_connection(text: str, found: re.Match[str], separator: str) -> Secret | None:
    """Anything up to the `;`, where a database's connection is described."""
    if separator.strip() != "=" or not _CONNECTION.search(
        text, max(0, found.start() - 300), found.start()
    ):
        return None
    value = _IN_CONNECTION.match(text, found.end())
    if value is None or not is_secret(value.group(), PASSWORD, quoted=True, setting=True):
        return None
    return Secret(value.start(), value.end(), PASSWORD)


def _of_fallback(text: str, start: int, kind: str) -> Secret | None:
    """What is taken where the value that is read from elsewhere is not there."""
    default = _DEFAULT.match(text, start)
    if default is not None:
        first, last = default.span("secret")
        found = is_secret(text[first:last], kind, quoted=False, setting=False)
        return Secret(first, last, kind) if found else None
    near = text[start : start + _FALLBACK_CHARS]
    if not any(word in near for word in ("or ", "|| ", "?? ")):
        return None
    fallback = _FALLBACK.match(text, start)
    if fallback is None:
        return None
    secret = _checked(text, fallback.end(), kind, setting=False, odd=True)
    return secret if isinstance(secret, Secret) else None


def _is_whole_line(text: str, name: int, value: int) -> bool:
    """Whether a line holds a name and a word and nothing else, as the files of settings do."""
    before = text[max(0, name - 40) : name]
    line = max(before.rfind("\n") + 1, before.rfind("\\n") + 2 if "\\n" in before else 0)
    word = _WORD_TO_THE_END.match(text, value)
    return word is not None and not before[line:].strip(" \t+-") and not word.group()[0].isupper()


def _checked(
    text: str, start: int, kind: str, *, setting: bool, odd: bool = False
) -> Secret | int | None:
    """What stands here, if it is a secret; `odd` where only what is no word is one."""
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
        # Words: a text about secrets, mostly.
        inside = _ESCAPED_PHRASE if quote[1] else _PHRASE[quote[2]]
        phrase = inside.match(text, quote.end())
        if kind == PASSWORD and not odd and phrase is not None and is_phrase(phrase.group()):
            return Secret(*phrase.span(), kind)
        return last
    if quote is None:
        if text[last : last + 1] in "([" and text[last : last + 1]:
            return None if last - first < _LONG_VALUE else last
        last = first + len(body.group().rstrip(".,:!?"))
    quoted = quote is not None and not odd
    if is_secret(text[first:last], kind, quoted=quoted, setting=setting):
        return Secret(first, last, kind)
    return last if last - first > _LONG_VALUE else None


def _kind(value: str, name: str, kind: str) -> str:
    low = name.lower().replace("_", "").replace("-", "")
    if len(value) == 40 and "secretaccesskey" in low:
        return AWS
    if value.endswith("==") and low.endswith(("accountkey", "accesskey")):
        return AZURE
    return kind


NAME_RULES: tuple[tuple[bytes, Rule], ...] = tuple(
    (word.encode(), _name_rule(word, rest, kind)) for word, rest, kind in _WORDS_BY_NAME
)
"""A word in lower case, and what looks at what stands around it."""
