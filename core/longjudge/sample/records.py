"""Writes beats as the records of a Claude Code transcript, and counts where each one stands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from longjudge.sample.beats import Beat, Form
from longjudge.sample.words import BRANCHES, ROOT

if TYPE_CHECKING:
    from typing import BinaryIO

    from longjudge.sample.beats import Plant
    from longjudge.sample.dice import Dice

MODEL = "claude-sonnet-4-6"
VERSION = "2.1.114"

_START = datetime(2026, 3, 2, 8, 12, tzinfo=UTC)
_SECONDS: dict[Form, tuple[int, int]] = {
    Form.USER: (40, 1_500),
    Form.QUEUED: (1, 9),
    Form.TEXT: (2, 7),
    Form.THINKING: (3, 14),
    Form.CALL: (1, 5),
    Form.RESULT: (0, 9),
    Form.PROMPT: (0, 1),
    Form.REMINDER: (0, 1),
    Form.COMPACTED: (8, 40),
    Form.SUMMARY: (0, 1),
    Form.API_ERROR: (20, 90),
}
_BY_MODEL = frozenset({Form.TEXT, Form.THINKING, Form.CALL})


@dataclass(slots=True)
class _Thread:
    """Where a thread stands: its last record, the answer it is in, its calls without a result."""

    events: int = 0
    last: str | None = None
    message: str | None = None
    request: str = ""
    open_calls: deque[tuple[str, Beat]] = field(default_factory=lambda: deque[tuple[str, Beat]]())


@dataclass(frozen=True, slots=True)
class Placed:
    """A planted problem and where it stands: the row of a thread, from 0."""

    plant: Plant
    agent: str
    row: int


class Recorder:
    """Writes records to a stream, one a line, and keeps only counts."""

    def __init__(self, stream: BinaryIO, dice: Dice) -> None:
        self.events = 0
        self.bytes = 0
        self.placed: list[Placed] = []
        self._stream = stream
        self._dice = dice
        self._encode = msgspec.json.Encoder().encode
        self._session = dice.uuid()
        self._branch = dice.pick(BRANCHES[1:])
        self._now = _START + timedelta(days=dice.below(60), seconds=dice.below(20_000))
        self._cached = 18_000
        self._threads: dict[str, _Thread] = {"": _Thread()}

    def record(self, beat: Beat) -> None:
        """Write the record of one event."""
        thread = self._threads.get(beat.agent)
        if thread is None:
            thread = self._threads[beat.agent] = _Thread()
        if beat.plant is not None:
            self.placed.append(Placed(beat.plant, beat.agent, thread.events))
        low, high = _SECONDS[beat.form]
        self._now += timedelta(milliseconds=self._dice.between(1_000 * low, 1_000 * high))
        thread.events += 1
        self.events += 1
        if beat.form in _BY_MODEL:
            self._answer(thread, beat)
        else:
            thread.message = None
            self._other(thread, beat)

    def bookkeeping(self) -> None:
        """Write a record without an event, as transcripts are full of."""
        thread = self._threads[""]
        snapshot: dict[str, object] = {
            "messageId": thread.last,
            "trackedFileBackups": {},
            "timestamp": self._time(),
        }
        self._write(
            {
                "type": "file-history-snapshot",
                "messageId": thread.last,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )

    def event_numbers(self) -> list[tuple[int, Placed]]:
        """The number of each planted problem's event in the session, in their order.

        A session's events are numbered thread by thread: the main one, then the subagents in the
        order of the calls that started them.
        """
        firsts: dict[str, int] = {}
        first = 0
        for agent, thread in self._threads.items():
            firsts[agent] = first
            first += thread.events
        numbered = [(firsts[each.agent] + each.row, each) for each in self.placed]
        return sorted(numbered, key=lambda pair: pair[0])

    def _answer(self, thread: _Thread, beat: Beat) -> None:
        """One block of the model's answer; blocks behind one another belong to one answer."""
        if thread.message is None:
            thread.message = f"msg_01{self._dice.word(22)}"
            thread.request = f"req_011C{self._dice.word(20)}"
            self._cached = min(self._cached + self._dice.between(200, 3_000), 190_000)
        block: dict[str, object]
        if beat.form is Form.CALL:
            call_id = f"toolu_01{self._dice.word(22)}"
            thread.open_calls.append((call_id, beat))
            block = {"type": "tool_use", "id": call_id, "name": beat.tool, "input": beat.input}
        elif beat.form is Form.THINKING:
            block = {"type": "thinking", "thinking": beat.text, "signature": "c2FtcGxl"}
        else:
            block = {"type": "text", "text": beat.text}
        message = {
            "id": thread.message,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": "tool_use" if beat.form is Form.CALL else None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": self._dice.between(3, 12),
                "cache_creation_input_tokens": self._dice.between(200, 3_000),
                "cache_read_input_tokens": self._cached,
                "output_tokens": 20 + len(beat.text) // 4,
            },
        }
        self._event(thread, beat, "assistant", message=message, requestId=thread.request)

    def _other(self, thread: _Thread, beat: Beat) -> None:
        form = beat.form
        said = {"role": "user", "content": beat.text}
        if form is Form.RESULT:
            self._result(thread, beat)
        elif form in (Form.USER, Form.PROMPT):
            self._event(thread, beat, "user", message=said)
        elif form is Form.REMINDER:
            self._event(thread, beat, "user", message=said, isMeta=True)
        elif form is Form.SUMMARY:
            self._event(
                thread,
                beat,
                "user",
                message=said,
                isCompactSummary=True,
                isVisibleInTranscriptOnly=True,
            )
        elif form is Form.QUEUED:
            given = {"type": "queued_command", "prompt": beat.text, "commandMode": "prompt"}
            self._event(thread, beat, "attachment", attachment=given)
        elif form is Form.COMPACTED:
            self._compacted(thread, beat)
        else:
            self._api_error(thread, beat)

    def _result(self, thread: _Thread, beat: Beat) -> None:
        call_id, call = thread.open_calls.popleft()
        block: dict[str, object] = {"tool_use_id": call_id, "type": "tool_result"}
        block["content"] = [{"type": "text", "text": beat.text}] if beat.starts else beat.text
        if beat.failed is not None:
            block["is_error"] = beat.failed
        more: object = None
        if beat.starts:
            more = {
                "status": "completed",
                "prompt": call.input.get("prompt"),
                "agentId": beat.starts,
                "content": block["content"],
                "totalToolUseCount": self._threads[beat.starts].events // 2,
            }
        elif call.tool == "Bash" and not beat.failed:
            more = {"stdout": beat.text, "stderr": "", "interrupted": False, "isImage": False}
        elif beat.failed:
            more = f"Error: {beat.text}"
        message = {"role": "user", "content": [block]}
        self._event(thread, beat, "user", message=message, toolUseResult=more)

    def _compacted(self, thread: _Thread, beat: Beat) -> None:
        logical, thread.last = thread.last, None
        self._event(
            thread,
            beat,
            "system",
            subtype="compact_boundary",
            content=beat.text,
            level="info",
            logicalParentUuid=logical,
            compactMetadata={"trigger": "auto", "preTokens": self._cached},
        )
        self._cached = 18_000

    def _api_error(self, thread: _Thread, beat: Beat) -> None:
        message = {
            "id": self._dice.uuid(),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": beat.text}],
            "stop_reason": "stop_sequence",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._event(thread, beat, "assistant", message=message, isApiErrorMessage=True)

    def _event(self, thread: _Thread, beat: Beat, type_: str, **more: object) -> None:
        uuid = self._dice.uuid()
        record: dict[str, object] = {
            "parentUuid": thread.last,
            "isSidechain": bool(beat.agent),
            "userType": "external",
            "cwd": ROOT,
            "sessionId": self._session,
            "version": VERSION,
            "gitBranch": self._branch,
        }
        if beat.agent:
            record["agentId"] = beat.agent
        record["type"] = type_
        record |= {key: value for key, value in more.items() if value is not None}
        record["uuid"], record["timestamp"] = uuid, self._time()
        thread.last = uuid
        self._write(record)

    def _write(self, record: dict[str, object]) -> None:
        line = self._encode(record)
        self._stream.write(line)
        self._stream.write(b"\n")
        self.bytes += len(line) + 1

    def _time(self) -> str:
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
