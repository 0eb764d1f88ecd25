"""Where Gemini CLI keeps the files of subagents, and which file of a session counts.

The sessions of a project lie in one folder, and the subagents of each in a folder in it that is
called by the session's id. A session of an earlier release that is resumed goes on in a new file
beside the old one, which begins with all that the old one holds: `x.json`, and then `x.jsonl`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from longjudge.sessions.beside import FilesBySession
from longjudge.sessions.lines import read_head

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_PROJECT = re.compile(rb'"projectHash"\s*:')
_SUBAGENT = re.compile(rb'"kind"\s*:\s*"subagent"')
_MESSAGE = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_HEAD_BYTES = 4096
_TAIL_BYTES = 1 << 18
_SUFFIXES = (".json", ".jsonl")


def file_name(id_: str) -> str:
    """What a session's id becomes as the name of a file or folder."""
    return _UNSAFE.sub("_", id_)


def subagent_files(path: Path, session_id: str | None) -> Sequence[Path]:
    """The files of the subagents that a session started."""
    if not session_id:
        return ()
    folder = path.parent / file_name(session_id)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except (OSError, ValueError):
        return ()
    return [folder / name for name in names if _is_subagent(folder / name)]


def belongs_to_another(path: Path, searched: Path | None = None) -> bool:
    """Whether a file is read with another one, or its successor lies beside it.

    The file of a subagent is where its session lies in the folder around, unless it was its own
    folder that is `searched`.
    """
    folder = path.parent
    if path.suffix == ".jsonl" and folder != searched and _UUID.fullmatch(folder.name):
        sessions = _sessions.of(folder.parent, folder.name.lower())
        return bool(sessions) and _is_subagent(path)
    return path.suffix == ".json" and path.name.startswith("session-") and _has_gone_on(path)


def _is_subagent(path: Path) -> bool:
    head = read_head(path, _HEAD_BYTES).partition(b"\n")[0]
    return bool(_SUBAGENT.search(head) and _ID.search(head))


def _has_gone_on(path: Path) -> bool:
    """Whether a newer file of the session holds all that the older one does, or did."""
    newer = path.with_suffix(".jsonl")
    head = read_head(newer, _HEAD_BYTES)
    known = _ID.search(head)
    if known is None or (older := _ID.search(read_head(path, _HEAD_BYTES))) is None:
        return False
    if older[1] != known[1]:
        return False
    messages: list[bytes] = _MESSAGE.findall(_tail(path))
    return bool(messages) and _holds(newer, b'"id":"%b"' % messages[-1])


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES)
    except OSError:
        return b""


def _holds(path: Path, words: bytes) -> bool:
    try:
        with path.open("rb") as file:
            before = b""
            while data := file.read(_TAIL_BYTES):
                if words in before + data:
                    return True
                before = data[-len(words) :]
    except OSError:
        pass
    return False


def _session_and_name(path: Path) -> tuple[str, str] | None:
    head = read_head(path, _HEAD_BYTES)
    if not head:
        return None
    id_ = _ID.search(head) if _PROJECT.search(head) else None
    name = file_name(id_[1].decode("utf-8", "replace")).lower() if id_ else ""
    return name, path.name


_sessions = FilesBySession(lambda name: name.endswith(_SUFFIXES), _session_and_name)
