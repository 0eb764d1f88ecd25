"""The process that matches a pattern: started by its path, it needs nothing but this file.

A pattern may take longer than the universe lasts, and nothing in its own process can stop it. This
one is killed by its own alarm where a text takes too much of the processor, and by whoever waits
for it no longer.

It reads `wish, most, length` and a text, as often as they come, and answers each `FIND` with one
byte, each `SPANS` with a count and that many pairs of offsets.
"""

from __future__ import annotations

import re
import signal
import sys
import warnings
from itertools import islice
from struct import Struct

ORDER = Struct("=BIQ")
PAIR = Struct("=QQ")
COUNT = Struct("=I")
FIND, SPANS = 0, 1

CHARS_A_SECOND = 5_000_000
"""For each so many characters of a text a second more is granted."""


def main(words: str, flags: int, seconds: float) -> None:
    """Answer until nothing more comes; `seconds` of the processor's time are for each text."""
    warnings.simplefilter("ignore")
    pattern = re.compile(words, flags)
    given, told = sys.stdin.buffer, sys.stdout.buffer
    while len(order := given.read(ORDER.size)) == ORDER.size:
        wish, most, length = ORDER.unpack(order)
        text = given.read(length).decode("utf-8", "surrogatepass")
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds + len(text) / CHARS_A_SECOND)
        if wish == FIND:
            told.write(b"\1" if pattern.search(text) else b"\0")
        else:
            spans = [match.span() for match in islice(pattern.finditer(text), most)]
            told.write(COUNT.pack(len(spans)) + b"".join(PAIR.pack(*span) for span in spans))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        told.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
