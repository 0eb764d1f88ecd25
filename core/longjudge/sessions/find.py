"""Which files to open for the paths that someone named."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats import codex_files, gemini_files
from longjudge.sessions.formats.aider_text import AiderText
from longjudge.sessions.lines import read_head
from longjudge.sessions.subagents import SUBAGENTS, belongs_to_another
from longjudge.sessions.trees import SQLITE, is_superseded, is_tree, tree_facts
from longjudge.sessions.unpack import FIRST_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".eval"})
_PACKED = frozenset({".gz", ".zst", ".bz2", ".xz", ".zip"})
_AIDER = AiderText()
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

    A named file is listed whatever it is called. Folders are searched to the bottom for files that
    are called like sessions, packed ones too (`x.jsonl.gz`), for databases and aider's histories,
    and for files without suffix that begin like JSON; version control and package folders are left
    out, links are followed once. A folder that is a session itself is listed as one file, and
    the file of a subagent is left to the session that it belongs to, unless its own folder was
    named. A named path that does not exist or cannot be searched is listed as well (named, 0
    bytes): loading it raises the SessionError to report, so that one bad path never hides the
    others. Nothing is raised here.
    """
    found: dict[tuple[int, int] | str, SessionFile] = {}
    folders: list[Path] = []
    for path in paths:
        searched = os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)
        if searched and not is_tree(path):
            folders.append(path)
            continue
        try:
            facts = path.stat()
        except (OSError, ValueError):
            found.setdefault(str(path), SessionFile(path, True, 0))
            continue
        found.setdefault((facts.st_dev, facts.st_ino), _listed(path, facts, named=True))
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        for path, facts in _files_below(folder, seen):
            if _in_sessions_folder(path, folder) and belongs_to_another(path):
                continue
            if codex_files.belongs_to_another(path):
                continue
            if gemini_files.belongs_to_another(path, folder):
                continue
            key = (facts.st_dev, facts.st_ino)
            if key not in found:
                found[key] = _listed(path, facts, named=False)
    return sorted(found.values(), key=lambda file: (-file.bytes, str(file.path)))


def _listed(path: Path, facts: os.stat_result, *, named: bool) -> SessionFile:
    if stat.S_ISDIR(facts.st_mode):
        # A folder is listed only where it is a session, or cannot be searched.
        size, modified = tree_facts(path)
        return SessionFile(path, named, size, modified or facts.st_mtime)
    size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return SessionFile(path, named, size, facts.st_mtime)


def _in_sessions_folder(file: Path, root: Path) -> bool:
    """Whether the session that a subagent's file may belong to was searched for as well."""
    folders = [each.name for each in file.parents]
    if SUBAGENTS not in folders:
        return True
    depth = folders.index(SUBAGENTS)
    # The session lies beside the folder that holds `subagents`.
    return root in list(file.parents)[depth + 2 :]


def _files_below(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, os.stat_result]]:
    """Files and folders that may be sessions; a folder that was seen is not entered again."""
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
        if is_tree(current, names):
            if not is_superseded(current):
                yield current, facts
            continue
        here = frozenset(names)
        for name in names:
            path = current / name
            try:
                facts = path.stat()
            except OSError:
                continue
            if stat.S_ISDIR(facts.st_mode):
                if name not in _SKIPPED_FOLDERS:
                    pending.append(path)
            elif stat.S_ISREG(facts.st_mode) and _may_hold_session(path, here):
                yield path, facts


def _may_hold_session(path: Path, beside: Collection[str]) -> bool:
    """Whether a file is called like a session, or begins like one where the name says nothing."""
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES:
        return True
    if suffix in _PACKED:
        # What lies beside it unpacked is read from there.
        return path.with_suffix("").suffix.lower() in _SUFFIXES and path.stem not in beside
    if suffix == ".db":
        return read_head(path, len(SQLITE)) == SQLITE
    if suffix == ".md":
        return _AIDER.fits(read_head(path, FIRST_BYTES), path)
    if suffix:
        return False
    start = read_head(path, 64)
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
