"""What an agent hands to a hook of its own, and which session file that is about.

Claude Code writes a JSON object to the hook's standard input, with `hook_event_name`, `session_id`
and `transcript_path`; `SessionEnd` comes when a session ends, `Stop` when the agent has answered
(https://code.claude.com/docs/en/hooks). Codex's hooks do the same under the same names, where the
path may be null (openai/codex, codex-rs/hooks/schema/generated/stop.command.input.schema.json;
`SessionEnd` since pull request 33895). Codex's older `notify` adds the object as last argument when
a turn ends, with `type` `agent-turn-complete` and `thread-id`
(codex-rs/hooks/src/legacy_notify.rs); the thread's rollout is the file whose name ends with that
id.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import SessionError, UsageError
from longjudge.sessions.formats import codex_files
from longjudge.sessions.places import PLACES
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 4 * 1024 * 1024
"""So large a payload is read: it may hold the agent's last message, and nothing longer."""

_ENDS = frozenset({"SessionEnd", "Stop", "agent-turn-complete"})
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
_ROLLOUT, _ENDINGS = "rollout-", (".jsonl", ".jsonl.zst")


class Tool(StrEnum):
    """An agent whose hooks are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class HookCall:
    """What an agent calls for: mostly because a session or a turn of it has ended.

    `path` is its file, absolute, and empty where only the `session`'s id was told.
    """

    event: str
    session: str = ""
    path: str = ""

    @property
    def ends_something(self) -> bool:
        """Whether the event comes when there is something new to judge as a whole."""
        return self.event in _ENDS

    def to_json(self) -> str:
        """What `read_call` makes it of again."""
        told = {
            "hook_event_name": self.event,
            "session_id": self.session,
            "transcript_path": self.path or None,
        }
        return msgspec.json.encode(told).decode()


class _Payload(msgspec.Struct, rename={"thread_id": "thread-id"}):
    """What is read of a payload; anything else in it is passed over."""

    type: str = ""
    hook_event_name: str = ""
    session_id: str = ""
    thread_id: str = ""
    transcript_path: str | None = None


def is_whole(payload: bytes | bytearray) -> bool:
    """Whether bytes are a JSON document, with nothing after it."""
    try:
        msgspec.json.decode(payload, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def read_call(payload: bytes, tool: Tool | None) -> HookCall:
    """What a payload tells; of an event that ends nothing, no more than its name.

    Raises:
        UsageError: it is no payload of a hook, or not one of this tool's.
    """
    if len(payload) > MOST_BYTES:
        raise UsageError(f"the hook was handed more than {MOST_BYTES:,} bytes, and read none of it")
    try:
        told = msgspec.json.decode(payload, type=_Payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"the hook was handed no JSON object of an agent's: {clean_line(str(error), 120)}; see"
            " docs/hooks.md for how it is set up"
        ) from error
    event = told.hook_event_name or told.type
    if not event:
        raise UsageError("the hook was handed an object that names no event; see docs/hooks.md")
    if tool is Tool.CLAUDE_CODE and told.type and not told.hook_event_name:
        raise UsageError(f"{clean_line(event, 80)} is no event of Claude Code's; use `hook codex`")
    if event not in _ENDS:
        return HookCall(event)
    call = HookCall(event, told.session_id or told.thread_id, _absolute(told.transcript_path))
    if not call.path and (tool is Tool.CLAUDE_CODE or not _ID.fullmatch(call.session)):
        raise UsageError(f"{event} names no session file, so there is nothing to judge")
    return call


def _absolute(path: str | None) -> str:
    """A path as it is opened, empty where none was told.

    Raises:
        UsageError: it begins nowhere.
    """
    if not path:
        return ""
    whole = os.path.expanduser(path)
    if not os.path.isabs(whole):
        raise UsageError(f"{clean_line(path)}: transcript_path is no absolute path")
    return whole


def session_file(
    call: HookCall, platform: str = sys.platform, environ: Mapping[str, str] | None = None
) -> Path:
    """The file to judge; of Codex, where it was put since, or where its rollouts are.

    Raises:
        SessionError: there is none, or it is no session of its own.
    """
    path = Path(call.path) if call.path else None
    if path is None or not os.path.exists(path):
        # Codex also calls for a thread that it archives, and moves its file.
        path = _rollout(call.session, platform, os.environ if environ is None else environ) or path
    if path is None:
        raise SessionError(
            f"{clean_line(call.session, 100)}: no rollout of that session where Codex keeps them;"
            " set CODEX_HOME to its folder"
        )
    name = clean_line(str(path))
    try:
        facts = path.stat()
    except (OSError, ValueError) as error:
        raise SessionError(f"{name}: no such file, so the session has nothing to judge") from error
    if not stat.S_ISREG(facts.st_mode):
        raise SessionError(f"{name}: is no plain file, and was not opened")
    if codex_files.belongs_to_another(path):
        raise SessionError(f"{name}: is a subagent's, and judged with the session that started it")
    return path


def _rollout(session: str, platform: str, environ: Mapping[str, str]) -> Path | None:
    """The rollout of a session; days are folders, and the newest are looked through first."""
    if not _ID.fullmatch(session):
        return None
    endings = tuple(f"-{session}{ending}" for ending in _ENDINGS)
    for place in PLACES:
        folder = place.folder(platform, environ) if place.program == "Codex" else None
        if folder is None:
            continue
        for below, folders, names in os.walk(folder):
            folders.sort(reverse=True)
            for name in sorted(names):
                if not (name.startswith(_ROLLOUT) and name.endswith(endings)):
                    continue
                # What ends alike may be another session whose id is longer.
                if codex_files.head_of(path := Path(below, name))[0] in (session, None):
                    return path
    return None
