"""Where the rollouts of Codex's subagents lie, and which session each belongs to.

They lie in the folder of the day that they were started on, as sessions do, and name the session
that started them in their first record.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from longjudge.sessions.beside import FilesBySession
from longjudge.sessions.lines import read_head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_META = re.compile(rb'"type"\s*:\s*"session_meta"')
_ID = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')
_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([^"\\]{1,200})"')
_HEAD_BYTES = 16_384


def subagent_files(path: Path, session_id: str | None) -> list[Path]:
    """The files of a session's subagents beside it, and of those that they started."""
    if not session_id:
        return []
    found: list[Path] = []
    pending, asked = [session_id], set[str]()
    while pending:
        starter = pending.pop()
        if starter not in asked:
            asked.add(starter)
            children = _rollouts.of(path.parent, starter)
            found += [child for _, child in children if child != path]
            pending += [id_ for id_, _ in children]
    return found


def belongs_to_another(path: Path) -> bool:
    """Whether a file is a subagent's whose session lies beside it and holds it as a thread."""
    if not path.name.startswith("rollout-") or path.suffix != ".jsonl":
        return False
    # Files that name each other in a ring have no session that holds them.
    seen = {path}
    starter = _starter_of(path)
    if starter is None:
        return False
    while starter is not None and starter not in seen:
        seen.add(starter)
        starter = _starter_of(starter)
    return starter is None


def head_of(path: Path) -> tuple[str | None, str | None]:
    """The session's id that a rollout names first, and the session that started it."""
    head = read_head(path, _HEAD_BYTES).partition(b"\n")[0]
    if not _META.search(head):
        return None, None
    id_, parent = _ID.search(head), _PARENT.search(head)
    return (
        id_[1].decode("utf-8", "replace") if id_ else None,
        parent[1].decode("utf-8", "replace") if parent else None,
    )


def _parent_and_id(path: Path) -> tuple[str, str] | None:
    id_, parent = head_of(path)
    return (parent or "", id_) if id_ else None


_rollouts = FilesBySession(lambda name: name.endswith(".jsonl"), _parent_and_id)


def _starter_of(path: Path) -> Path | None:
    """The file beside a subagent's of the session that started it."""
    id_ = head_of(path)[1]
    if not id_:
        return None
    try:
        changed = os.stat(path.parent).st_mtime_ns
    except OSError:
        return None
    named = _by_ending(path.parent, changed, len(id_)).get(id_, ())
    return next((file for name in named if head_of(file := path.parent / name)[0] == id_), None)


@lru_cache(maxsize=8)
def _by_ending(folder: Path, changed: int, length: int) -> Mapping[str, Sequence[str]]:
    """The names in a folder by what they end with: their session's id, if it has this length."""
    found: dict[str, list[str]] = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except OSError:
        return found
    for name in names:
        found.setdefault(name.removesuffix(".jsonl")[-length:], []).append(name)
    return found
