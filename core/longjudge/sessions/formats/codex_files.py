"""Where the rollouts of Codex's subagents lie, and which session each belongs to.

They lie in the folder of the day that they were started on, as sessions do, and name the session
that started them in their first record.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_META = re.compile(rb'"type"\s*:\s*"session_meta"')
_ID = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')
_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([^"\\]{1,200})"')
_HEAD_BYTES = 16_384
_MAX_FILES = 400


def subagent_files(path: Path, session_id: str | None) -> list[Path]:
    """The files of a session's subagents beside it, and of those that they started."""
    if not session_id:
        return []
    children: dict[str, list[tuple[str, Path]]] = {}
    names = [name for name in _names(path.parent) if name != path.name]
    # Names begin with the time, and a subagent is started after its session.
    later = [name for name in names if name > path.name]
    for name in later[:_MAX_FILES] if len(names) > _MAX_FILES else names:
        id_, parent = head_of(path.parent / name)
        if id_ and parent:
            children.setdefault(parent, []).append((id_, path.parent / name))
    found: list[Path] = []
    pending = [session_id]
    while pending:
        for id_, child in children.pop(pending.pop(), []):
            found.append(child)
            pending.append(id_)
    return found


def belongs_to_another(path: Path) -> bool:
    """Whether a file is a subagent's whose session lies beside it and holds it as a thread."""
    if not path.name.startswith("rollout-") or path.suffix != ".jsonl":
        return False
    parent = head_of(path)[1]
    if not parent:
        return False
    try:
        changed = os.stat(path.parent).st_mtime_ns
    except OSError:
        return False
    return parent in _endings(path.parent, changed, len(parent))


def head_of(path: Path) -> tuple[str | None, str | None]:
    """The session's id that a rollout names first, and the session that started it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None, None
    try:
        head = os.read(descriptor, _HEAD_BYTES).partition(b"\n")[0]
    except OSError:
        return None, None
    finally:
        os.close(descriptor)
    if not _META.search(head):
        return None, None
    id_, parent = _ID.search(head), _PARENT.search(head)
    return (
        id_[1].decode("utf-8", "replace") if id_ else None,
        parent[1].decode("utf-8", "replace") if parent else None,
    )


@lru_cache(maxsize=8)
def _endings(folder: Path, changed: int, length: int) -> frozenset[str]:
    """What the names in a folder end with: their session's id, if it has this length."""
    return frozenset(name.removesuffix(".jsonl")[-length:] for name in _names(folder))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except OSError:
        return []
