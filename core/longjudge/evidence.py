"""Finds a quote again in the text that the judge read."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from longjudge.prompt import neutralise

_WORD = re.compile(r"\S+")


class QuotedText:
    """One event's text, prepared once for any number of quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _sent(self) -> str:
        return neutralise(self._text)

    @cached_property
    def _folded(self) -> tuple[str, list[int], list[int]]:
        """The text with single spaces, and where each word starts in it and in the text."""
        words = [(match.start(), match.group()) for match in _WORD.finditer(self._sent)]
        starts = list(accumulate((len(word) + 1 for _, word in words), initial=0))
        return " ".join(word for _, word in words), starts, [start for start, _ in words]

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where a quote stands, as character offsets `(start, end)` into the text, or None.

        Tried as it is, then in the text as it was sent (with look-alikes of the fence altered),
        then with any stretch of white space standing for any other.
        """
        wanted = quote.strip()
        if not wanted:
            return None
        for candidate in (self._text, self._sent):
            if (start := candidate.find(wanted)) >= 0:
                return start, start + len(wanted)
        folded, folded_starts, starts = self._folded
        wanted = " ".join(wanted.split())
        hit = folded.find(wanted)
        if hit < 0:
            return None

        def original(offset: int) -> int:
            number = bisect_right(folded_starts, offset) - 1
            return starts[number] + offset - folded_starts[number]

        return original(hit), original(hit + len(wanted) - 1) + 1


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where one quote stands in a text; see `QuotedText.find`."""
    return QuotedText(text).find(quote)
