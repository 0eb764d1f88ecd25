"""Aider's chat history: one text file for all runs in a folder, as blocks of what each part said.

    # aider chat started at 2026-06-09 14:01:00
    #### what the user asked
    what the model answered, in Markdown
    > what aider says and does

A model's Markdown may hold lines that begin like those of the others. Aider ends its own lines with
two spaces, so that where the first one does, the others must; and they follow a blank line or each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.text_lines import BOM, text_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

BLOCK = "aider"
"""The entry of a record that says whose block it is: `user`, `assistant` or `tool`."""

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
_HEADER = "# aider chat started at "
_HISTORY = "aider.chat.history.md"


class AiderText:
    """Unpacks a chat history into blocks."""

    name = "aider"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a line of the beginning says that a chat started, in what is no JSON."""
        text = start.removeprefix(BOM).lstrip()
        if not text or text[:1] in b"{[" or b"\x00" in text:
            return False
        header = _HEADER.encode()
        if text.startswith(header) or b"\n" + header in text:
            return True
        return path.name.endswith(_HISTORY) and text.startswith((b"#### ", b"> "))

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write one record for each block, in order."""
        blocks = Blocks()
        for number, line in enumerate(text_lines(descriptor), 1):
            for record, first in blocks.take(line, number):
                into.add(record, first)
        for record, first in blocks.finish():
            into.add(record, first)


class Blocks:
    """Puts lines together; gives each block once it is over, with the number of its first line."""

    def __init__(self) -> None:
        self._session = 0
        self._started: str | None = None
        self._speaker: str | None = None
        self._lines: list[str] = []
        self._first = 0
        self._after_blank = True
        self._fenced = False
        self._marked: bool | None = None

    def take(self, line: str, number: int) -> Iterator[tuple[dict[str, object], int]]:
        """Add a line without its end."""
        if line.startswith(_HEADER):
            yield from self.finish()
            self._session += 1
            self._started = line.removeprefix(_HEADER).strip()[:60]
            self._marked, self._after_blank = None, True
            return
        if not line.strip():
            self._lines.append("")
            self._after_blank = True
            return
        speaker, text = self._who(line)
        if speaker != self._speaker:
            yield from self.finish()
            self._speaker, self._first = speaker, number
        if speaker == ASSISTANT and line.lstrip().startswith("```"):
            self._fenced = not self._fenced
        self._lines.append(text)
        self._after_blank = False

    def finish(self) -> Iterator[tuple[dict[str, object], int]]:
        """The block that is still open."""
        text = "\n".join(self._lines).strip("\n")
        if self._speaker and text.strip():
            record: dict[str, object] = {BLOCK: self._speaker, "text": text}
            record["session"] = self._session
            if self._started:
                record["started"] = self._started
            yield record, self._first
        self._lines, self._speaker, self._fenced = [], None, False

    def _who(self, line: str) -> tuple[str, str]:
        """Who speaks in a line that is not blank, and what is said."""
        for speaker, mark in ((USER, "####"), (TOOL, ">")):
            if (line == mark or line.startswith(mark + " ")) and self._is_own(line, speaker):
                return speaker, line[len(mark) + 1 :].rstrip()
        return ASSISTANT, line

    def _is_own(self, line: str, speaker: str) -> bool:
        """Whether a line that looks like one of aider's is one, and not the model's Markdown."""
        ended = line.endswith("  ")
        if self._marked is None:
            self._marked = ended
        if self._marked and ended:
            return True
        if self._speaker != ASSISTANT:
            # Of a message in several lines only the last one has the mark.
            return speaker == TOOL or not self._marked
        return self._after_blank and not self._fenced and not self._marked
