"""The process that matches a pattern: started by its path, it needs nothing but this file.

A pattern may take longer than the universe lasts, and nothing in its own process can stop it. This
one is killed by its own alarm where a text takes too much of the processor, and by whoever waits
for it no longer; where that one was killed itself, it ends as soon as it sees so.

It reads `wish, most, length` and a text, as often as they come: first the pattern with its flags,
then what is answered, each `FIND` with one byte, each `SPANS` with a count and that many pairs of
offsets. What is looked for may be a secret, so it is no argument, which every user can see.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from itertools import islice
from struct import Struct

ORDER = Struct("=BIQ")
PAIR = Struct("=QQ")
COUNT = Struct("=I")
FIND, SPANS, PATTERN = 0, 1, 2

CHARS_A_SECOND = 5_000_000
"""For each so many characters of a text a second more is granted."""

LOOK_SECONDS = 0.2
"""How often it looks whether anybody waits for it."""


def main(seconds: float, parent: int) -> None:
    """Answer until nothing more comes, or `parent` is gone.

    `seconds` of the processor's time are for each text.
    """
    warnings.simplefilter("ignore")
    _end_without(parent)
    pattern = re.compile("")
    given, told = sys.stdin.buffer, sys.stdout.buffer
    while len(order := given.read(ORDER.size)) == ORDER.size:
        wish, most, length = ORDER.unpack(order)
        text = given.read(length).decode("utf-8", "surrogatepass")
        if wish == PATTERN:
            pattern = re.compile(text, most)
            continue
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds + len(text) / CHARS_A_SECOND)
        if wish == FIND:
            told.write(b"\1" if pattern.search(text) else b"\0")
        else:
            spans = [match.span() for match in islice(pattern.finditer(text), most)]
            told.write(COUNT.pack(len(spans)) + b"".join(PAIR.pack(*span) for span in spans))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        told.flush()


def _end_without(parent: int) -> None:
    """End once the process that waits is gone, also within a match: `re` heeds signals there."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
