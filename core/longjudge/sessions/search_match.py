"""Whether and where a text holds what is looked for."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from longjudge.sessions.search_words import case_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]

PART_CHARS = 1 << 18
"""How much of a text is looked through in one go, during which nothing else of Python runs."""


class Phrase:
    """A phrase that stands in a text as it is, or with other capitals."""

    def __init__(self, words: str, *, ignore_case: bool) -> None:
        self._words = words
        self._ignore_case = ignore_case
        self._bytes = words.lower().encode() if ignore_case and words.isascii() else None
        self._pattern: re.Pattern[str] | None = None

    def is_in(self, text: str) -> bool:
        """Whether a text holds it."""
        if self._words in text:
            return True
        if not self._ignore_case:
            return False
        if self._bytes is None:
            return bool(self.spans(text, 1))
        # Bytes have capitals in ASCII only, and every letter stays one.
        return any(
            self._bytes in text[start:end].encode("utf-8", "surrogatepass").lower()
            for start, end in self._parts(text)
        )

    def spans(self, text: str, most: int) -> Sequence[Span]:
        """Where it stands in a text, the first places."""
        found: list[Span] = []
        for start, end in self._parts(text):
            first = max(start, found[-1][1]) if found else start
            matches = self._compiled.finditer(text, first, end)
            found += [match.span() for match in islice(matches, most - len(found))]
            if len(found) >= most:
                break
        return found

    def _parts(self, text: str) -> Iterator[Span]:
        """Parts of a text, in one of which it stands whole wherever it stands."""
        more = len(self._words) - 1
        for start in range(0, len(text), PART_CHARS):
            yield start, min(len(text), start + PART_CHARS + more)

    @property
    def _compiled(self) -> re.Pattern[str]:
        if self._pattern is None:
            forms = case_forms if self._ignore_case else _itself
            self._pattern = re.compile("".join(_any_of(forms(char)) for char in self._words))
        return self._pattern


def _itself(char: str) -> tuple[str, ...]:
    return (char,)


def _any_of(forms: Sequence[str]) -> str:
    if len(forms) == 1:
        return re.escape(forms[0])
    return f"[{''.join(map(re.escape, forms))}]"
