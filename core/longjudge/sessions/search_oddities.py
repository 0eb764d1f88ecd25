r"""Records that spell what they say in such a way that no word of theirs can be looked for.

JSON may write each letter as its number (`\u0065`) and each number in many ways (`1e2`); a pattern
that ignores case finds the few letters that have an ASCII letter for their other case. All of that
is rare, so records that hold it are read whatever is searched for. Where they are stays known:
that is looked for once in a file, and then in no further search.
"""

from __future__ import annotations

import re
from array import array
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_BYTES = 64
"""None of these is longer, as far as it is looked at."""

# ASCII without what encoders escape that leave letters as they are: quotes, <, >, &, =, / and +.
_LETTERS = [code for code in range(0x21, 0x7F) if chr(code) not in "\"'`\\/&+,<=>:[]{}"]
_ESCAPED = re.compile(rb"\\u00(?:%s)" % "|".join(f"{code:02x}" for code in _LETTERS).encode(), re.I)
_OTHER_CASE = re.compile(rb"\xe2\x84\xaa|\xc4[\xb0\xb1]|\xc5\xbf|\\u(?:212[aA]|017[fF]|013[01])")
# More digits than are shown, and what is so small that it is shown by a power of ten. Each begins
# with a letter that is looked for quickly.
_NUMBERS = (
    re.compile(rb"\.(?:\d{13}|(?<=\d{4}\.)\d{9}|(?<=\d{8}\.)\d{5}|(?<=\d{12}\.)\d)"),
    re.compile(rb"\.0000(?<=0\.0000)"),
)
# Powers of ten, where all digits are one and so are all signs.
_ALIKE = bytes.maketrans(b"123456789E+", b"000000000e-")
_POWERS = (b"0e0", b"0e-0")
# Also within JSON that is a string of JSON.
_BEFORE_NUMBER = re.compile(rb"(?:^|[:,\[\s]|\\[nrt]|\\u00(?:20|0[9ad]|3a|2c|5b))-?[\d.]*\Z", re.I)
_NUMBER_CHARS = 40


class Oddity(Enum):
    """What a record may hold that hides a word."""

    ESCAPES = "letters as their numbers"
    NUMBERS = "numbers that are shown another way"
    CAPITALS = "letters beyond ASCII with an ASCII letter for their other case"


class Oddities:
    """Where the oddities of some bytes are, as far as they were looked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[Oddity, int, int], Sequence[int]] = {}

    def places(self, oddity: Oddity, start: int, end: int, data: bytes) -> Sequence[int]:
        """Where one is between two offsets.

        `data` are the bytes from the first one on, and `MOST_BYTES` more where there are any.
        """
        key = oddity, start, end
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = array("Q", (start + at for at in _LOOKS[oddity](data)))
        return found


def _escapes(data: bytes) -> Sequence[int]:
    if b"\\u00" not in data:
        return ()
    return [match.start() for match in _ESCAPED.finditer(data)]


def _numbers(data: bytes) -> Sequence[int]:
    found = [match.start() for pattern in _NUMBERS for match in pattern.finditer(data)]
    alike = data.translate(_ALIKE)
    for power in _POWERS:
        at = alike.find(power)
        while at >= 0:
            found.append(at + 1)
            at = alike.find(power, at + 1)
    before = _BEFORE_NUMBER.search
    return sorted(at for at in found if before(data[max(0, at - _NUMBER_CHARS) : at]))


def _capitals(data: bytes) -> Sequence[int]:
    return [match.start() for match in _OTHER_CASE.finditer(data)]


_LOOKS: dict[Oddity, Callable[[bytes], Sequence[int]]] = {
    Oddity.ESCAPES: _escapes,
    Oddity.NUMBERS: _numbers,
    Oddity.CAPITALS: _capitals,
}
