"""OpenCode's storage folder: one small JSON file for each session, message and part.

    session/<project>/<session>.json
    message/<session>/<message>.json
    part/<message>/<part>.json

Earlier versions kept all three below `session`. Files are found by listing folders, never by a
name that stands in one of them, and links are not followed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.opencode_records import Shape, shape_of
from longjudge.sessions.model import Severity
from longjudge.sessions.records import parse_line
from longjudge.sessions.values import is_object

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

_KINDS = ("session", "message", "part")
_MAX_DEPTH = 4
_DATABASES = "opencode*.db"

_decode = msgspec.json.Decoder(dict[str, object]).decode


def storage_folder(path: Path) -> Path | None:
    """The storage folder that a folder is or holds; none where a database took its place."""
    if any(path.glob(_DATABASES)):
        return None
    for folder in (path, path / "storage"):
        if (folder / "message").is_dir() and (folder / "part").is_dir():
            return folder
        if (folder / "session" / "message").is_dir() and (folder / "session" / "info").is_dir():
            return folder / "session"
    return None


class OpenCodeTree:
    """Unpacks a storage folder into its files, each a record as it stands."""

    name = "opencode-storage"
    folders = True

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a folder is one; never a file."""
        return not start and path.is_dir() and storage_folder(path) is not None

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write the sessions, then each message in the order of its time with its parts.

        Raises:
            NotASessionError: there is no message in the folder.
        """
        root = storage_folder(path)
        if root is None:
            raise NotASessionError("a folder that is no storage folder of OpenCode")
        reading = _Reading(into)
        sessions = reading.records(root / ("session" if root.name != "session" else "info"))
        for _, data in sorted(sessions, key=lambda each: each[0]):
            into.add(data)
        parts = reading.folders(root / "part")
        messages = 0
        for folder in sorted(reading.folders(root / "message").values()):
            found = sorted(reading.records(folder), key=lambda each: each[0])
            for (_, id_), data in found:
                into.add(data)
                if (below := parts.pop(id_, None)) is not None:
                    reading.add_parts(below)
            messages += len(found)
            into.tell()
        for below in list(parts.values()):
            # Parts of a message that is lost, or, in earlier versions, of all of a session.
            reading.add_parts(below)
            into.tell()
        reading.finish()
        if not messages:
            raise NotASessionError("an OpenCode storage folder without a message")


class _Reading:
    """Reads files and folders, and counts those that cannot be read, or are not followed."""

    def __init__(self, into: Unpacking) -> None:
        self._into = into
        self._unreadable = 0
        self._closed = 0
        self._links = 0

    def records(self, folder: Path) -> list[tuple[tuple[float, str], bytes]]:
        """The files below a folder, each with what orders it: its time and its id."""
        found: list[tuple[tuple[float, str], bytes]] = []
        for file in self._files(folder):
            data = self._read(file)
            if data is None:
                continue
            value = _value(data)
            id_ = value.get("id")
            time = value.get("time")
            created = time.get("created") if is_object(time) else None
            name = id_ if isinstance(id_, str) and id_ else file.stem
            order = float(created) if isinstance(created, int | float) else 0.0
            found.append(((order, name), data))
        return found

    def add_parts(self, folder: Path) -> None:
        """Add the parts of a message; their names grow with time."""
        for file in self._files(folder):
            data = self._read(file)
            if data is not None:
                self._into.add(data)

    def finish(self) -> None:
        """Say what was left out."""
        for count, reason in (
            (self._unreadable, "files that cannot be read"),
            (self._closed, "folders that cannot be read"),
            (self._links, "links, which are not followed"),
        ):
            self._into.note(reason, Severity.WARNING, count)

    def folders(self, root: Path) -> dict[str, Path]:
        """The folders directly below a folder, by their names."""
        return {name: root / name for name in self._names(root)[1]}

    def _files(self, root: Path, depth: int = 0) -> list[Path]:
        """The JSON files below a folder, in the order of their names."""
        files, folders = self._names(root)
        found = [root / name for name in files]
        if depth < _MAX_DEPTH:
            for name in folders:
                found += self._files(root / name, depth + 1)
        return found

    def _names(self, root: Path) -> tuple[list[str], list[str]]:
        """The JSON files and the folders directly below a folder, by name."""
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(root) as entries:
                for each in entries:
                    if each.is_dir(follow_symlinks=False):
                        folders.append(each.name)
                    elif each.is_symlink():
                        self._links += 1
                    elif each.is_file(follow_symlinks=False) and each.name.endswith(".json"):
                        files.append(each.name)
        except FileNotFoundError:
            pass
        except OSError:
            self._closed += 1
        return sorted(files), sorted(folders)

    def _read(self, file: Path) -> bytes | None:
        try:
            data = file.read_bytes()
        except OSError:
            self._unreadable += 1
            return None
        # A todo list or a share lies among them; what is cut is kept, so that it is counted.
        return None if (value := _value(data)) and shape_of(value) is not Shape.FRAGMENT else data


def _value(data: bytes) -> dict[str, object]:
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        found = parse_line(data).objects
        return found[0] if found else {}
