"""A conversation of OpenHands as it keeps it itself: a folder with a small file for each event.

    <conversation>/events/event-00012-<id>.json
    <conversation>/events/12.json

The first is how the second generation names them.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.openhands_events import is_first_generation, is_second_generation
from longjudge.sessions.model import Severity
from longjudge.sessions.records import parse_line

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

EVENTS = "events"
"""The name of the folder of the events."""

UNREADABLE = "files of events that cannot be read"
MISSING = "events by whose number no file is there"

_NAME = re.compile(r"(?:event-)?(\d{1,12})(?:-[\w-]{1,80})?\.json")
_LOOKED_AT = 20
_MAX_EVENT = 256 << 20


def holds_conversation(folder: Path) -> bool:
    """Whether a folder is a conversation, by the name and the content of one of its events."""
    try:
        with os.scandir(folder / EVENTS) as entries:
            names = [
                entry.name
                for entry in islice(entries, _LOOKED_AT)
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return False
    # The one that was being written when all ended may be empty.
    return any(_is_event(folder / EVENTS / name) for name in names)


def _is_event(file: Path) -> bool:
    found = parse_line(_read(file) or b"").objects
    return any(is_first_generation(each) or is_second_generation(each) for each in found)


class OpenHandsFolder:
    """Unpacks a conversation into its events, in the order of their numbers."""

    name = "openhands-folder"
    folders = True

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a folder is one; never a file."""
        return not start and path.is_dir() and holds_conversation(path)

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write out event after event.

        Raises:
            NotASessionError: none of them can be read.
        """
        numbered: list[tuple[int, str]] = []
        with os.scandir(path / EVENTS) as entries:
            for entry in entries:
                match = _NAME.fullmatch(entry.name)
                if match and entry.is_file(follow_symlinks=False):
                    numbered.append((int(match[1]), entry.name))
        unreadable = 0
        for _, name in sorted(numbered):
            into.tell()
            data = _read(path / EVENTS / name)
            if data is None:
                unreadable += 1
            else:
                into.add(data)
        if unreadable == len(numbered):
            raise NotASessionError("a folder of OpenHands without an event that can be read")
        into.note(UNREADABLE, Severity.WARNING, unreadable)
        numbers = {number for number, _ in numbered}
        into.note(MISSING, Severity.WARNING, max(numbers) + 1 - len(numbers))
        into.around["id"] = path.name


def _read(file: Path) -> bytes | None:
    try:
        if file.stat().st_size > _MAX_EVENT:
            return None
        data = file.read_bytes()
        return data if data.strip() else None
    except OSError:
        return None
