"""Which events of Codex are kept, and in which thread.

A subagent has a file of its own. It becomes a thread of the session that started it, linked to the
call by what that session's file says: a notice, the call's result, else the prompt.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.codex_files import head_of
from longjudge.sessions.formats.codex_records import CodexRecord, arguments_of
from longjudge.sessions.formats.codex_survey import Survey, level_of
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.keeper import RecordKeeper
from longjudge.sessions.key_set import KeySet, as_key
from longjudge.sessions.lines import index_lines, open_regular, read_line_blocks
from longjudge.sessions.model import EventKind, Severity
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.index import IndexBuilder
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

REPEATED = "texts and calls that another record tells as well, left out"
INHERITED = "events copied from the session that this one was forked from, left out"
COPIES = "copies of earlier events, left out"

_STARTERS = frozenset({"spawn_agent", "spawn_agents_on_csv"})
_STARTED = ("collab_agent_spawn_end", "sub_agent_activity")
_PROMPT_KEYS = ("message", "prompt", "task", "items")
_TEXT_KEYS = ("message", "text", "content", "output", "arguments", "input")
_BOOKKEEPING = frozenset(
    {
        *("session_meta", "turn_context", "world_state", "state", "compacted"),
        "inter_agent_communication_metadata",
    }
)
# Notices that only pass on what others say whole, or that say nothing of the work.
_SMALL_TALK = frozenset(
    {
        *("background_event", "turn.completed", "exec_command_output_delta", "plan_update"),
        *("agent_message_delta", "agent_reasoning_delta", "exec_command_begin", "turn_diff"),
        *("mcp_tool_call_begin", "patch_apply_begin", "web_search_begin", "task_started"),
        *("item_started", "raw_response_item", "session_configured", "guardian_assessment"),
        *("agent_reasoning_section_break", "thread_name_updated", "deprecation_notice"),
    }
)
_AGENT_ID = re.compile(r'"agent_id"\s*:\s*"([^"\\]{1,200})"')
_DIGIT = re.compile(r"[1-9]")


class CodexKeeper(RecordKeeper[CodexRecord]):
    """Keeps the events of one file in one thread: `main`, or the one of a subagent."""

    def __init__(
        self, gathering: Gathering, notes: Notes, survey: Survey, thread: str = MAIN_THREAD
    ) -> None:
        super().__init__(gathering, notes)
        self._survey = survey
        self._thread = thread
        self._seen = KeySet()
        self._starters: dict[str, int] = {}
        self._started: dict[str, str] = {}

    def keep(
        self, record: CodexRecord, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """Leave out what is inherited, told twice or written twice; keep the rest."""
        self._note_started(record)
        if self._survey.is_inherited(line):
            self.notes.add(INHERITED, line, Severity.INFO)
            return None
        if self._survey.is_copy(record, line, position, event):
            self.notes.add(REPEATED, line, Severity.INFO)
            return None
        if self._is_copy(record, position, event, digest):
            self.notes.add(COPIES, line, Severity.INFO)
            return None
        rows = self.session.thread(self._thread)
        self._note_agents(record, event, len(rows))
        if self._thread == MAIN_THREAD:
            self.facts.learn(event)
        return rows

    def pass_over(self, record: CodexRecord, line: int) -> bool:
        """Count a record without events by its type; the first head names the session."""
        payload = record.payload
        if record.type == "session_meta" and self._thread == MAIN_THREAD:
            id_ = text_or_none(payload.get("id")) or text_or_none(payload.get("session_id"))
            self.facts.id = self.facts.id or id_
        self._note_started(record)
        if not record.type and "payload" not in payload:
            return True
        severity = Severity.WARNING if _says_something(record) else Severity.INFO
        self.notes.add(f"{_label(record)} records, no events", line, severity)
        return False

    def finish(self) -> None:
        """Link each subagent to the call that the file says it was started by."""
        for agent, call_id in self._started.items():
            if (row := self._starters.get(call_id)) is not None:
                self.session.link(thread_name(agent), self._thread, row)

    def _is_copy(self, record: CodexRecord, position: int, event: Event, digest: bytes) -> bool:
        """Whether an item was written before, word for word, under the same id and time."""
        id_ = text_or_none(record.payload.get("id"))
        if id_ is None or record.timestamp is None or not _DIGIT.search(id_):
            return False
        level = level_of(record)
        key = as_key((id_, record.timestamp, level, position, event.call_id, digest))
        return not self._seen.add(key)

    def _note_agents(self, record: CodexRecord, event: Event, row: int) -> None:
        """Remember what may have started a subagent, and what a subagent was asked."""
        if event.kind is EventKind.TOOL_CALL and event.tool in _STARTERS:
            if event.call_id:
                self._starters.setdefault(event.call_id, row)
            asked = arguments_of(record.payload) or record.payload
            for key in _PROMPT_KEYS:
                if prompt := text_or_none(asked.get(key)):
                    self.session.asks(prompt, self._thread, row)
        elif event.kind is EventKind.TOOL_RESULT and event.call_id in self._starters:
            if agent := _AGENT_ID.search(event.body):
                self._started.setdefault(agent[1], event.call_id or "")
        elif self._thread != MAIN_THREAD:
            if event.kind is EventKind.USER_MESSAGE:
                self.session.opens_with(self._thread, event.body)
            elif record.payload.get("type") == "agent_message":
                self.session.opens_with(self._thread, event.body.partition("\n")[2])

    def _note_started(self, record: CodexRecord) -> None:
        """A notice that says which call started which subagent."""
        if record.type != "event_msg":
            return
        payload = record.payload
        item = payload.get("item")
        if is_object(item) and item.get("type") in ("CollabAgentToolCall", "SubAgentActivity"):
            payload = item
        elif payload.get("type") not in _STARTED:
            return
        if payload.get("kind") not in (None, "started", "spawned"):
            return
        call_id = next(
            (
                id_
                for key in ("call_id", "event_id", "id")
                if (id_ := text_or_none(payload.get(key)))
            ),
            None,
        )
        agents = [payload.get("new_thread_id"), payload.get("agent_thread_id")]
        receivers = payload.get("receiver_thread_ids")
        agents += receivers if is_array(receivers) else []
        for agent in agents:
            if call_id and isinstance(agent, str) and agent:
                self._started.setdefault(agent, call_id)


def _label(record: CodexRecord) -> str:
    """What a record is called when it is counted."""
    kinds = [record.type, text_or_none(record.payload.get("type"))]
    if kinds == ["response_item", "reasoning"]:
        return "encrypted reasoning"
    if is_object(item := record.payload.get("item")):
        kinds.append(text_or_none(item.get("type")))
    return " ".join(kind for kind in kinds if kind)


def _says_something(record: CodexRecord) -> bool:
    """Whether a record without events holds a text, so that something may be lost."""
    if record.type in _BOOKKEEPING or str(record.payload.get("type")) in _SMALL_TALK:
        return False
    item = record.payload.get("item")
    said = item if is_object(item) else record.payload
    return any(text_or_none(said.get(key)) for key in _TEXT_KEYS)


def thread_name(agent: str) -> str:
    """The name of a subagent's thread."""
    return f"agent-{agent}"


def survey_file(path: Path, survey: Survey) -> None:
    """Read a subagent's file once ahead.

    Raises:
        OSError: it cannot be read.
        SessionError: it is no file.
    """
    descriptor, size = open_regular(path)
    try:
        ends = index_lines(descriptor, size, lambda: None)
        for first, lines in read_line_blocks(descriptor, ends):
            survey.read(lines, first)
    finally:
        os.close(descriptor)
    survey.finish()


def companion_keeper(
    path: Path, survey: Survey
) -> Callable[[Gathering, Notes], RecordKeeper[CodexRecord]]:
    """A keeper for the file of one subagent, which is named in it."""
    name = thread_name(head_of(path)[0] or path.stem)

    def make(gathering: Gathering, notes: Notes) -> RecordKeeper[CodexRecord]:
        return CodexKeeper(gathering, notes, survey, name)

    return make
