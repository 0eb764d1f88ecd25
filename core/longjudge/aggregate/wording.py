"""What a note comes down to when it is compared with others: the set of its words.

Case, endings, numbers, hashes and quoted words do not count, nor do words that every sentence has.
What looks like a path or the name of a file is one and the same word, whichever it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

Words = tuple[str, ...]
"""The words of a note, each once, in the order of the alphabet."""

MOST_CHARS: Final = 2_000
"""So much of a note is compared; one of a judge has 300 characters at most."""

PLACE: Final = "/"
"""The word that stands for every path and file; no word of a text is this one."""

_NEGATION = re.compile(r"n['’]t\b")
_QUOTED = re.compile(
    r"""`[^`]{1,200}`|"[^"]{1,200}"|“[^”]{1,200}”|«[^»]{1,200}»|(?<!\w)['‘][^'’]{1,200}['’](?!\w)"""
)
_FILE = re.compile(r"\w[\w-]+\.[a-z]\w{0,4}")
_WORD = re.compile(r"[^\W_]+")
_AROUND = ".,;:!?()[]{}<>'\"*"

# Scripts that set no spaces between words: a run of letters is a sentence there.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

# The last three are who acts in nearly every note.
_NO_MEANING = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "being",
        "but",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "his",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "of",
        "on",
        "onto",
        "or",
        "over",
        "she",
        "so",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "was",
        "were",
        "which",
        "while",
        "who",
        "whom",
        "with",
        "would",
        "agent",
        "assistant",
        "model",
    ]
)


def words_of(note: str) -> Words:
    """The words that a note is compared by; never empty.

    A note without any, of numbers or quotations alone, is one word as a whole.
    """
    text = unicodedata.normalize("NFKC", note[:MOST_CHARS]).casefold()
    found: set[str] = set()
    for piece in _QUOTED.sub(" ", _NEGATION.sub(" not", text)).split():
        if "/" in piece or "\\" in piece:
            found.add(PLACE)
        else:
            found.update(_in_piece(piece))
    return tuple(sorted(found)) or (" ".join(text.split()),)


@lru_cache(maxsize=65_536)
def _in_piece(piece: str) -> Words:
    """The words of what stands between two spaces."""
    if _FILE.fullmatch(piece.strip(_AROUND)):
        return (PLACE,)
    return tuple(part for word in _WORD.findall(piece) for part in _parts(word))


def _parts(word: str) -> Words:
    """A word without its ending, or nothing; of a run in a script without spaces, its pairs."""
    if not word.isalpha() or word in _NO_MEANING:
        return ()
    if word.isascii():
        return (_stem(word),) if len(word) > 1 else ()
    if len(word) > 1 and _UNSPACED.search(word):
        return tuple(one + other for one, other in pairwise(word))
    return (_stem(word),)


def _stem(word: str) -> str:
    """Without the endings of an English noun or verb: `copied` and `copies` are `copy` then."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    if word.endswith("y"):
        return word[:-1] + "i"
    return word.removesuffix("e")
