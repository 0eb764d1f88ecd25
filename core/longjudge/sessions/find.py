"""Which files to open for the paths that someone named."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats import codex_files
from longjudge.sessions.lines import read_head
from longjudge.sessions.subagents import SUBAGENTS, belongs_to_another

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file that may hold a session; `named` when someone named it, not only its folder.

    `modified` is when it was written, in seconds since 1970. `session` is the id of one of the
    sessions of a file with many.
    """

    path: Path
    named: bool
    bytes: int
    modified: float = 0.0
    session: str | None = None

    def __hash__(self) -> int:
        # A path takes long to hash, and size and time tell files apart as well.
        return hash((self.bytes, self.modified, self.session))


def find_sessions(paths: Sequence[Path]) -> list[SessionFile]:
    """List the files to open, largest first, each once.

    A named file is listed whatever it is called. Folders are searched to the bottom for `.json`,
    `.jsonl` and `.ndjson`, and for files without suffix that begin like JSON; version control and
    package folders are left out, links are followed once, and the file of a subagent is left to
    the session that it belongs to, unless its own folder was named. A named path that does not
    exist or cannot be searched is listed as well (named, 0 bytes): loading it raises the
    SessionError to report, so that one bad path never hides the others. Nothing is raised here.
    """
    found: dict[tuple[int, int] | str, SessionFile] = {}
    for path in paths:
        if os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK):
            continue
        try:
            facts = path.stat()
        except (OSError, ValueError):
            found.setdefault(str(path), SessionFile(path, True, 0))
            continue
        size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
        file = SessionFile(path, True, size, facts.st_mtime)
        found.setdefault((facts.st_dev, facts.st_ino), file)
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if os.path.isdir(path):
            for file, facts in _files_below(path, seen):
                if _in_sessions_folder(file, path) and belongs_to_another(file):
                    continue
                if codex_files.belongs_to_another(file):
                    continue
                key = (facts.st_dev, facts.st_ino)
                listed = SessionFile(file, False, facts.st_size, facts.st_mtime)
                found.setdefault(key, listed)
    return sorted(found.values(), key=lambda file: (-file.bytes, str(file.path)))


def _in_sessions_folder(file: Path, root: Path) -> bool:
    """Whether the session that a subagent's file may belong to was searched for as well."""
    folders = [each.name for each in file.parents]
    if SUBAGENTS not in folders:
        return True
    depth = folders.index(SUBAGENTS)
    # The session lies beside the folder that holds `subagents`.
    return root in list(file.parents)[depth + 2 :]


def _files_below(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files that may hold a session; a folder that was seen is not entered again."""
    pending = [folder]
    while pending:
        current = pending.pop()
        try:
            facts = current.stat()
            names = sorted(os.listdir(current))
        except OSError:
            continue
        if (facts.st_dev, facts.st_ino) in seen:
            continue
        seen.add((facts.st_dev, facts.st_ino))
        for name in names:
            path = current / name
            try:
                facts = path.stat()
            except OSError:
                continue
            if stat.S_ISDIR(facts.st_mode):
                if name not in _SKIPPED_FOLDERS:
                    pending.append(path)
            elif stat.S_ISREG(facts.st_mode) and _may_hold_session(path):
                yield path, facts


def _may_hold_session(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix:
        return suffix in _SUFFIXES
    start = read_head(path, 64)
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
