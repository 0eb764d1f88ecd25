"""TOML files that people write: read safely, and every fault named with its line.

Python's parser tells the line of a syntax error but not of a key. A key's line is found with the
same parser: the first lines of a file parse alone, except where they end inside a value, and the
key begins on the line after the longest beginning that lacks it.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pydantic import ValidationError

    Key = Sequence[str | int]

MAX_TOML_BYTES = 100_000

_SEARCH_CHARS = 3_000_000
"""Parsed at most in search of a line: a few seconds at worst, for a file made to be slow."""

_DEEP_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){200}"""
)
"""A dotted key of so many parts that the parser takes minutes for it."""

_FAULTS = {
    "missing": "missing; add it",
    "string_type": "no text; write it in quotes",
    "int_type": "no whole number; write one, without quotes",
    "float_type": "no number; write one, without quotes",
    "finite_number": "no number; write a finite one",
    "bool_type": "neither true nor false; write one of them, without quotes",
    "dict_type": "no table; write one",
    "model_type": "no table; write one",
    "model_attributes_type": "no table; write one",
    "list_type": "no list; write one in brackets",
    "tuple_type": "no list; write one in brackets",
    "greater_than": "out of range; use more than {gt:g}",
    "greater_than_equal": "out of range; use {ge:g} or more",
    "less_than": "out of range; use less than {lt:g}",
    "less_than_equal": "out of range; use at most {le:.16g}",
    "string_too_short": "too short; use {min_length} characters or more",
    "string_too_long": "too long; use at most {max_length} characters",
    "too_short": "too few; write {min_length} or more",
    "too_long": "too many; write at most {max_length}",
    "enum": "unknown; use {expected}",
}
"""What is said of pydantic's types of errors; others bring their own words."""


class TomlError(Exception):
    """A file that cannot be read; the message is one line that names it."""


def read_toml(path: Path) -> str:
    """The text of a file.

    Raises:
        TomlError: no regular file, too large, or not UTF-8.
        OSError: it cannot be opened.
        ValueError: the path is none.
    """
    name = clean_line(os.fspath(path))
    # A FIFO without a writer would block an ordinary open for ever.
    more = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | more)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise TomlError(f"{name}: not a file; name a TOML file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_TOML_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_TOML_BYTES:
        raise TomlError(f"{name}: larger than {MAX_TOML_BYTES} bytes; shorten it")
    try:
        # Some editors begin a file with a mark of its encoding.
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TomlError(f"{name}:{line}: not UTF-8; save it as UTF-8") from error


def parse_toml(text: str, origin: str) -> dict[str, object]:
    """Parse; `origin` names the file in errors.

    Raises:
        TomlError: names the line.
    """
    where = clean_line(origin)
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise TomlError(f"{where}:{line}: nested too deeply; flatten it")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise TomlError(f"{where}: nested too deeply; flatten it") from error
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).rpartition(" (at ")
        line = _line_said(place) or _unfinished(text)
        raise TomlError(f"{where}:{line}: not valid TOML: {clean_line(said)}; mend it") from error
    except ValueError as error:
        # Python makes no number of thousands of digits, and the parser lets its error through.
        line = _unfinished(text)
        raise TomlError(f"{where}:{line}: a number has too many digits; shorten it") from error


def _line_said(place: str) -> int | None:
    """The number in `line 3, column 7)`; None for `end of document)`."""
    digits = place.partition("line ")[2].partition(",")[0]
    return int(digits) if digits.isdecimal() else None


def _unfinished(text: str) -> int:
    """The line on which begins what the end of the document cuts off, or what cannot be read."""
    lines = text.split("\n")
    left = _SEARCH_CHARS
    for count in range(len(lines) - 1, 0, -1):
        beginning = "\n".join(lines[:count]) + "\n"
        left -= len(beginning)
        if left < 0:
            return len(lines)
        if _try(beginning) is not None:
            return count + 1
    return 1


def line_of(text: str, key: Key) -> int | None:
    """The line, from 1, on which a key of a valid document begins; 1 for the document itself.

    None where the key is absent, or where the file takes too long to search.
    """
    # Split as the parser does, which takes no other character for the end of a line.
    lines = text.split("\n")
    if not _holds(_try(text), key):
        return None
    left = _SEARCH_CHARS
    # The first `lacking` lines parse and lack the key; whichever first `holding` or more lines
    # parse hold it.
    lacking, holding = 0, len(lines)
    while holding - lacking > 1:
        middle = probe = (lacking + holding) // 2
        table = None
        while probe < holding and table is None:
            beginning = "\n".join(lines[:probe]) + "\n"
            left -= len(beginning)
            if left < 0:
                return None
            table = _try(beginning)
            probe += table is None
        if table is None or _holds(table, key):
            holding = middle
        else:
            lacking = probe
    return lacking + 1


def _try(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _holds(value: object, key: Key) -> bool:
    for part in key:
        if isinstance(value, dict) and part in value:
            value = cast("dict[object, object]", value)[part]
        elif isinstance(value, list) and isinstance(part, int):
            items = cast("list[object]", value)
            if part >= len(items):
                return False
            value = items[part]
        else:
            return False
    return value is not None


def faults(
    error: ValidationError,
    text: str,
    origin: str,
    known: Callable[[Key], Iterable[str]],
    patterns: Mapping[str, str],
) -> list[str]:
    """One line per fault, `FILE:LINE: key: fault; what to do`, in order; no value is repeated.

    `known` gives the keys that a table may have; `patterns` says of a key what its text must be.
    """
    lines: list[tuple[int, str]] = []
    meant: set[tuple[str | int, ...]] = set()
    # Unknown keys first: a misspelt one explains why another is missing.
    details = error.errors(include_url=False, include_input=False)
    for found in sorted(details, key=lambda one: one["type"] != "extra_forbidden"):
        depth = len(found["loc"])
        if any(len(one["loc"]) > depth and one["loc"][:depth] == found["loc"] for one in details):
            # Faults inside of a list make it look too short as well.
            continue
        kind, more = found["type"], cast("dict[str, object]", found.get("ctx", {}))
        # `[key]` stands for a table's key itself; `key` is where a check of the whole points to.
        key = tuple(part for part in found["loc"] if part != "[key]")
        key += cast("tuple[str | int, ...]", more.get("key", ()))
        if kind == "extra_forbidden":
            names = sorted(known(key[:-1]))
            close = get_close_matches(str(key[-1]), names, n=1)
            meant.update((*key[:-1], name) for name in close)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"
            message = f"unknown key; {hint}"
        elif kind == "missing" and key in meant:
            continue
        elif kind == "string_pattern_mismatch":
            message = patterns[str(key[-1])]
        elif kind in _FAULTS:
            message = _FAULTS[kind].format_map(more)
        else:
            message = found["msg"].removeprefix("Value error, ")
        name = ".".join(str(part) for part in key)
        line = _nearest_line(text, key)
        place = f"{clean_line(origin)}:{line}" if line else clean_line(origin)
        lines.append((line or 0, f"{place}: {clean_line(name)}: {clean_line(message)}"))
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


def _nearest_line(text: str, key: Key) -> int | None:
    """The line of a key, or of the table that it is missing from."""
    table = _try(text)
    while key and not _holds(table, key):
        key = key[:-1]
    return line_of(text, key) if key else 1
