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
    }
)
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+", re.ASCII)
_WORD = r"(?:[A-Z]?[a-z]+\d{0,3}|[A-Z]+\d{0,3}|\d{1,4}[a-z]{0,2})"
_WORDS = re.compile(rf"{_WORD}(?:[-_./: ]{_WORD})+", re.ASCII)
_PATH = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)[/\\]")
_CAMEL = re.compile(r"(?:[A-Z]{0,5}[a-z]{3,}|[A-Z]{2,5}|[a-z]{1,2}(?=[A-Z]))+", re.ASCII)
_SYMBOL = re.compile(r"[!@#$%^&*+=~?]")
_PATTERN = re.compile(r"\\[wdsSWD.]|\[[^\]]*\]|\(\?")

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
    if _is_path(value) or (not quoted and _CHAIN.fullmatch(value)):
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
        )
    if not any(map(str.isalpha, value)) or _PATTERN.search(value):
        return False
    if not digits:
        # Letters alone are words, unless they are many and of both cases in disorder.
        letters = value.replace("_", "")
        many = len(letters) >= 24 and _changes(letters) >= len(letters) // 4
        return many and not _CAMEL.fullmatch(letters)
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


def _is_path(value: str) -> bool:
    # An AWS secret may begin with a slash as well, and has no dot.
    return _PATH.match(value) is not None and not (len(value) == 40 and "." not in value)


def _changes(value: str) -> int:
    """How often the case changes from one letter to the next."""
    return sum(a.isupper() != b.isupper() for a, b in pairwise(value))
