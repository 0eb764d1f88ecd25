"""Finds a quote again in the text that the judge read."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from longjudge.prompt import neutralise

_WORD = re.compile(r"\S+")


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, as character offsets `(start, end)`, or None.

    Tried as it is, then in the text as it was sent (with look-alikes of the fence altered), then
    with any stretch of white space standing for any other.
    """
    wanted = quote.strip()
    if not wanted:
        return None
    for candidate in (text, neutralise(text)):
        if (start := candidate.find(wanted)) >= 0:
            return start, start + len(wanted)
    return _find_folded(neutralise(text), wanted)


def _find_folded(text: str, quote: str) -> tuple[int, int] | None:
    """Find a quote whose white space differs, keeping offsets into the text as it stands.

    One pass over the text, whatever it holds: both are folded to single spaces, searched once,
    and the hit is mapped back word by word.
    """
    words = [(match.start(), match.group()) for match in _WORD.finditer(text)]
    folded_starts = list(accumulate((len(word) + 1 for _, word in words), initial=0))
    folded = " ".join(word for _, word in words)
    wanted = " ".join(quote.split())
    hit = folded.find(wanted)
    if hit < 0:
        return None

    def original(offset: int) -> int:
        number = bisect_right(folded_starts, offset) - 1
        return words[number][0] + offset - folded_starts[number]

    return original(hit), original(hit + len(wanted) - 1) + 1
