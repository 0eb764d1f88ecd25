"""Copilot CLI sessions: `events.jsonl` of a session's folder, and the same events as printed.

A call is written twice, as what the model asks for (`toolRequests`) and as what is run
(`tool.execution_start`); an answer perhaps three times, in pieces, as its reasoning and whole.
Subagents write into the same file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.copilot_events import (
    data_of,
    plain_events,
    result_event,
    time_of,
    type_of,
)
from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_SURE = frozenset(
    {
        *("session.start", "session.resume", "session.shutdown", "session.model_change"),
        *("user.message", "assistant.message", "assistant.turn_start", "assistant.turn_end"),
        *("tool.execution_start", "tool.execution_complete"),
    }
)
_ENDS = frozenset({"user.message", "assistant.turn_end", "abort"})
_SPOKEN = (EventKind.THINKING, EventKind.ASSISTANT_MESSAGE)


class CopilotCli(RetoldFormat):
    """Sessions of GitHub Copilot CLI and of its SDK."""

    name = "copilot-cli"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that fit, where one at least can be of no other program."""
        if not any(type_of(record) in _SURE and _fits(record) for record in head):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell each message, call and result once, in the thread of its agent."""
        session = _Session("", telling)
        first: str | None = None
        told = 0
        for given in records:
            record = given.value
            if type_of(record) == "session.start":
                id_ = text_or_none(data_of(record).get("sessionId"))
                first = first or id_
                key = "" if id_ in (None, first) else str(id_)
                if key != session.key:
                    session.end()
                    told += session.told
                    session = _Session(key, telling)
            try:
                session.tell(record, given.number)
            except RecursionError:
                telling.skip(TOO_DEEP, given.number)
        session.end()
        if not told + session.told:
            raise NotASessionError("a Copilot CLI session without a message")


class _Thread:
    """What an agent has said that may be written once more."""

    __slots__ = ("last", "pieces", "requested", "thoughts", "unfilled")

    def __init__(self) -> None:
        self.requested: Counter[str] = Counter()
        self.unfilled: dict[str, tuple[int, Event]] = {}
        self.thoughts: set[int] = set()
        self.last: tuple[str, int, int] | None = None
        self.pieces: dict[EventKind, tuple[int, str | None, list[str]]] = {}


class _Session:
    """One session in the making."""

    def __init__(self, key: str, telling: Telling) -> None:
        self.key = key
        self.told = 0
        self._telling = telling
        self._threads: dict[str, _Thread] = {}
        self._caller: dict[str, str] = {}

    def tell(self, record: Record, number: int) -> None:
        """Tell what a record says."""
        type_, data = type_of(record), data_of(record)
        self._learn(type_, data, record)
        name = self._thread_of(record, data)
        if type_ in ("assistant.message_delta", "assistant.reasoning_delta"):
            self._take_piece(type_, data, record, number, name)
        elif type_ == "assistant.message":
            self._tell_answer(data, record, number, name)
        elif type_ == "assistant.reasoning":
            self._tell_thought(data.get("content"), record, number, name)
        elif type_ in ("tool.user_requested", "tool.execution_start"):
            self._tell_run(data, record, number, name, type_ == "tool.execution_start")
        elif type_ == "tool.execution_complete":
            event = result_event(record)
            self._tell_unfilled(name, event.call_id or "")
            self._event(event, number, name)
        else:
            self._tell_plain(record, number, name)

    def end(self) -> None:
        """Tell the answers that were cut off in the middle."""
        for name, thread in list(self._threads.items()):
            self._tell_pieces(name, *_SPOKEN)
            for id_ in list(thread.unfilled):
                self._tell_unfilled(name, id_)

    def _learn(self, type_: str, data: Record, record: Record) -> None:
        if type_ == "session.start":
            self._telling.facts(
                session=self.key,
                id=text_or_none(data.get("sessionId")),
                started=text_or_none(data.get("startTime")),
            )
        elif type_ == "session.title_changed":
            self._telling.facts(session=self.key, title=text_or_none(data.get("title")))
        elif type_ == "result":
            self._telling.facts(session=self.key, id=text_or_none(record.get("sessionId")))
        call = data.get("toolCallId") if type_.startswith("subagent.") else None
        call = text_or_none(data.get("parentToolCallId")) or text_or_none(call)
        agent = text_or_none(record.get("agentId")) or call
        if agent and call:
            self._telling.starts(agent, call_id=call, session=self.key)

    def _thread_of(self, record: Record, data: Record) -> str:
        agent = text_or_none(record.get("agentId")) or text_or_none(data.get("parentToolCallId"))
        if agent or not type_of(record).startswith(("tool.", "subagent.")):
            return agent or MAIN_THREAD
        call = text_or_none(data.get("toolCallId"))
        return self._caller.get(call, MAIN_THREAD) if call else MAIN_THREAD

    def _thread(self, name: str) -> _Thread:
        thread = self._threads.get(name)
        if thread is None:
            thread = self._threads[name] = _Thread()
        return thread

    def _take_piece(self, type_: str, data: Record, record: Record, number: int, name: str) -> None:
        thinks = type_ == "assistant.reasoning_delta"
        kind = EventKind.THINKING if thinks else EventKind.ASSISTANT_MESSAGE
        pieces = self._thread(name).pieces
        pieces.setdefault(kind, (number, time_of(record), []))[2].append(
            render_content(data.get("deltaContent", ""))
        )

    def _tell_pieces(self, name: str, *kinds: EventKind) -> None:
        pieces = self._thread(name).pieces
        for kind in kinds:
            if kind in pieces:
                number, time, texts = pieces.pop(kind)
                if body := "".join(texts):
                    self._event(Event(kind, body, timestamp=time), number, name)

    def _tell_thought(self, content: object, record: Record, number: int, name: str) -> None:
        thread = self._thread(name)
        body = render_content(content) if content else ""
        if not body:
            self._tell_pieces(name, EventKind.THINKING)
            return
        thread.pieces.pop(EventKind.THINKING, None)
        if hash(body) not in thread.thoughts:
            thread.thoughts.add(hash(body))
            self._event(Event(EventKind.THINKING, body, timestamp=time_of(record)), number, name)

    def _tell_answer(self, data: Record, record: Record, number: int, name: str) -> None:
        thread = self._thread(name)
        time, content = time_of(record), data.get("content")
        body = render_content(content) if content else ""
        requests = data.get("toolRequests")
        calls = [each for each in requests if is_object(each)] if is_array(requests) else []
        id_ = text_or_none(data.get("messageId"))
        said = (id_, hash(body), len(calls)) if id_ else None
        if said and said == thread.last:
            # The same answer once more, as when a resumed log repeats its end.
            return
        thread.last = said
        self._tell_thought(data.get("reasoningText"), record, number, name)
        if body:
            thread.pieces.pop(EventKind.ASSISTANT_MESSAGE, None)
            self._event(Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=time), number, name)
        else:
            self._tell_pieces(name, EventKind.ASSISTANT_MESSAGE)
        for call in calls:
            id_, tool = text_or_none(call.get("toolCallId")), text_or_none(call.get("name"))
            if id_ and "arguments" not in call:
                # Some logs leave them to the record of the call that is run.
                self._tell_unfilled(name, id_)
                event = Event(EventKind.TOOL_CALL, "", tool, id_, None, time)
                thread.unfilled[id_] = (number, event)
                self._caller[id_] = name
                continue
            self._tell_call(call.get("arguments"), tool, id_, time, number, name)
            if id_:
                thread.requested[id_] += 1

    def _tell_unfilled(self, name: str, id_: str) -> None:
        """Tell a call that was asked for without arguments and never seen to run."""
        unfilled = self._thread(name).unfilled.pop(id_, None)
        if unfilled:
            self._event(unfilled[1], unfilled[0], name)

    def _tell_run(self, data: Record, record: Record, number: int, name: str, starts: bool) -> None:
        """Tell a call that is run without having been asked for, by the user or long ago."""
        id_, tool = text_or_none(data.get("toolCallId")), text_or_none(data.get("toolName"))
        thread = self._thread(name)
        requested = thread.requested
        if id_ and (unfilled := thread.unfilled.pop(id_, None)):
            tool = tool or unfilled[1].tool
        elif id_ and requested[id_]:
            requested[id_] -= 1
            return
        self._tell_call(data.get("arguments"), tool, id_, time_of(record), number, name)
        if id_ and not starts:
            requested[id_] += 1

    def _tell_call(
        self,
        arguments: object,
        tool: str | None,
        id_: str | None,
        time: str | None,
        number: int,
        name: str,
    ) -> None:
        if id_:
            self._caller[id_] = name
        body = render_input(read_arguments({} if arguments is None else arguments))
        self._event(Event(EventKind.TOOL_CALL, body, tool, id_, None, time), number, name)

    def _tell_plain(self, record: Record, number: int, name: str) -> None:
        type_ = type_of(record)
        events = plain_events(record)
        if events is None:
            text = data_of(record).get("content", data_of(record).get("message"))
            if text and isinstance(text, str):
                events = [Event(EventKind.SYSTEM, render_content(text), timestamp=time_of(record))]
            self._telling.note(f"records of type {type_ or record.get('type')}", number)
        if type_ in _ENDS:
            self._tell_pieces(name, *_SPOKEN)
            self._thread(name).thoughts.clear()
        for event in events or ():
            self._event(event, number, name)

    def _event(self, event: Event, number: int, name: str) -> None:
        self.told += 1
        self._telling.event(event, number, session=self.key, thread=name)


def _fits(record: Record) -> bool:
    type_ = type_of(record)
    if type_ == "result":
        return "usage" in record or "sessionId" in record
    if not is_object(record.get("data")) or "properties" in record or "payload" in record:
        return False
    return "." in type_ or type_ == "abort"
