"""Folders that are sessions themselves, with one small file for each fragment.

OpenCode's storage: `session/<project>/<session>.json`, `message/<session>/<message>.json`,
`part/<message>/<part>.json` together tell the sessions. A conversation of OpenHands:
`events/<number>.json`. The folder is listed and opened, and never one of its files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.sessions.formats.opencode_tree import storage_folder
from longjudge.sessions.formats.openhands_folder import EVENTS, holds_conversation
from longjudge.sessions.lines import read_head

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

SQLITE = b"SQLite format 3\x00"
"""How a database file begins."""

DATABASE = "opencode.db"

_PARTS = ("session", "message", "part")
_COUNTED_FILES = 20_000


def is_tree(folder: Path, names: Collection[str] | None = None) -> bool:
    """Whether a folder is such a one; `names` are the names in it, where they are known."""
    if (names is None or EVENTS in names) and holds_conversation(folder):
        return True
    if names is not None and not any(each in names for each in _PARTS):
        return False
    # The folder above one can be opened as well, and is searched for others.
    return storage_folder(folder) in (folder, folder / _PARTS[0])


def is_superseded(folder: Path) -> bool:
    """Whether a database beside the storage took its sessions over, as newer releases do."""
    return read_head(folder.parent / DATABASE, len(SQLITE)) == SQLITE


def tree_facts(folder: Path) -> tuple[int, float]:
    """Bytes of the files of a storage, and when the last one was written.

    A very large one is not counted to its end: what is told then is less than the truth.
    """
    size, modified, left = 0, 0.0, _COUNTED_FILES
    pending = [os.path.join(folder, part) for part in (EVENTS, *reversed(_PARTS))]
    while pending and left > 0:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                        continue
                    facts = entry.stat(follow_symlinks=False)
                    size, modified = size + facts.st_size, max(modified, facts.st_mtime)
                    left -= 1
        except OSError:
            continue
    return size, modified
