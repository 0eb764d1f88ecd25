"""What one text of a rubric has that another has not, line by line."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

CONTEXT_LINES = 3

MOST_PAIRS = 1_000_000
"""Equal lines of both texts that are paired: a second or two at worst, in texts made to be slow."""


class Side(StrEnum):
    """Which of the two texts a line stands in; `PLACE` says where the lines after it stand."""

    ADDED = "+"
    GONE = "−"
    BOTH = " "
    PLACE = "─"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a comparison."""

    side: Side
    text: str


_SIDES = {"+": Side.ADDED, "-": Side.GONE, " ": Side.BOTH}


def compare(old: str, new: str) -> tuple[DiffLine, ...]:
    """What leads from `old` to `new`, with a few lines around; nothing where they are equal.

    Long texts that have the same few lines very often are told as one gone and the other added.
    This blocks.
    """
    before, after = old.split("\n"), new.split("\n")
    if before != after and _pairs(before, after) > MOST_PAIRS:
        gone = (DiffLine(Side.GONE, each) for each in before)
        return (*gone, *(DiffLine(Side.ADDED, each) for each in after))
    lines = difflib.unified_diff(before, after, lineterm="", n=CONTEXT_LINES)
    # The first two name the files.
    return tuple(_told(each) for each in islice(lines, 2, None))


def _pairs(before: list[str], after: list[str]) -> int:
    """How often a line of one text is one of the other; difflib leaves very common lines out."""
    there = Counter(after)
    common = max(2, len(after) // 100 + 1)
    return sum(times for each in before if (times := there[each]) <= common or len(after) < 200)


def _told(said: str) -> DiffLine:
    if said.startswith("@@"):
        # `@@ -old,count +new,count @@`; the line is the one in the new text.
        line = said.partition("+")[2].partition(",")[0].partition(" ")[0]
        return DiffLine(Side.PLACE, f"from line {line} on")
    return DiffLine(_SIDES[said[0]], said[1:])
