"""The AI SDK's stream to a screen: pieces of texts and inputs, which belong together by id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.trace_events import call_event, result_event
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.formats.vercel import approval_events
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import render_value
from longjudge.sessions.values import text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Chunk = dict[str, object]

_TEXTS = {"text": EventKind.ASSISTANT_MESSAGE, "reasoning": EventKind.THINKING}
_QUIET = frozenset(
    {
        *("start", "finish", "start-step", "finish-step", "message-metadata", "source-url"),
        *("source-document", "file", "abort", "custom"),
    }
)
_TOOLS = frozenset(
    {
        *("tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error"),
        *("tool-output-available", "tool-output-error", "tool-output-denied"),
        *("tool-approval-request", "tool-approval-response"),
    }
)
_STEPS = frozenset({"start-step", "finish-step", "finish", "abort"})


@dataclass(slots=True)
class _Piece:
    """A text or a call that is still coming in."""

    kind: EventKind
    record: int
    tool: str | None = None
    call_id: str | None = None
    texts: list[str] = field(default_factory=list[str])
    input: object = None
    ended: bool = False


class VercelStream(RetoldFormat):
    """Joins the pieces of a stream, in the order in which they began."""

    name = "vercel-ai"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are chunks of such a stream, where one surely is."""
        if not any(_is_surely_chunk(record) for record in head):
            return 0.0
        return sum(map(_is_chunk, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every text, call and result once it is whole."""
        stream = _Stream(telling)
        for given in records:
            try:
                stream.take(given.value, given.number)
            except RecursionError:
                telling.skip(TOO_DEEP, given.number)
        stream.flush()


class _Stream:
    """What is still coming in, by the order in which it began."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._open: dict[tuple[str, str], _Piece] = {}
        self._tools: dict[str, str] = {}

    def take(self, chunk: Chunk, record: int) -> None:
        """Read one chunk."""
        type_ = str(chunk.get("type"))
        name, _, step = type_.rpartition("-")
        if name in _TEXTS:
            self._text(name, step, chunk, record)
        elif type_.startswith("tool-input-"):
            self._input(type_, chunk, record)
        elif type_.startswith("tool-"):
            self._outcome(type_, chunk, record)
        elif type_ == "error":
            self.flush()
            said = render_value(chunk.get("errorText", chunk.get("error")))
            self._telling.event(Event(EventKind.ERROR, said), record)
        elif type_ in _STEPS:
            self.flush()
        elif type_ not in _QUIET:
            self._telling.note(f"chunks of type {type_[:60]}", record)

    def flush(self) -> None:
        """Tell all that is open."""
        for piece in self._open.values():
            self._tell(piece)
        self._open.clear()

    def _text(self, name: str, step: str, chunk: Chunk, record: int) -> None:
        key = (name, str(chunk.get("id")))
        if step == "end":
            self._end(key)
            return
        piece = self._open.get(key)
        if piece is None:
            piece = self._open[key] = _Piece(_TEXTS[name], record)
        delta = chunk.get("delta", chunk.get("text"))
        if isinstance(delta, str):
            piece.texts.append(delta)

    def _input(self, type_: str, chunk: Chunk, record: int) -> None:
        call_id = str(chunk.get("toolCallId"))
        key = ("tool", call_id)
        known = call_id in self._tools and key not in self._open
        tool = text_or_none(chunk.get("toolName"))
        if known and type_ != "tool-input-start":
            # Said again, whole, after it was told.
            return
        piece = self._open.get(key)
        if piece is None:
            piece = self._open[key] = _Piece(EventKind.TOOL_CALL, record, call_id=call_id)
        piece.tool = tool or piece.tool
        self._tools[call_id] = piece.tool or ""
        delta = chunk.get("inputTextDelta")
        if isinstance(delta, str):
            piece.texts.append(delta)
        if "input" in chunk:
            piece.input = chunk["input"]
        if type_ == "tool-input-available":
            self._end(key)
        elif type_ == "tool-input-error":
            self._outcome("tool-output-error", chunk, record)

    def _outcome(self, type_: str, chunk: Chunk, record: int) -> None:
        if chunk.get("preliminary") is True:
            return
        call_id = text_or_none(chunk.get("toolCallId"))
        self._tell_up_to(("tool", str(call_id)))
        tool = self._tools.get(str(call_id)) or text_or_none(chunk.get("toolName"))
        if type_.startswith("tool-approval"):
            state = "approval-requested" if type_.endswith("request") else ""
            for event in approval_events(tool or "a call", state, chunk, None):
                self._telling.event(event, record)
            return
        failure = None
        if type_ == "tool-output-error":
            failure = text_or_none(chunk.get("errorText")) or "failed"
        elif type_ == "tool-output-denied":
            failure = "denied"
        elif type_ != "tool-output-available":
            self._telling.note(f"chunks of type {type_[:60]}", record)
            return
        result = result_event(tool or "", call_id, chunk.get("output"), failure, None)
        empty = Event(EventKind.TOOL_RESULT, "", tool, call_id)
        self._telling.event(result or empty, record)

    def _end(self, key: tuple[str, str]) -> None:
        """A piece is whole: tell it once all that began before it is."""
        if key in self._open:
            self._open[key].ended = True
        while self._open:
            first = next(iter(self._open))
            if not self._open[first].ended:
                return
            self._tell(self._open.pop(first))

    def _tell_up_to(self, key: tuple[str, str]) -> None:
        while key in self._open:
            self._tell(self._open.pop(next(iter(self._open))))

    def _tell(self, piece: _Piece) -> None:
        body = "".join(piece.texts)
        if piece.kind is EventKind.TOOL_CALL:
            given = piece.input if piece.input is not None else unpacked(body)
            try:
                event = call_event(piece.tool or "", piece.call_id, given, None)
            except RecursionError:
                self._telling.skip(TOO_DEEP, piece.record)
                return
            self._telling.event(event, piece.record)
        elif body:
            self._telling.event(Event(piece.kind, render_value(body)), piece.record)


def _is_surely_chunk(record: Chunk) -> bool:
    type_ = record.get("type")
    if not isinstance(type_, str):
        return False
    if type_ in ("text-delta", "reasoning-delta"):
        return "id" in record and ("delta" in record or "text" in record)
    return type_ in _TOOLS and "toolCallId" in record


def _is_chunk(record: Chunk) -> bool:
    type_ = record.get("type")
    if not isinstance(type_, str) or "role" in record or "uuid" in record:
        return False
    texts = type_.rpartition("-")[0] in _TEXTS and "id" in record
    return texts or type_ in _TOOLS or type_ in _QUIET or type_ == "error" or type_[:5] == "data-"
