"""Where each program keeps its sessions, on every system; one row a place.

A place lists where to look, the first one counts whose variable is set; `~` is the user's home.
Below it, patterns name the files segment by segment: `*` within a name, `**` for any folders.
What ends in `/` is a folder that is one session, or several; an empty pattern is the place itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WINDOWS = "win32"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a program; `without` names files and folders in it that are no sessions.

    `only_on` names the system that has this place, empty where all do.
    """

    program: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    without: tuple[str, ...] = ()
    only_on: str = ""

    def folder(self, platform: str, environ: Mapping[str, str]) -> Path | None:
        """The folder on a system with these variables; None where it has no such place."""
        if self.only_on not in ("", platform):
            return None
        for choice in self.folders:
            root, _, rest = choice.partition("/")
            if root == "~":
                return _home(platform, environ) / rest
            if named := _variable(root.removeprefix("$"), platform, environ):
                return Path(named) / rest
        return None


# Files of subagents are read with the session that started them.
_CLAUDE_WITHOUT = ("agent-*.jsonl", "history.jsonl", "journal.jsonl", "subagents")
_OPENCODE = ("opencode.db", "opencode-*.db", "storage/")

PLACES: tuple[Place, ...] = (
    Place(
        "Claude Code",
        ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"),
        ("**/*.jsonl",),
        _CLAUDE_WITHOUT,
    ),
    Place(
        "Claude Code",
        (
            "$CLAUDE_CONFIG_DIR/projects",
            "$XDG_CONFIG_HOME/claude/projects",
            "~/.config/claude/projects",
        ),
        ("**/*.jsonl",),
        _CLAUDE_WITHOUT,
    ),
    Place(
        "Codex",
        ("$CODEX_HOME/sessions", "~/.codex/sessions"),
        # A rollout that nobody wrote to for a week is compressed.
        ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"),
    ),
    Place(
        "Codex",
        ("$CODEX_HOME/archived_sessions", "~/.codex/archived_sessions"),
        ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"),
    ),
    Place(
        "Gemini CLI",
        ("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp"),
        ("*/chats/*.json", "*/chats/*.jsonl", "*/chats/*/*.json", "*/chats/*/*.jsonl"),
    ),
    Place("OpenCode", ("$OPENCODE_DB",), ("",)),
    Place("OpenCode", ("$XDG_DATA_HOME/opencode", "~/.local/share/opencode"), _OPENCODE),
    Place("OpenCode", ("$LOCALAPPDATA/opencode",), _OPENCODE, only_on=WINDOWS),
    Place("OpenCode", ("$APPDATA/opencode",), _OPENCODE, only_on=WINDOWS),
    Place(
        "Copilot CLI",
        ("$COPILOT_HOME/session-state", "~/.copilot/session-state"),
        ("*/events.jsonl", "*.jsonl"),
    ),
    Place(
        "Copilot CLI",
        ("$COPILOT_HOME/history-session-state", "~/.copilot/history-session-state"),
        ("*.json", "*.jsonl"),
    ),
    Place(
        "Pi",
        (
            "$PI_CODING_AGENT_SESSION_DIR",
            "$PI_CODING_AGENT_DIR/sessions",
            "~/.pi/agent/sessions",
        ),
        ("**/*.jsonl",),
    ),
)


def _described() -> str:
    """Each program with its usual place, as a list in a sentence."""
    usual: dict[str, str] = {}
    for place in PLACES:
        if (folder := place.folders[-1]).startswith("~"):
            usual.setdefault(place.program, f"{place.program} ({folder})")
    *most, last = usual.values()
    return f"{', '.join(most)} and {last}"


DESCRIBED = _described()
"""Where sessions are looked for, in words."""


def _home(platform: str, environ: Mapping[str, str]) -> Path:
    named = _variable("USERPROFILE" if platform == WINDOWS else "HOME", platform, environ)
    return Path(named or os.path.expanduser("~"))


def _variable(name: str, platform: str, environ: Mapping[str, str]) -> str:
    """A variable's value, empty where it has none; Windows does not tell cases apart."""
    value = environ.get(name, "")
    if value or platform != WINDOWS:
        return value
    return next((value for key, value in environ.items() if key.upper() == name.upper()), "")
