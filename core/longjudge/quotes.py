"""Folding: what two texts have in common that differ only in what copying changes.

Pure, and character by character, so that the folded form of a stretch is a stretch of the folded
form. What a judge may have done to a quote beyond that (a mark copied along, escapes, quotation
marks around it, dots for what it left out) gives further forms to look for.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

MOST_FOLDS = 20_000
"""So many characters are remembered with what they fold to."""

TELLING_CHARS = 8
"""A quote with fewer characters that are not blank would be found in any event."""

SHORT_CHARS = 4
"""From here on to `TELLING_CHARS`, it tells its event where only one has it, as whole words."""

MOST_PARTS = 20
"""A quote shortened in more places is none."""

PART_CHARS = 3
"""A part of a shortened quote has at least so many characters that are not blank."""

_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′´ʼ", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    # What the prompt puts for the first character of a look-alike of its fences.
    | {"‹": "<", "⟦": "["}
    | {"ı": "i"}
)
# Visible pictures of control characters, U+FFFD, selectors of a glyph's look, and the joiner that
# shows nothing: they stand where a text was cleaned, or get lost where it is copied.
_IGNORED = re.compile("[\u034f\u2400-\u2421\ufe00-\ufe0f\ufffd\U000e0100-\U000e01ef]")

_MARK = re.compile(r"\s*+\[\[[0-9a-f]{12}\s+event\s+\d{1,9}\]\]\s*+", re.IGNORECASE)
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NEEDS_ESCAPE = re.compile(r'["\\\n\t\r]')
_LEFT_OUT = re.compile(r" ?[\[(]?\.{3,}[\])]? ?")
_AROUND = "\"'` "


class _Folds(dict[int, str]):
    """What each character folds to, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code))
        if len(self) < MOST_FOLDS:
            self[code] = folded
        return folded


def _fold_character(char: str) -> str:
    if char.isspace():
        return " "
    if _IGNORED.match(char) or unicodedata.category(char) in ("Cc", "Cf", "Cs"):
        return ""
    alike = char.translate(_ALIKE).casefold()
    plain = unicodedata.normalize("NFKD", alike).casefold()
    return unicodedata.normalize("NFKD", plain).translate(_ALIKE)


_FOLDS = _Folds()


def fold(text: str) -> str:
    """The text without what copying changes; single spaces, none at its ends, no line end."""
    folded = text.translate(_FOLDS)
    while "  " in folded:
        folded = folded.replace("  ", " ")
    return folded.strip(" ")


def fold_marks(text: str) -> int:
    """How many characters that are not blank a text folds to."""
    return count_marks(text.translate(_FOLDS))


def count_marks(folded: str) -> int:
    """How many characters of a folded text are not blank."""
    return len(folded) - folded.count(" ")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote in the forms in which it is looked for, the likeliest first.

    `needles` and `parts` are folded; `parts` is empty where nothing says that it was shortened.
    """

    exact: str
    needles: tuple[str, ...]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, quote: str) -> Quote:
        """Prepare a quote as a judge gave it."""
        return _quote(quote)

    @property
    def telling(self) -> tuple[str, ...]:
        """What another event has to hold one of, if it is to be the one that was quoted.

        Forms that are too short would be found in any; of the parts, the longest is the rarest.
        """
        forms = [each for each in self.needles if count_marks(each) >= TELLING_CHARS]
        return (*forms, max(self.parts, key=len)) if self.parts else tuple(forms)

    @property
    def short(self) -> tuple[str, ...]:
        """The forms that tell an event only where no other has them."""
        return tuple(
            each for each in self.needles if SHORT_CHARS <= count_marks(each) < TELLING_CHARS
        )


@lru_cache(maxsize=256)
def _quote(quote: str) -> Quote:
    unmarked = _MARK.sub("", quote, count=1) if _MARK.match(quote) else quote
    forms = [quote, unmarked]
    if "\\" in quote:
        forms.append(_ESCAPE.sub(_unescaped, unmarked))
    if _NEEDS_ESCAPE.search(quote):
        forms.append(json.dumps(unmarked.strip(), ensure_ascii=False)[1:-1])
    folded = [fold(form) for form in forms]
    folded += [form.strip(_AROUND) for form in folded]
    needles = tuple(form for form in dict.fromkeys(folded) if form)
    return Quote(quote.strip(), needles, _parts(fold(unmarked).strip(_AROUND)))


def _unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


def _parts(folded: str) -> tuple[str, ...]:
    """The parts of a shortened quote; none where it was not, or where they say too little."""
    pieces = _LEFT_OUT.split(folded)
    parts = tuple(filter(None, (piece.strip() for piece in pieces)))
    if len(pieces) == 1 or len(parts) > MOST_PARTS:
        return ()
    marks = [count_marks(part) for part in parts]
    if sum(marks) < TELLING_CHARS or min(marks) < PART_CHARS:
        return ()
    return parts
