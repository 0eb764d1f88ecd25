"""Which of many short texts may hold a secret, found out for all of them together.

Each word that a secret may stand behind is looked for once in all of them, and not once in each:
of millions of short events hardly one has to be looked through by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from longjudge.redaction.contexts import COOKIES, RULES
from longjudge.redaction.runs import EVERYWHERE, IN_RUN, LONG
from longjudge.redaction.stored import HASHES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORDS = tuple({word for word, _ in (*RULES, *COOKIES)})
_HEADS = tuple(head.encode() for head in EVERYWHERE)


def may_hold(texts: Sequence[str]) -> list[bool]:
    """For each text whether it has to be looked through; where not, no secret is in it."""
    ends = list(accumulate(len(text) + 1 for text in texts))
    marked = [False] * len(texts)
    # A byte for each character, whatever it is.
    raw = "\n".join(texts).encode("ascii", "replace")
    low = raw.lower()

    def mark(find: Callable[[int], int]) -> None:
        here = find(0)
        while here >= 0:
            text = bisect_right(ends, here)
            marked[text] = True
            here = find(ends[text])

    for word in _WORDS:
        mark(lambda start, word=word: low.find(word, start))
    for head in _HEADS:
        mark(lambda start, head=head: raw.find(head, start))
    runs = raw.translate(IN_RUN)
    mark(lambda start: runs.find(LONG, start))
    mark(lambda start: found.start() if (found := HASHES.search(low, start)) else -1)
    return marked
