"""The sessions that Claude Code and Codex keep on this computer, found without reading them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.sessions.find import SessionFile
from longjudge.sessions.formats import codex_files
from longjudge.sessions.subagents import SUBAGENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLACES = "Claude Code (~/.claude/projects) and Codex (~/.codex/sessions)"

_NO_SESSIONS = frozenset({"history.jsonl", "journal.jsonl"})


def discover_sessions() -> list[SessionFile]:
    """List the sessions of Claude Code and Codex, largest first, each once.

    `CLAUDE_CONFIG_DIR` and `CODEX_HOME` are followed. Files of subagents belong to the session
    that started them and are left out, as are files that hold nothing. What cannot be searched is
    passed over; nothing is raised here.
    """
    claude, codex = _home("CLAUDE_CONFIG_DIR", ".claude"), _home("CODEX_HOME", ".codex")
    found: dict[tuple[int, int], SessionFile] = {}
    seen: set[tuple[int, int]] = set()
    for folder, wanted in (
        (claude / "projects", _of_claude_code),
        (codex / "sessions", _of_codex),
        (codex / "archived_sessions", _of_codex),
    ):
        for entry, facts in _files_below(folder, wanted, seen):
            if wanted is _of_codex and codex_files.belongs_to_another(Path(entry)):
                continue
            file = SessionFile(Path(entry), False, facts.st_size, facts.st_mtime)
            found.setdefault((facts.st_dev, facts.st_ino), file)
    return sorted(found.values(), key=lambda file: (-file.bytes, str(file.path)))


def _home(variable: str, folder: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else Path(os.path.expanduser("~")) / folder


def _of_claude_code(name: str) -> bool:
    return name.endswith(".jsonl") and not name.startswith("agent-") and name not in _NO_SESSIONS


def _of_codex(name: str) -> bool:
    return name.startswith("rollout-") and name.endswith(".jsonl")


def _files_below(
    folder: Path, wanted: Callable[[str], bool], seen: set[tuple[int, int]]
) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files with content; a folder that was seen is not entered again."""
    pending = [str(folder)]
    while pending:
        current = pending.pop()
        try:
            facts = os.stat(current)
            if (facts.st_dev, facts.st_ino) in seen:
                continue
            seen.add((facts.st_dev, facts.st_ino))
            with os.scandir(current) as entries:
                here = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ValueError):
            continue
        for entry in here:
            try:
                if entry.is_dir():
                    if entry.name != SUBAGENTS:
                        pending.append(entry.path)
                elif wanted(entry.name):
                    facts = entry.stat()
                    if stat.S_ISREG(facts.st_mode) and facts.st_size:
                        yield entry.path, facts
            except OSError:
                continue
