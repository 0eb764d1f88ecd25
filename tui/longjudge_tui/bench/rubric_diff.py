"""What one text of a rubric has that another has not, line by line."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

CONTEXT_LINES = 3


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

    Long texts of which every line differs take long: this blocks.
    """
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=CONTEXT_LINES)
    # The first two name the files.
    return tuple(_told(each) for each in islice(lines, 2, None))


def _told(said: str) -> DiffLine:
    if said.startswith("@@"):
        # `@@ -old,count +new,count @@`; the line is the one in the new text.
        line = said.partition("+")[2].partition(",")[0].partition(" ")[0]
        return DiffLine(Side.PLACE, f"from line {line} on")
    return DiffLine(_SIDES[said[0]], said[1:])
