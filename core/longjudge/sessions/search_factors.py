"""Words of which every match of a pattern has one, so that only some texts need be matched."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from longjudge.sessions.search_words import best_word

if TYPE_CHECKING:
    from collections.abc import Iterable

# Private, and the same since Python 3.11. Whoever reads a pattern in another way than the one that
# matches it may read it wrong.
_parser: Any = import_module("re._parser")
_codes: Any = import_module("re._constants")

Words = frozenset[str]

MOST_WORDS = 8

_TURNS_ON = re.compile(r"\(\?[a-zA-Z]*i")
_REPEATS = frozenset({_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT})
_NO_WIDTH = frozenset({_codes.AT, _codes.ASSERT, _codes.ASSERT_NOT})


def pattern_words(pattern: str, flags: re.RegexFlag) -> Words | None:
    """Words of which each match holds one; None where nothing is sure.

    The pattern is a sound one. Capitals may be others wherever `ignores_case` says so.
    """
    caseless = ignores_case(pattern, flags)
    return _words(_parser.parse(pattern, int(flags)), caseless)


def ignores_case(pattern: str, flags: re.RegexFlag) -> bool:
    """Whether a match may have other capitals than the pattern, anywhere."""
    return bool(flags & re.IGNORECASE) or _TURNS_ON.search(pattern) is not None


def _words(items: Iterable[tuple[object, Any]], caseless: bool) -> Words | None:
    """The best words of what follows one another."""
    choices: list[Words] = []
    run = ""
    for code, value in items:
        if code is _codes.LITERAL:
            run += chr(value)
            continue
        if code in _NO_WIDTH:
            continue
        choices += _of_run(run, caseless)
        run = ""
        if (inner := _of_group(code, value, caseless)) is not None:
            choices.append(inner)
    choices += _of_run(run, caseless)
    return max(choices, key=lambda words: (min(map(len, words)), -len(words)), default=None)


def _of_run(run: str, caseless: bool) -> list[Words]:
    word = best_word(run, caseless=caseless)
    return [frozenset({word})] if word else []


def _of_group(code: object, value: Any, caseless: bool) -> Words | None:
    if code is _codes.SUBPATTERN:
        return _words(value[-1], caseless)
    if code is _codes.ATOMIC_GROUP:
        return _words(value, caseless)
    if code in _REPEATS:
        least, _, inner = value
        return _words(inner, caseless) if least else None
    if code is _codes.BRANCH:
        found = [_words(each, caseless) for each in value[1]]
        if any(each is None for each in found):
            return None
        every = frozenset[str]().union(*(each for each in found if each is not None))
        return every if len(every) <= MOST_WORDS else None
    return None
