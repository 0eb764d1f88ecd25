"""The sessions that agents keep on this computer, found without reading them."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.sessions.find import SessionFile
from longjudge.sessions.formats import codex_files, gemini_files
from longjudge.sessions.places import PLACES
from longjudge.sessions.trees import is_superseded, is_tree, tree_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.places import Place

_ANY_FOLDERS = "**"
_PACKED = ".zst"
_MOST_LINKED = 2000
"""So many folders behind links are searched: a link may lead to everything that there is."""


def discover_sessions(
    platform: str = sys.platform, environ: Mapping[str, str] | None = None
) -> list[SessionFile]:
    """List the sessions in the places that are known, largest first, each once.

    The programs' own variables are followed. Files of subagents belong to the session that
    started them and are left out, as are files that hold nothing. What cannot be searched is
    passed over; nothing is raised here.
    """
    found: dict[tuple[int, int], SessionFile] = {}
    seen: set[tuple[int, int]] = set()
    for place in PLACES:
        folder = place.folder(platform, os.environ if environ is None else environ)
        if folder is None:
            continue
        for path, facts in _Search(place, seen).below(folder):
            key = facts.st_dev, facts.st_ino
            if key in found or codex_files.belongs_to_another(path):
                continue
            if gemini_files.belongs_to_another(path):
                continue
            if stat.S_ISDIR(facts.st_mode):
                size, modified = tree_facts(path)
                found[key] = SessionFile(path, False, size, modified)
            else:
                found[key] = SessionFile(path, False, facts.st_size, facts.st_mtime)
    return sorted(found.values(), key=lambda file: (-file.bytes, str(file.path)))


class _Search:
    """A search of one place; a folder that was seen is not entered again."""

    def __init__(self, place: Place, seen: set[tuple[int, int]]) -> None:
        self._seen = seen
        self._files = [each.split("/") for each in place.files if not each.endswith("/")]
        self._trees = [each.split("/")[:-1] for each in place.files if each.endswith("/")]
        self._without = place.without
        self._linked = 0

    def below(self, folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
        """Regular files with content, and folders that are sessions."""
        if [""] in self._files:
            yield from _file(folder)
            return
        pending: list[tuple[str, list[str], bool]] = [(str(folder), [], False)]
        while pending:
            current, parts, is_linked = pending.pop()
            self._linked += is_linked
            if is_linked and self._linked > _MOST_LINKED:
                continue
            try:
                facts = os.stat(current)
                if (facts.st_dev, facts.st_ino) in self._seen:
                    continue
                self._seen.add((facts.st_dev, facts.st_ino))
                with os.scandir(current) as entries:
                    here = sorted(entries, key=lambda entry: entry.name)
            except (OSError, ValueError):
                continue
            names = frozenset(entry.name for entry in here)
            for entry in here:
                # Where a file system does not tell cases apart, a name may come in any.
                inside = [*parts, entry.name.lower()]
                if any(fnmatchcase(inside[-1], each) for each in self._without):
                    continue
                if _is_folder(entry):
                    if _fits_any(inside, self._trees):
                        yield from _tree(Path(entry.path))
                    elif any(_leads_to(inside, pattern) for pattern in self._files):
                        pending.append((entry.path, inside, is_linked or entry.is_symlink()))
                elif _fits_any(inside, self._files) and not _lies_unpacked(entry.name, names):
                    yield from _file(Path(entry.path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _file(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(facts.st_mode) and facts.st_size:
        yield path, facts


def _tree(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    if is_tree(folder) and not is_superseded(folder):
        with contextlib.suppress(OSError):
            yield folder, os.stat(folder)


def _lies_unpacked(name: str, beside: frozenset[str]) -> bool:
    return name.endswith(_PACKED) and name.removesuffix(_PACKED) in beside


def _fits_any(parts: Sequence[str], patterns: Sequence[Sequence[str]]) -> bool:
    return any(_fits(parts, pattern) for pattern in patterns)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path, as its segments, fits a pattern; `**` stands for any number of them."""
    if not pattern:
        return not parts
    if pattern[0] == _ANY_FOLDERS:
        return any(_fits(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _leads_to(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether something below a folder, as its segments, may fit a pattern."""
    if not parts or not pattern:
        return bool(pattern)
    if pattern[0] == _ANY_FOLDERS:
        return True
    return fnmatchcase(parts[0], pattern[0]) and _leads_to(parts[1:], pattern[1:])
