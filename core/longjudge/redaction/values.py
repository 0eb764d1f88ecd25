"""Tells a value that is a secret from one that only stands where a secret would."""

from __future__ import annotations

import re
from itertools import pairwise

SECRET, PASSWORD = "secret", "password"
"""What is known by its name alone."""

_REFERENCE = re.compile(
    r"\$(?:\{|\(|\[|[A-Za-z_]\w*$|\d[\d.,]*(?:/\w+)?$)|%\w+%$|%[sdr({]|\{|<|@\w+@$|#\{|!\w+|&\w+$"
    r"|\*{2,}|\.{2,}|…|•|[a-z][a-z+.-]{1,12}://"
    r"|\[redacted|os\.|process\.env|env[.\[(:]|ENV[.\[(]|getenv|secrets?[.\[]|vars?\.|config[.\[]"
    r"|settings[.\[]|self\.|this\.|args\.|options?\.|ctx\.|req(?:uest)?\.|res(?:ponse)?\.|data\.",
    re.ASCII,
)
"""What begins so is read from elsewhere, or filled in later."""

_STAND_IN = re.compile(
    r"your|example|change.?me|place.?holder|redacted|dummy|insert|replace|xxxx|\*\*\*|\.\.\.|todo"
    r"|<[\w -]+>|not.?set|unset|omitted|hidden|masked|sample|goes.?here|\bhere\b|_here|\$\{|\{\{"
    r"|%\(",
    re.IGNORECASE,
)
_NO_VALUES = frozenset(
    {
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "empty",
        "str",
        "string",
        "text",
        "bytes",
        "bool",
        "int",
        "any",
        "optional",
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "apikey",
        "api_key",
        "api",
        "key",
        "default",
        "required",
        "missing",
        "basic",
        "bearer",
        "digest",
        "invalid",
        "valid",
        "expired",
        "prompt",
        "stdin",
        "input",
        "env",
        "file",
        "value",
        "test",
        "testing",
        "admin",
        "user",
        "username",
        "hidden",
        "confirm",
        "new_password",
        "old_password",
        "current_password",
        "var",
        "let",
        "const",
        "type",
        # What the word itself is for people who read other languages.
        "adgangskode",
        "clave",
        "contraseña",
        "hasło",
        "heslo",
        "jelszó",
        "kennwort",
        "lozinka",
        "lösenord",
        "parola",
        "parole",
        "passord",
        "passwort",
        "salasana",
        "senha",
        "sandi",
        "wachtwoord",
        "şifre",
        "κωδικός",
        "пароль",
        "סיסמה",
        "รหัสผ่าน",
        "パスワード",
        "비밀번호",
    }
)
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+", re.ASCII)
_WORD = r"(?:[A-Z]?[a-z]+\d{0,3}|[A-Z]+\d{0,3}|\d{1,4}[a-z]{0,2})"
_WORDS = re.compile(rf"{_WORD}(?:[-_./: ]{_WORD})+", re.ASCII)
_PATH = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)[/\\]")
_CAMEL = re.compile(r"(?:[A-Z]{0,5}[a-z]{3,}|[A-Z]{2,5}|[a-z]{1,2}(?=[A-Z]))+", re.ASCII)
_CLASS = re.compile(r"(?:[A-Z]{1,6}[a-z]{2,}|[a-z]{3,}|[A-Z]{2,6}|V?\d{1,3})+", re.ASCII)
_CLASS_WORD = re.compile("[A-Z][a-z]{2,}")
_CLASS_WORDS = 2

_SYMBOL = re.compile(r"[!@#$%^&*+=~?]")
_PATTERN = re.compile(r"\\[wdsSWD.]|\[[^\]]*\]|\(\?")

_PARTS = re.compile(r"[./:\\>-]+")
_LONG = 2_000
_ALGORITHM = re.compile(
    r"(?:base|sha|md|utf|aes|rsa|hs|rs|ed|x|v)-?\d+(?:[-_]?(?:sum|encoded|hashed|hash))?"
)
_FORMAT = re.compile(r"%[sdr(]|\{|<|\$\(|=|\b\w+\(")
_SPEECH = re.compile(
    r"\b(?:an|the|is|are|was|be|been|must|should|may|can|cannot|not|no|or|and|of|to|for|in|on|at|by"
    r"|with|from|your|you|this|that|it|its|if|when|please|enter|type|choose|create|confirm|repeat"
    r"|change|reset|forgot|forgotten|lost|set|show|hide|use|used|using|provide|give|wrong|bad"
    r"|incorrect|invalid|required|missing|empty|weak|strong|short|long|least|most|minimum|maximum"
    r"|min|max|characters?|chars|letters|digits|length|between|than|passwords?|passphrase|passwort"
    r"|passe|passcode|pin|code|token|login|log|sign|account|user|username|email|field|value|string"
    r"|error|err|failed|failure|input|hash|hashed|bcrypt|encrypted|plain|text|select|where|insert"
    r"|update|de|la|le|les|el|los|das|der|die|und|et|un|una|het|een)\b"
)
"""Words of texts about passwords, and few of passwords."""

_LEAST = {SECRET: 8, PASSWORD: 4}
_VARIED = 5


def is_secret(value: str, kind: str, *, quoted: bool, setting: bool) -> bool:
    """Whether a value under the name of a secret is one.

    `quoted` where it stood in quotes; `setting` where its name is in capitals and an `=` follows,
    so that it is no code.
    """
    low = value[:200].lower()
    if len(value) < _LEAST[kind] or low in _NO_VALUES or _REFERENCE.match(value):
        return False
    if len(set(low)) < (3 if kind == PASSWORD else _VARIED) or _STAND_IN.search(low):
        return False
    if _is_path(value) or (not quoted and _is_chain(value)):
        return False
    digits = any(map(str.isdigit, value))
    if kind == PASSWORD:
        if quoted or setting:
            return True
        return (
            len(value) >= 5
            and not value.isdigit()
            and (digits or _SYMBOL.search(value[:-1]) is not None)
            and not value.endswith((":", ")"))
            and _ALGORITHM.fullmatch(low) is None
        )
    if not any(map(str.isalpha, value)) or _PATTERN.search(value):
        return False
    if not digits:
        # Letters alone are words, unless they are many and of both cases in disorder.
        letters = value.replace("_", "")
        many = len(letters) >= 24 and _changes(letters) >= len(letters) // 4
        return many and not _CAMEL.fullmatch(letters)
    if not quoted and not setting and _is_class(value):
        return False
    return _WORDS.fullmatch(value.strip("_-")) is None


def is_random(value: str) -> bool:
    """Whether a value without a name is no word: for headers and cookies."""
    if len(value) < 16 or len(set(value[:200])) < 8 or _STAND_IN.search(value[:200]):
        return False
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and (_WORDS.fullmatch(value) is None and not _is_path(value))
    )


def is_phrase(value: str) -> bool:
    """Whether words in quotes under the name of a password are one, and not a text for people."""
    low = value.lower()
    if _REFERENCE.match(value) or _STAND_IN.search(low) or _FORMAT.search(value):
        return False
    if _SPEECH.search(low) or not value.isascii():
        return False
    words = value.split()
    body = value.rstrip(".!?:… ")
    if any(map(str.isdigit, body)) or _SYMBOL.search(body):
        return len(words) <= 6 and any(map(str.isalpha, body))
    return 3 <= len(words) <= 8 and all(
        len(word) >= 3 and word.isalpha() and word.islower() for word in words
    )


def _is_class(value: str) -> bool:
    """Whether a value is a name of code with a number in it."""
    return _CLASS.fullmatch(value) is not None and len(_CLASS_WORD.findall(value)) >= _CLASS_WORDS


def _is_chain(value: str) -> bool:
    """Whether a value is a member of something in code."""
    return _CHAIN.fullmatch(value) is not None and not any(map(_is_mixed, _PARTS.split(value)))


def _is_path(value: str) -> bool:
    # A secret in base64 may begin with a slash as well, and has no names between two.
    if _PATH.match(value) is None or (len(value) == 40 and "." not in value):
        return False
    return not any(map(_is_mixed, _PARTS.split(value[:_LONG])))


def _is_mixed(part: str) -> bool:
    """Whether a part of a name is too long and too mixed to be one."""
    return (
        len(part) >= 24
        and "_" not in part
        and any(map(str.isdigit, part))
        and any(map(str.isupper, part))
        and any(map(str.islower, part))
    )


def _changes(value: str) -> int:
    """How often the case changes from one letter to the next."""
    return sum(a.isupper() != b.isupper() for a, b in pairwise(value))
