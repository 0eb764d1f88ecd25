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
from longjudge.sessions.search_oddities import MOST_BYTES, Oddity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    Made = Mapping[str, Sequence[str]]

# A key has a quotation mark before it, however many backslashes stand before that.
_MEDIA_SIGNS = ("base64", '"data', '"blob')

_ENOUGH_CHARS = 3
_MOST_CHARS = 3
_ASCII_WORD = re.compile(r"[\w\-.~@#$%^*!?;|()]+", re.ASCII)
# Without what encoders that leave the rest as it is escape all the same.
_OTHER_WORD = re.compile(
    "[^\x00-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff"
    "\ufff0-\uffff\U00010000-\U0010ffff]+|[\U00010000-\U000dffff]+"
)
_DIGITS = re.compile(r"[\d.]+")
# A number may be written another way than it is shown: 1e-7 as 1e-07.
_NUMBER = re.compile(r"[-.\d]*[eE][-.\deE]*")
# The same of numbers without a power of ten: where there is nothing else to look for.
_DIGITS_ONLY = re.compile(r"[-.\d]+|[infaty]+", re.I)
# ASCII letters that are another case of a letter beyond ASCII.
_LETTERS_OF_OTHERS = frozenset("iksIKS")


@dataclass(frozen=True, slots=True)
class Needles:
    """Bytes of which one stands in each record that may fit; with `folded`, in lower case.

    A record in which one of the `oddities` is may fit as well.
    """

    spelled: tuple[bytes, ...]
    folded: bool
    oddities: tuple[Oddity, ...] = ()

    def prepared(self, data: bytes) -> bytes:
        """Bytes as they are looked through."""
        return data.lower() if self.folded else data

    @property
    def overlap(self) -> int:
        """How many bytes more to look at, so that none is missed that goes over an end."""
        return max(MOST_BYTES, *map(len, self.spelled))


def find_needles(
    words: Collection[str], *, ignore_case: bool, made: Made | None, pattern: bool = False
) -> Needles:
    """The spellings of some words, of which one at least stands in every text that fits.

    Without `made` texts stand in the bytes as they are. A `pattern` knows more of other cases.
    """
    spelled: dict[bytes, None] = {}
    for word in words:
        signs = () if made is None else _signs_of(word, made)
        for each in (*_spellings(word, ignore_case=ignore_case), *signs):
            spelled[each.lower() if ignore_case else each] = None
    oddities: list[Oddity] = []
    if made is not None:
        oddities.append(Oddity.ESCAPES)
        if any(map(_DIGITS_ONLY.fullmatch, words)):
            oddities.append(Oddity.NUMBERS)
    if pattern and ignore_case and not _LETTERS_OF_OTHERS.isdisjoint("".join(words)):
        oddities.append(Oddity.CAPITALS)
    folded = any(each != each.upper() for each in spelled) if ignore_case else False
    return Needles(tuple(spelled), folded, tuple(oddities))


def verbatim_needles(phrase: str, *, ignore_case: bool) -> Needles | None:
    """A whole phrase as it stands in JSON of our own making; None where it may vary there."""
    if not (phrase.isascii() and phrase.isprintable()):
        return None
    spelled = phrase.replace("\\", "\\\\").replace('"', '\\"').encode()
    return Needles((spelled.lower() if ignore_case else spelled,), ignore_case)


def best_word(phrase: str, *, caseless: bool = False) -> str | None:
    """The word of a phrase that is best to look for; None where none is safe.

    With `caseless` no letter beyond ASCII that has another case is.
    """
    # A phrase over several lines may begin in the header, which stands in no record.
    body = phrase.partition("\n")[2] if "\n" in phrase else phrase
    words = [word for word in _ASCII_WORD.findall(body) if not _NUMBER.fullmatch(word)]
    longest = max(words, key=_worth, default=None)
    if longest is not None and len(longest) >= _ENOUGH_CHARS:
        return longest
    others: list[str] = _OTHER_WORD.findall(body)
    if caseless:
        others = [word for word in others if word.lower() == word.upper()]
    return max(others, key=len, default=longest)


def _worth(word: str) -> tuple[bool, int]:
    """How good it is to look for a word: what is no number has no other spellings."""
    return len(word) >= _ENOUGH_CHARS and not _DIGITS_ONLY.fullmatch(word), len(word)


def case_forms(char: str) -> tuple[str, ...]:
    """A character as it is and in its other case, where that is one character too."""
    forms = {char, char.lower(), char.upper(), "ẞ" if char == "ß" else char}
    return tuple(sorted(form for form in forms if len(form) == 1))


def _spellings(word: str, *, ignore_case: bool) -> Iterator[bytes]:
    if word.isascii():
        yield word.encode()
        return
    # Each character may be written either way; where all are as they are, so are the first ones.
    chars = [case_forms(char) if ignore_case else (char,) for char in word[:_MOST_CHARS]]
    yield from ("".join(each).encode() for each in product(*chars))
    # One written as a number is enough: how many backslashes stand before it is another matter.
    for form in {form for forms in chars for form in forms}:
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
