"""Which files of a folder name which session, looked up once for all sessions of the folder."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_FOLDERS = 8
_SETTLED_NS = 2_000_000_000
"""Two changes of a folder within one tick of its clock look like one."""


class FilesBySession:
    """The files of a folder by the session that each names.

    `read` gives the session that a file names and what the file itself is called; the session is
    empty where it names none, and None is given where the file says nothing (yet). A folder is
    looked through again when a file came or went, and silent files every time.
    """

    def __init__(
        self, fits: Callable[[str], bool], read: Callable[[Path], tuple[str, str] | None]
    ) -> None:
        self._fits = fits
        self._read = read
        self._lock = Lock()
        self._known: OrderedDict[Path, tuple[int, _Folder]] = OrderedDict()

    def of(self, folder: Path, session: str) -> Sequence[tuple[str, Path]]:
        """Name and path of each file that names the session, ordered by path."""
        try:
            changed = os.stat(folder).st_mtime_ns
            with self._lock:
                known = self._known.get(folder)
            if known is None or known[0] != changed:
                found = _Folder()
                self._note(found, folder, sorted(filter(self._fits, os.listdir(folder))))
                if time.time_ns() - changed > _SETTLED_NS:
                    self._keep(folder, changed, found)
                return found.files.get(session, ())
        except OSError:
            return ()
        # What is known is shared by threads and never changed.
        late = _Folder()
        self._note(late, folder, known[1].silent)
        more = late.files.get(session, ())
        return sorted([*known[1].files.get(session, ()), *more], key=lambda each: each[1])

    def _note(self, found: _Folder, folder: Path, names: Sequence[str]) -> None:
        for name in names:
            path = folder / name
            said = self._read(path)
            if said is None:
                found.silent.append(name)
            elif said[0]:
                found.files.setdefault(said[0], []).append((said[1], path))

    def _keep(self, folder: Path, changed: int, found: _Folder) -> None:
        with self._lock:
            self._known[folder] = changed, found
            self._known.move_to_end(folder)
            while len(self._known) > _FOLDERS:
                self._known.popitem(last=False)


class _Folder:
    """What is known of one folder: files by session, and names of files that said nothing."""

    __slots__ = ("files", "silent")

    def __init__(self) -> None:
        self.files: dict[str, list[tuple[str, Path]]] = {}
        self.silent: list[str] = []
