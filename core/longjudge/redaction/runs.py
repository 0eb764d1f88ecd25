"""Finds the secrets that are known by their shape, by looking at long runs of characters alone.

A search for a run takes no look at most of a text: whatever is shorter is jumped over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from longjudge.redaction.shapes import HEADLESS, PARTED, PARTED_CHARS, RUN, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.redaction.shapes import Shape


class Secret(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int
    kind: str


IN_RUN = bytes(
    ord("a") if (chr(code).isalnum() and code < 128) or chr(code) in "_-" else ord(" ")
    for code in range(256)
)
LONG = b"a" * RUN
_FAR = 500

_BY_HEAD: dict[str, tuple[Shape, ...]] = {
    head: tuple(shape for shape in SHAPES if head in shape.heads)
    for shape in SHAPES
    for head in shape.heads
}
_HEADS = "|".join(re.escape(head) for head in sorted(_BY_HEAD, key=len, reverse=True))
# Where a word begins, which is decided first, since it is decided fastest.
_HEAD = re.compile(f"(?<![A-Za-z0-9])(?:{_HEADS})")
_HEAD_HERE = re.compile(_HEADS)
_BEGINS = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<==3D)|(?<=\\x[0-9A-Fa-f]{2}))"
)
_PARTED_HEAD = re.compile(
    f"{_BEGINS}(?:{'|'.join(f'({each.head})' for each in PARTED)})\\Z", re.ASCII
)
# Heads that are no part of a word, and so are heads even where something is glued to them. Those
# that end in a mark are looked for at the marks of a run; those that do not, all over.
_GLUED_HEADS = tuple(
    sorted(
        (
            head
            for head in _BY_HEAD
            if head[-1] in "_-" and (len(head) > 4 or head.startswith(("gh", "npm", "hf")))
        ),
        key=len,
        reverse=True,
    )
)
_GLUED = re.compile(f"[_-](?:{'|'.join(f'(?<={re.escape(head)})' for head in _GLUED_HEADS)})")
EVERYWHERE = ("AKIA", "ASIA", "AIza")
_GLUED_CHARS = 40
_DIGIT = re.compile("[0-9]")
# An escape in front of a secret reaches into its run: `\n`, `\u003d`, `%3D`, a colour.
_ESCAPES = {
    "\\": re.compile(r"[nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}"),
    "=": re.compile(r"3D"),
    "%": re.compile(r"[0-9A-Fa-f]{2}"),
    "[": re.compile(r"[0-9]{0,3}m"),
    ";": re.compile(r"[0-9]{0,3}m"),
}


def secrets_in_runs(text: str, raw: bytes, offset: int) -> Iterator[Secret]:
    """The secrets with a shape of their own; `raw` has a byte for each character from `offset`."""
    table = raw.translate(IN_RUN)
    end = -1
    done = 0
    while (start := table.find(LONG, end + 1)) >= 0:
        end = table.find(b" ", start + RUN)
        if end < 0:
            end = len(table)
        # The search came upon the run at its start, except where it was cut off by the window.
        for secret in _in_run(text, max(offset + start, done), offset + end):
            done = secret.end
            yield secret
    for head in EVERYWHERE:
        here = raw.find(head.encode())
        while here >= 0:
            found, _ = _shaped(text, offset + here, head)
            yield from found
            here = raw.find(head.encode(), here + 1)


def _in_run(text: str, start: int, end: int) -> Iterator[Secret]:
    before = text[start - 1] if start else ""
    if before in (".", ":"):
        yield from _parted(text, start)
    elif before in _ESCAPES:
        escape = _ESCAPES[before].match(text, start)
        if escape is not None:
            head = _HEAD_HERE.match(text, escape.end())
            start = min(escape.end(), end)
            if head is not None:
                found, start = _shaped(text, start, head.group())
                yield from found
    first = start
    head = _HEAD.search(text, start, end)
    while head is not None:
        found, here = _shaped(text, head.start(), head.group())
        yield from found
        # What follows a secret in its run is glued to nothing that a head could begin with.
        first = here if found else first
        head = _HEAD.search(text, here, end) if here < end else None
    if _DIGIT.search(text, first, end) is not None:
        yield from _glued(text, first, end)
    region = text.find("-us", end - 6, end)
    if text[end : end + 1] == "." or region >= 0:
        yield from _headless(text, start, end, region)


def _glued(text: str, start: int, end: int) -> Iterator[Secret]:
    """The secrets that begin in the middle of a word."""
    seam = _GLUED.search(text, start, end)
    while seam is not None:
        here = seam.end()
        head = next(head for head in _GLUED_HEADS if text.endswith(head, 0, here))
        found, after = _shaped(text, here - len(head), head)
        here = max(here, after)
        if found and _is_no_word(text[found[0].start + len(head) : found[0].end]):
            yield found[0]
        seam = _GLUED.search(text, here, end) if here < end else None


def _is_no_word(body: str) -> bool:
    return any(map(str.isdigit, body)) and (len(body) >= _GLUED_CHARS or not body.islower())


def _headless(text: str, start: int, end: int, region: int) -> Iterator[Secret]:
    for kind, expression in HEADLESS:
        first = start
        if kind == "jwt":
            first = text.find("eyJ", start, end)
        elif kind == "mailchimp-key":
            first = region - 32 if region - 32 >= start else -1
        if first >= 0 and (found := expression.match(text, first)) is not None:
            yield Secret(first, found.end(), kind)


def _shaped(text: str, start: int, head: str) -> tuple[tuple[Secret, ...], int]:
    """The secret that begins with a head, where one does, and where to look on."""
    here = start + 1
    for shape in _BY_HEAD[head]:
        end, is_secret = shape.match(text, start)
        if is_secret:
            return (Secret(start, end, shape.kind),), end
        if end - start > _FAR:
            # What was read as one is not read again from each head in it.
            here = max(here, end)
    return (), here


def _parted(text: str, start: int) -> Iterator[Secret]:
    head = _PARTED_HEAD.search(text, max(0, start - PARTED_CHARS), start)
    if head is None or head.lastindex is None:
        return
    each = PARTED[head.lastindex - 1]
    body = each.expression.match(text, start)
    if body is not None:
        yield Secret(head.start(), body.end(), each.kind)
