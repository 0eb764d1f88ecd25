"""Whether and where a text holds what is looked for."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from longjudge.sessions.search_words import case_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[int, int]


class Phrase:
    """A phrase that stands in a text as it is, or with other capitals."""

    def __init__(self, words: str, *, ignore_case: bool) -> None:
        self._words = words
        self._ignore_case = ignore_case
        self._bytes = words.lower().encode() if ignore_case and words.isascii() else None
        self._pattern: re.Pattern[str] | None = None

    def is_in(self, text: str) -> bool:
        """Whether a text holds it."""
        if not self._ignore_case:
            return self._words in text
        if self._bytes is not None:
            if self._words in text:
                return True
            # Bytes have capitals in ASCII only, and every letter stays one.
            return self._bytes in text.encode("utf-8", "surrogatepass").lower()
        return self._compiled.search(text) is not None

    def spans(self, text: str, most: int) -> Sequence[Span]:
        """Where it stands in a text, the first places."""
        found = self._compiled.finditer(text)
        return [match.span() for match in islice(found, most)]

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
