"""Finds the JSON objects in a reply, strictly: no key twice, no NaN, nothing repaired.

An object stands by itself when it is the whole text or words stand around it. One that is quoted,
thought of, enclosed by braces, or part of a list or of another object is only mentioned.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, cast

from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
MAX_OBJECTS = 1_000
MAX_BROKEN = 1_000
"""What may be broken: an object costs passes over the text, a list's first characters little."""
_OBJECT_COST, _LIST_COST, _SHORT_COST, _SHORT_CHARS = 20, 10, 1, 100

_BEGINNING = re.compile(r'\{\s{0,100}"|\[\s{0,100}(?:[\[{"\d-]|true|false|null)')
_BRACE = re.compile("[{}]")
_BRACKET = re.compile(r"[{}\[\]]")
_STRING_OR_BRACE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]', re.DOTALL)
_THINKING = re.compile(r"[<\[](/?)(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_QUOTES = frozenset({'""', "''", "“”", "‘’", "«»"})


class UnreadableTextError(ValueError):
    """The text is too deep, too full or too broken to be searched; says so for a person."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A JSON object; `start` and `end` are those of the outermost value that holds it."""

    members: dict[str, object]
    start: int
    end: int
    alone: bool


@dataclass(frozen=True, slots=True)
class FoundObjects:
    """The objects in the order of the text; `fault` says what else there was.

    `broken` has the stretches that were passed over for objects that do not parse.
    """

    objects: tuple[FoundObject, ...]
    fault: str
    broken: tuple[tuple[int, int], ...] = ()


class _FaultError(ValueError):
    """JSON by its form that is none here."""


def find_objects(text: str) -> FoundObjects:
    """Every object that parses, those inside others and inside lists included.

    Where an object does not parse, everything up to its closing brace is passed over, and
    everything to the end where that brace is in doubt: what stands inside a broken object is none.
    What breaks in a thought that the text begins with breaks nothing behind it.

    Raises:
        UnreadableTextError: nothing in the text can be trusted.
    """
    try:
        whole: object = _DECODER.decode(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError:
        search = _Search(text)
        search.run()
        return search.result()
    words = "the reply is a list" if text[0] == "[" else "the reply is no JSON object"
    return FoundObjects(_bounded(_objects(whole, 0, len(text), alone=True)), words)


class _Search:
    """One pass over a text that is not JSON as a whole."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing: dict[int, int] | None = None
        self._values: list[tuple[object, int, int]] = []
        self._fault = "the reply holds no JSON object"
        self._broken: list[tuple[int, int]] = []
        self._cost = 0
        self._thought_end = _thought_end(text)

    def run(self) -> None:
        position = 0
        while beginning := _BEGINNING.search(self._text, position):
            start = beginning.start()
            try:
                value, position = _DECODER.raw_decode(self._text, start)
            except RecursionError as error:
                raise _too_deep() from error
            except ValueError as error:
                position = self._pass_over(start, error)
            else:
                self._values.append((value, start, position))
                if self._text[start] == "[":
                    self._fault = "the reply is a list"
            if len(self._values) > MAX_OBJECTS:
                raise _too_many()

    def result(self) -> FoundObjects:
        if not self._values:
            return FoundObjects((), self._fault, tuple(self._broken))
        alone = _alone(self._text, [(start, end) for _, start, end in self._values])
        values = zip(self._values, alone, strict=True)
        found = chain.from_iterable(
            _objects(value, start, end, alone=by_itself)
            for (value, start, end), by_itself in values
        )
        return FoundObjects(_bounded(found), self._fault, tuple(self._broken))

    def _pass_over(self, start: int, error: ValueError) -> int:
        """Where to go on after what does not parse."""
        is_list = self._text[start] == "["
        self._cost += _cost(start, error) if is_list else _OBJECT_COST
        fault = f"the reply's JSON is broken ({_what(error)})"
        if self._cost > MAX_BROKEN:
            raise UnreadableTextError(fault)
        if is_list:
            # Brackets are common in prose.
            return start + 1
        self._fault = fault
        if self._closing is None:
            self._closing = _closing_braces(self._text)
        end = self._closing.get(start, -1)
        # A brace in a string, or a quote that should have been escaped, leaves the end in doubt.
        sure = end >= 0 and end == _closing_by_strings(self._text, start)
        if not sure:
            end = self._thought_end if start < self._thought_end else len(self._text)
        self._broken.append((start, end))
        return end


def _alone(text: str, spans: list[tuple[int, int]]) -> list[bool]:
    """Which values stand by themselves, by what stands around them.

    Not those that brackets enclose, quotes surround or the tags of thinking hold. A brace behind a
    value that closes nothing belongs to what was broken in a way that left the value looking whole;
    without a string that ends before it, it is only one too many.
    """
    last_quote = text.rfind('"')
    around = list(_between(spans, len(text)))
    closes_nothing, depth = -1, [0] * len(around)
    opened: dict[str, list[int]] = {"{": [], "[": []}
    tags: list[list[bool]] = []
    for place, (low, high) in enumerate(around):
        for bracket in _BRACKET.finditer(text, low, high):
            sign = bracket.group()
            if sign in opened:
                opened[sign].append(place)
            elif begun := opened["{" if sign == "}" else "["]:
                depth[begun.pop()] += 1
                depth[place] -= 1
            elif sign == "}":
                closes_nothing = place
        tags.append([not tag.group(1) for tag in _THINKING.finditer(text, low, high)])
    enclosed = [within > 0 for within in accumulate(depth)]
    thought = _thought(tags)
    return [
        not (enclosed[place] or thought[place])
        and not (closes_nothing > place and last_quote >= end)
        and text[max(0, start - 1) : start] + text[end : end + 1] not in _QUOTES
        and not text[max(0, start - 100) : start].rstrip().endswith("[")
        for place, (start, end) in enumerate(spans)
    ]


def _thought(tags: list[list[bool]]) -> list[bool]:
    """For each value, whether the tag before it opens a thought or the one after it closes one.

    `tags` has those before the first value, between it and the second, ..., after the last.
    """
    opens = False
    before: list[bool] = []
    for here in tags[:-1]:
        opens = here[-1] if here else opens
        before.append(opens)
    closes = False
    after: list[bool] = []
    for here in reversed(tags[1:]):
        closes = not here[0] if here else closes
        after.append(closes)
    return [a or b for a, b in zip(before, reversed(after), strict=True)]


def _between(spans: list[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    position = 0
    for start, end in spans:
        yield position, start
        position = end
    yield position, length


def _objects(value: object, start: int, end: int, *, alone: bool) -> Iterator[FoundObject]:
    """The objects in a value, the outermost first; only that one can stand alone."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        inner, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise _too_deep()
        if isinstance(inner, dict):
            members = cast("dict[str, object]", inner)
            yield FoundObject(members, start, end, alone and depth == 1)
            waiting.extend((member, depth + 1) for member in members.values())
        elif isinstance(inner, list):
            items = cast("list[object]", inner)
            waiting.extend((item, depth + 1) for item in items)


def _bounded(objects: Iterator[FoundObject]) -> tuple[FoundObject, ...]:
    found = tuple(islice(objects, MAX_OBJECTS + 1))
    if len(found) > MAX_OBJECTS:
        raise _too_many()
    return found


def _thought_end(text: str) -> int:
    """Where a thought ends that the text begins with; 0 where it begins with none."""
    tags = _THINKING.finditer(text)
    first = next(tags, None)
    if first is None or first.group(1) or text[: first.start()].strip():
        return 0
    return next((tag.end() for tag in tags if tag.group(1)), 0)


def _cost(start: int, error: ValueError) -> int:
    """What it took to find a list broken."""
    short = isinstance(error, json.JSONDecodeError) and error.pos - start < _SHORT_CHARS
    return _SHORT_COST if short else _LIST_COST


def _closing_braces(text: str) -> dict[int, int]:
    """For each opening brace that is closed, the position after its closing one."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for match in _BRACE.finditer(text):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            closing[opened.pop()] = match.end()
    return closing


def _closing_by_strings(text: str, start: int) -> int:
    """The position after the brace that closes the one at `start`, strings left out; else -1."""
    depth = 0
    for match in _STRING_OR_BRACE.finditer(text, start):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if not depth:
                return match.end()
    return -1


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise _FaultError(f"the key {clean_line(twice, 40)!r} stands twice")
    return members


def _no_constant(name: str) -> object:
    raise _FaultError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_constant=_no_constant)


def _what(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return str(error) if isinstance(error, _FaultError) else "a number is too long"


def _too_deep() -> UnreadableTextError:
    return UnreadableTextError("the reply is nested too deeply")


def _too_many() -> UnreadableTextError:
    return UnreadableTextError(f"the reply holds more than {MAX_OBJECTS} JSON objects")
