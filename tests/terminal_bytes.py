"""What of the bytes that go to a terminal is the toolkit's own, and what acts besides."""

from __future__ import annotations

import re

# The sequences that the toolkit sends of its own: cursor, colours, modes, queries, window size,
# and, as the only OSC, the shape of the mouse pointer.
_OWN = re.compile(
    r"\x1b(?:"
    r"\[[0-9;:]*m"
    r"|\[[0-9;]*H"
    r"|\]22;[a-z]+\x07"
    r"|\[\?(?:7|25|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2031|2048)[hl]"
    r"|\[\?(?:2026|2048)\$p"
    r"|\[[<>=][0-9;]*[uq]"
    r"|\[\?[0-9;]*u"
    r"|\[(?:6n|c|\?6n|14t|16t|18t)"
    r"|\[8;[0-9]+;[0-9]+t"
    r"|[78]"
    r")"
)
_ACTS = re.compile(
    "[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


def acts_in(wire: str) -> str:
    """The surroundings of the first thing that is not text, nor what the toolkit sends itself."""
    rest = _OWN.sub("", wire)
    left = _ACTS.search(rest)
    return "" if left is None else repr(rest[max(0, left.start() - 60) : left.end() + 60])
