"""Keeps session text from forging the marks around it in a prompt.

A prompt encloses a chunk in two lines and puts a mark before each event; `prompt.py` writes them.
Whatever in a text is such a mark, or becomes one when somebody on the way reads it more freely, is
altered by one character: letters of another width or case, invisible characters in between,
brackets that look alike, and the brackets as HTML, JSON or a URL writes them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

_ANGLES = "<＜﹤≮〈\u2329⟨❬❮❰˂ᐸ"
_SQUARES = r"\[［﹇❲"

# Each stretch of white space is matched in one way only, so that hostile text costs no time.
_LT, _LSQB = r"(?:lt|\#0*+60|\#x0*+3c);?+", r"(?:lsqb|lbrack|\#0*+91|\#x0*+5b);?+"
_SLASH = r"(?:\\*+/|&(?:sol|\#0*+47|\#x0*+2f);?+|\\u002f|%2f)"
_LINE = rf"\s*+(?:{_SLASH}\s*+)?+chunk\s*+[-‐‒–—−]"
_TAG = r"\s*+[0-9a-f]{12}\b"


def _marks(angles: str, squares: str) -> re.Pattern[str]:
    """What looks like a mark, however its brackets are written."""
    event = rf"\s*+(?:[{squares}]|&{_LSQB}|\\(?:u00|x)5b|%5b){_TAG}"
    # What is written in another way is only altered with a tag: without one, it is ordinary HTML.
    return re.compile(
        rf"[{angles}{squares}&\\%](?i:"
        rf"(?<=[{angles}])(?={_LINE})"
        rf"|(?<=[{squares}])(?={event})"
        rf"|(?<=&)(?={_LT}{_LINE}{_TAG}|{_LSQB}{event})"
        rf"|(?<=\\)(?=(?:u00|x)(?:3c{_LINE}{_TAG}|5b{event}))"
        rf"|(?<=%)(?=3c{_LINE}{_TAG}|5b{event})"
        ")"
    )


_MARK = _marks(_ANGLES, _SQUARES)
_PLAIN_MARK = _marks(_ANGLES[0], _SQUARES[:2])
"""The same in a text of ASCII alone, which is searched much faster for few characters."""

_SQUARE = re.compile(f"[{_SQUARES}]")

_PLAIN = b"\t\n\r" + bytes(range(ord(" "), ord("~") + 1))
_BEYOND_PLAIN = re.compile("[^\t\n\r -~]")

# Controls, accents that stand over the character before, and what Unicode calls ignorable.
_HIDDEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PARTING = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_READINGS = (
    re.compile(f"[{_HIDDEN}]"),
    re.compile(f"[{_HIDDEN}{_PARTING}]"),
)
"""What is not seen: some read the characters that part lines in other ways as one of these."""


def neutralise(text: str) -> str:
    """Alter whatever looks like a fence or an event marker, one character for one."""
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return _PLAIN_MARK.sub(_stand_in, text)
    text = _MARK.sub(_stand_in, text)
    if _BEYOND_PLAIN.search(text):
        parted = any(character in text for character in _PARTING)
        for unseen in _READINGS if parted else _READINGS[:1]:
            if _MARK.search(_folded(text, unseen)):
                text = _alter_folded(text, unseen)
    return text


def _stand_in(match: re.Match[str]) -> str:
    return "⟦" if _SQUARE.match(match.group()) else "‹"


def _folded(text: str, unseen: re.Pattern[str]) -> str:
    """The text as a careless reader has it: one width, one case, nothing invisible."""
    return unicodedata.normalize("NFKC", unseen.sub("", text)).casefold()


def _alter_folded(text: str, unseen: re.Pattern[str]) -> str:
    """Alter the characters that begin a mark in the folded text; rare, and so slow."""
    fold = {character: _folded(character, unseen) for character in set(text)}
    folds = [fold[character] for character in text]
    ends = list(accumulate(map(len, folds)))
    altered = list(text)
    for match in _MARK.finditer("".join(folds)):
        altered[bisect_right(ends, match.start())] = _stand_in(match)
    return "".join(altered)
