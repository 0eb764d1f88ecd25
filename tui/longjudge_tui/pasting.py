"""Pasted text is text: an escape sequence in it presses no key.

Textual reads the sequences inside a bracketed paste as it reads those around it, and gives what it
does not know to the app as keys. Here every escape in a paste becomes its picture before it is
parsed, all but the one that ends the paste.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.message import Message

ESCAPE, PICTURE = "\x1b", "\u241b"


class PasteFilter:
    """Goes over input as it comes, in parts that may be cut anywhere."""

    def __init__(self) -> None:
        self._pasting = False
        self._matched = ""

    def __call__(self, data: str) -> str:
        """What to parse now; what may be the end of a paste waits for its rest."""
        passed: list[str] = []
        for character in data:
            mark = BRACKETED_PASTE_END if self._pasting else BRACKETED_PASTE_START
            if character != mark[len(self._matched)]:
                if self._pasting:
                    passed.append(self._matched.replace(ESCAPE, PICTURE))
                self._matched = ""
            if character != mark[len(self._matched)]:
                passed.append(character)
                continue
            self._matched += character
            if not self._pasting:
                # Outside a paste nothing waits: it may be the escape key.
                passed.append(character)
            if self._matched == mark:
                if self._pasting:
                    passed.append(mark)
                self._pasting, self._matched = not self._pasting, ""
        return "".join(passed)


class PasteParser(XTermParser):
    """Textual's parser behind the filter."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._filter = PasteFilter()

    def feed(self, data: str) -> Iterable[Message]:
        """Parse some input; none at all is its end."""
        if not data:
            return super().feed(data)
        passed = self._filter(data)
        return super().feed(passed) if passed else ()
