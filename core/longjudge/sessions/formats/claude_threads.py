"""Which records of Claude Code belong to which thread of which session, and which are copies.

A subagent's records stand in the session's own file (marked as side records), in a file beside it,
or in the folder `<session>/subagents`. Each becomes a thread of its own, linked to the call that
started it by what the files say: the agent's id in the call's result or in a progress record, a
task notice, else the prompt. What cannot be linked is still read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.claude_records import AgentOfResult, ClaudeRecord
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.keeper import RecordKeeper
from longjudge.sessions.key_set import KeySet, as_key
from longjudge.sessions.model import EventKind, Severity
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.values import is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.index import IndexBuilder
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

COPIES = "copies of earlier events, left out"
PIECES = "growing copies of an answer, counted once"
COPIED = "events of a session that continues in another file, counted there"

_IFLOW_ANSWER = "response-"
"""How iFlow, which writes these records too, begins the id of an answer."""

_WORDS = (EventKind.ASSISTANT_MESSAGE, EventKind.THINKING)
_STARTERS = frozenset({"Task", "Agent"})
_DIGIT = re.compile(r"[1-9]")
_TASK_ID = re.compile(r"<task-id>\s*([\w-]{1,100})\s*</task-id>")
_TOOL_USE_ID = re.compile(r"<tool-use-id>\s*([\w-]{1,100})\s*</tool-use-id>")

_agent_of_result = msgspec.json.Decoder(AgentOfResult).decode


@dataclass(frozen=True, slots=True)
class _Latest:
    """The last event that was kept: which answer it is of, its words, and its row."""

    answer: tuple[str | None, EventKind, str]
    body: str
    line: int
    row: int

    def is_beginning_of(self, other: _Latest) -> bool:
        """Whether another event, in a later record, goes on where this one ends."""
        same = self.answer == other.answer and self.row == other.row - 1
        return same and self.line != other.line and other.body.startswith(self.body or "\0")


class ClaudeKeeper(RecordKeeper[ClaudeRecord]):
    """What all ways to read these records share: copies, titles, times, and who started whom."""

    def __init__(self, gathering: Gathering, notes: Notes) -> None:
        super().__init__(gathering, notes)
        self._seen = KeySet()
        self._title_rank = 0
        self._latest: _Latest | None = None
        self._starters: dict[str, tuple[str, int]] = {}
        self._notices: dict[str, str] = {}

    def place(
        self,
        record: ClaudeRecord,
        position: int,
        event: Event,
        digest: bytes,
        line: int,
        thread: str,
    ) -> IndexBuilder | None:
        """The rows of a thread for an event, unless it is a copy."""
        if copy := self._is_copy(record, position, event, digest):
            self.notes.add(copy, line, Severity.INFO)
            return None
        rows = self.session.thread(thread)
        self._note_piece(record, event, line, thread, rows)
        if event.kind is EventKind.TOOL_CALL and event.tool in _STARTERS:
            self._note_starter(record, event, thread, len(rows))
        elif event.kind is EventKind.TOOL_RESULT and event.call_id in self._starters:
            self._note_started(record, event.call_id)
        elif thread != MAIN_THREAD and event.kind is EventKind.SYSTEM and record.type == "user":
            self.session.opens_with(thread, event.body)
        return rows

    def _note_piece(
        self, record: ClaudeRecord, event: Event, line: int, thread: str, rows: IndexBuilder
    ) -> None:
        """Take back the last event where this one is the same words of one answer, and more.

        A proxy or an export may write an answer again and again while it grows.
        """
        message_id = record.message.id if record.message else None
        grows = event.kind in _WORDS and message_id and _DIGIT.search(message_id)
        before, now = self._latest, None
        if grows:
            now = _Latest((message_id, event.kind, thread), event.body, line, len(rows))
        if now and before and before.is_beginning_of(now) and rows.take_back():
            now = replace(now, row=len(rows))
            self.notes.add(PIECES, line, Severity.INFO)
        self._latest = now

    def pass_over(self, record: ClaudeRecord, line: int) -> bool:
        """Count bookkeeping by its type; some of it names the session, or who started whom."""
        self._note_progress(record)
        self.name(record.summary, 2)
        self.name(record.ai_title, 3)
        self.name(record.custom_title, 4)
        label = record.type or "untyped"
        if record.attachment:
            label += f" {text_or_none(record.attachment.get('type')) or ''}"
        elif record.subtype:
            label += f" {record.subtype}"
        self.notes.add(f"{label} records, no events", line, Severity.INFO)
        return False

    def finish(self) -> None:
        """Link what a notice named before its call was seen."""
        for agent, call_id in self._notices.items():
            self._link(agent, call_id)

    def take_facts(self, record: ClaudeRecord, event: Event) -> None:
        """Learn id, title and times of the session."""
        facts = self.facts
        if record.timestamp:
            facts.started = facts.started or record.timestamp
            facts.ended = record.timestamp
        asked = record.type == "user" and event.kind is not EventKind.TOOL_RESULT
        typed = event.kind is EventKind.USER_MESSAGE or (asked and record.is_sidechain)
        if not self._title_rank and typed:
            self.name(event.body[:400], 1)

    def name(self, title: str | None, rank: int) -> None:
        """Take a title, unless a better one is known."""
        if title and rank >= self._title_rank:
            self.facts.title, self._title_rank = title, rank

    def mark_as_read(self) -> None:
        """Let the files that are read after this one know its events."""
        if self.gathering.elsewhere is not None:
            self.gathering.elsewhere.update(self._seen)

    def _is_copy(
        self, record: ClaudeRecord, position: int, event: Event, digest: bytes
    ) -> str | None:
        """What the event is a copy of, in words; None where it is seen for the first time.

        A streamed answer repeats its blocks under its message id, and a record may be written
        again under its uuid; both are copies only with the same content. Ids that are missing or
        placeholders say nothing: real ones hold digits.
        """
        message_id = record.message.id if record.message else None
        if message_id and event.call_id and message_id.startswith(_IFLOW_ANSWER):
            # Each of its records repeats the calls that the one before it asked for.
            key = hash((_IFLOW_ANSWER, event.kind, event.call_id, digest))
        elif message_id and _DIGIT.search(message_id):
            key = as_key((message_id, event.call_id, digest))
        elif record.uuid and _DIGIT.search(record.uuid):
            key = as_key((record.uuid, record.timestamp, position, event.call_id, digest))
        else:
            return None
        elsewhere = self.gathering.elsewhere
        if elsewhere is not None and key in elsewhere:
            self.gathering.copied += 1
            return COPIED
        return None if self._seen.add(key) else COPIES

    def _note_starter(self, record: ClaudeRecord, event: Event, thread: str, row: int) -> None:
        if event.call_id:
            self._starters[event.call_id] = (thread, row)
        content = record.message.content if record.message else None
        for block in content if isinstance(content, list) else ():
            given = block.get("input")
            if block.get("id") != event.call_id or not is_object(given):
                continue
            if prompt := text_or_none(given.get("prompt")):
                self.session.asks(prompt, thread, row)

    def _note_started(self, record: ClaudeRecord, call_id: str) -> None:
        try:
            agent = _agent_of_result(record.tool_use_result).agent_id
        except DECODE_ERRORS:
            return
        if agent:
            self._link(agent, call_id)

    def _note_progress(self, record: ClaudeRecord) -> None:
        if record.type == "progress" and record.parent_tool_use_id:
            try:
                data = _agent_of_result(record.data)
            except DECODE_ERRORS:
                return
            if data.type == "agent_progress" and data.agent_id:
                self._notices.setdefault(data.agent_id, record.parent_tool_use_id)
        elif record.type == "queue-operation" and isinstance(record.content, str):
            task = _TASK_ID.search(record.content)
            call = _TOOL_USE_ID.search(record.content)
            if task and call:
                self._notices.setdefault(task[1], call[1])

    def _link(self, agent: str, call_id: str) -> None:
        if call := self._starters.get(call_id):
            self.session.link(thread_name(agent), *call)


class WholeSession(ClaudeKeeper):
    """A session's own file: the main thread, and a thread for each subagent inside the file."""

    goes_on = True

    def __init__(self, gathering: Gathering, notes: Notes) -> None:
        super().__init__(gathering, notes)
        self._side_threads: dict[int, str] = {}
        self._loose = 0

    def keep(
        self, record: ClaudeRecord, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """Main records go to `main`, side records to the thread of their agent."""
        thread = self._side_thread(record) if record.is_sidechain else MAIN_THREAD
        rows = self.place(record, position, event, digest, line, thread)
        if thread == MAIN_THREAD:
            self.facts.id = self.facts.id or record.session_id
            if rows is not None:
                self.take_facts(record, event)
        return rows

    def pass_over(self, record: ClaudeRecord, line: int) -> bool:
        """A side record without events still leads from one record to the next."""
        if record.is_sidechain and not record.agent_id and record.uuid:
            self._side_thread(record)
        return super().pass_over(record, line)

    def finish(self) -> None:
        """A file with nothing on the main thread is no session of this kind."""
        super().finish()
        if not self.session.has_thread(MAIN_THREAD) and not self.gathering.copied:
            self.gathering.clear()
        else:
            self.mark_as_read()

    def _side_thread(self, record: ClaudeRecord) -> str:
        """By the agent's id; without one, the thread of the record that this one follows."""
        if record.agent_id:
            return thread_name(record.agent_id)
        parent = hash(record.parent_uuid) if record.parent_uuid else None
        thread = self._side_threads.get(hash(record.uuid)) if record.uuid else None
        if thread is None and parent is not None:
            thread = self._side_threads.get(parent)
        if thread is None and record.uuid:
            self._loose += 1
            thread = f"sidechain-{self._loose}"
        elif thread is None:
            thread = "sidechain"
        if record.uuid:
            self._side_threads[hash(record.uuid)] = thread
        return thread


class LoneSubagent(ClaudeKeeper):
    """A subagent's file that is opened by itself: its side records are the session."""

    def keep(
        self, record: ClaudeRecord, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """Every side record is kept."""
        if not record.is_sidechain:
            return None
        rows = self.place(record, position, event, digest, line, MAIN_THREAD)
        if rows is not None:
            self.facts.id = self.facts.id or record.agent_id or record.session_id
            self.take_facts(record, event)
        return rows


class CompanionSubagent(ClaudeKeeper):
    """A subagent's file, read into the session that started it."""

    def __init__(self, gathering: Gathering, notes: Notes, agent: str) -> None:
        super().__init__(gathering, notes)
        self._thread = thread_name(agent)

    def keep(
        self, record: ClaudeRecord, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """Every record of the file belongs to its agent; the session keeps its name and times."""
        return self.place(record, position, event, digest, line, self._thread)

    def finish(self) -> None:
        """A resumed session may have a copy of the file as well."""
        super().finish()
        self.mark_as_read()

    def name(self, title: str | None, rank: int) -> None:
        """A subagent's title is not the session's."""


def thread_name(agent: str) -> str:
    """The name of a subagent's thread."""
    return agent if agent.startswith("agent-") else f"agent-{agent}"


def companion_keeper(
    path: Path,
) -> Callable[[Gathering, Notes], RecordKeeper[ClaudeRecord]]:
    """A keeper for the file of one subagent, whose id is its name."""

    def make(gathering: Gathering, notes: Notes) -> RecordKeeper[ClaudeRecord]:
        return CompanionSubagent(gathering, notes, path.stem)

    return make
