"""Where the files of Claude Code's subagents lie, and which session each belongs to."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from longjudge.sessions.beside import FilesBySession
from longjudge.sessions.lines import read_head

SUBAGENTS = "subagents"

_SESSION_OF = re.compile(rb'"sessionId"\s*:\s*"([^"]{1,200})"')
_HEAD_BYTES = 16_384
_NESTED = 4


def is_subagent_file(path: Path) -> bool:
    """Whether a path is by its name the file of a subagent."""
    return path.name.startswith("agent-") and path.suffix == ".jsonl"


def subagent_files(path: Path, session_id: str | None) -> list[Path]:
    """The files of a session's subagents: in its folder, and beside it with the session's id."""
    if is_subagent_file(path):
        return []
    found = _below(path.with_suffix("") / SUBAGENTS, _NESTED)
    known = {file.name for file in found}
    if session_id:
        beside = _agents.of(path.parent, session_id)
        found += [file for _, file in beside if file.name not in known]
    return found


def belongs_to_another(path: Path) -> bool:
    """Whether a file is a subagent's whose session lies beside it and holds it as a thread."""
    if not is_subagent_file(path):
        return False
    for folder in path.parents[: _NESTED + 1]:
        if folder.name == SUBAGENTS:
            session_folder = folder.parent
            return _holds_something(session_folder.parent / f"{session_folder.name}.jsonl")
    session_id = _session_of(path)
    if not session_id or "/" in session_id or "\\" in session_id:
        return False
    return _holds_something(path.parent / f"{session_id}.jsonl")


def _holds_something(path: Path) -> bool:
    """Whether a session's file is there, and not empty: an empty one has no threads."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size > 0


def _below(folder: Path, depth: int) -> list[Path]:
    found = _agent_files(folder)
    if depth:
        try:
            with os.scandir(folder) as entries:
                names = sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))
        except OSError:
            return found
        for name in names:
            found += _below(folder / name, depth - 1)
    return found


def _agent_files(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [folder / name for name in names if is_subagent_file(folder / name)]


def _session_of(path: Path) -> str | None:
    """The session that a subagent's file names in its first records."""
    match = _SESSION_OF.search(read_head(path, _HEAD_BYTES))
    return match[1].decode("utf-8", "replace") if match else None


def _session_and_name(path: Path) -> tuple[str, str] | None:
    session = _session_of(path)
    return (session, path.name) if session else None


_agents = FilesBySession(lambda name: is_subagent_file(Path(name)), _session_and_name)
