r"""What to look for in the bytes of a file so that no event is missed whose text fits.

The text of an event is made from its record: JSON escapes are undone, keys and values come on lines
of their own, encoded media become placeholders. So no whole phrase can be found in the bytes, but
one of its words can: a run of characters that no encoder escapes and no rendering makes. It stands
in the record as it is, or as `\uXXXX` where it is no ASCII; what a rendering adds of itself is told
by its format (`made`), with what stands in every record for which it is added. Records that spell
it in a way that no encoder does are told by their `oddities`. Whatever is found this way is a
candidate, and the event's text decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from longjudge.sessions.render import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Made = Mapping[str, Sequence[str]]

# A key has a quotation mark before it, however many backslashes stand before that.
_MEDIA_SIGNS = ("base64", '"data', '"blob')

_ENOUGH_CHARS = 3
_MOST_CASES = 3
_ASCII_WORD = re.compile(r"[\w\-.~@#$%^*!?;=|()]+", re.ASCII)
# Without what encoders that leave the rest as it is escape all the same.
_OTHER_WORD = re.compile(
    "[^\x00-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff"
    "\ufff0-\uffff\U00010000-\U0010ffff]+|[\U00010000-\U000dffff]+"
)
_DIGITS = re.compile(r"[\d.]+")
# A number may be written another way than it is shown: 1e-7 as 1e-07.
_NUMBER = re.compile(r"[-.\d]*[eE][-.\deE]*")


@dataclass(frozen=True, slots=True)
class Needles:
    """Bytes of which one stands in each record that may fit; with `folded`, in lower case."""

    spelled: tuple[bytes, ...]
    folded: bool

    def prepared(self, data: bytes) -> bytes:
        """Bytes as they are looked through."""
        return data.lower() if self.folded else data

    @property
    def longest(self) -> int:
        """Bytes of the longest."""
        return max(map(len, self.spelled))


def find_needles(words: Iterable[str], *, ignore_case: bool, made: Made | None) -> Needles:
    """The spellings of some words, of which one at least stands in every text that fits.

    Without `made` texts stand in the bytes as they are.
    """
    spelled: dict[bytes, None] = {}
    for word in words:
        signs = () if made is None else _signs_of(word, made)
        for each in (*_spellings(word, ignore_case=ignore_case), *signs):
            spelled[each.lower() if ignore_case else each] = None
    return Needles(tuple(spelled), ignore_case)


def verbatim_needles(phrase: str, *, ignore_case: bool) -> Needles | None:
    """A whole phrase as it stands in JSON of our own making; None where it may vary there."""
    if not (phrase.isascii() and phrase.isprintable()):
        return None
    spelled = phrase.replace("\\", "\\\\").replace('"', '\\"').encode()
    return Needles((spelled.lower() if ignore_case else spelled,), ignore_case)


def best_word(phrase: str) -> str | None:
    """The word of a phrase that is best to look for; None where none is safe."""
    # A phrase over several lines may begin in the header, which stands in no record.
    body = phrase.partition("\n")[2] if "\n" in phrase else phrase
    words = [word for word in _ASCII_WORD.findall(body) if not _NUMBER.fullmatch(word)]
    longest = max(words, key=len, default=None)
    if longest is not None and len(longest) >= _ENOUGH_CHARS:
        return longest
    others: list[str] = _OTHER_WORD.findall(body)
    return max(others, key=len, default=longest)


def case_forms(char: str) -> tuple[str, ...]:
    """A character as it is and in its other case, where that is one character too."""
    forms = {char, char.lower(), char.upper()}
    return tuple(sorted(form for form in forms if len(form) == 1))


def _spellings(word: str, *, ignore_case: bool) -> Iterator[bytes]:
    if word.isascii():
        yield word.encode()
        return
    first = case_forms(word[0]) if ignore_case else (word[0],)
    if ignore_case and any(len(case_forms(char)) > 1 for char in word):
        forms = product(*map(case_forms, word[:_MOST_CASES]))
        yield from ("".join(each).encode() for each in forms)
    else:
        yield word.encode()
    # One character is enough: how many backslashes stand before each is another matter.
    for form in first:
        last = form.encode("utf-16-be")[-2:].hex()
        yield f"u{last}".encode()
        yield f"u{last.upper()}".encode()


def _signs_of(word: str, made: Made) -> Iterator[bytes]:
    """What stands in the records for which the word may have been made."""
    lower = word.lower()
    for phrase, signs in ((PLACEHOLDER, _MEDIA_SIGNS), *made.items()):
        is_size = phrase == PLACEHOLDER and _DIGITS.fullmatch(word)
        if is_size or lower in phrase.lower():
            yield from (sign.encode() for sign in signs)
