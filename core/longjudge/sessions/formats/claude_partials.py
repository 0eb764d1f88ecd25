"""Answers of which only the streamed pieces are there: the run ended before they were whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import elide_media, render_input
from longjudge.sessions.values import is_object, text_or_none, word
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator

    Agent = tuple[str, str | None]

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class _Block:
    """One content block in the making."""

    def __init__(self, start: dict[str, object]) -> None:
        self.start = start
        self.pieces: list[str] = []

    def event(self) -> Event | None:
        text = without_surrogates("".join(self.pieces))
        type_ = self.start.get("type")
        if type_ == "tool_use":
            tool, call_id = text_or_none(self.start.get("name")), self.start.get("id")
            given = render_input(_input(text))
            return Event(EventKind.TOOL_CALL, given, tool, text_or_none(call_id))
        kind = EventKind.THINKING if type_ == "thinking" else EventKind.ASSISTANT_MESSAGE
        return Event(kind, elide_media(text)) if text else None


def _input(text: str) -> object:
    try:
        return json.loads(text, strict=False) if text else {}
    except (ValueError, RecursionError):
        return text


class PartialAnswers:
    """Joins the pieces of the answers that are not in `whole`, one answer per agent at a time.

    An agent goes by its session and by the call that started it.
    """

    def __init__(self, whole: set[str]) -> None:
        self._whole = whole
        self._open: dict[Agent, dict[object, _Block]] = {}

    def take(self, event: object, agent: Agent) -> list[Event]:
        """Add a piece; a new answer closes the one before it, and gives its events."""
        if not is_object(event):
            return []
        type_ = event.get("type")
        blocks = self._open.get(agent)
        if type_ == "message_start":
            message = event.get("message")
            message_id = text_or_none(message.get("id")) if is_object(message) else None
            done = self._close(agent)
            if message_id not in self._whole:
                self._open[agent] = {}
            return done
        if blocks is None:
            return []
        index = event.get("index")
        index = index if isinstance(index, int) else 0
        block, delta = event.get("content_block"), event.get("delta")
        if type_ == "content_block_start" and is_object(block):
            started = blocks[index] = _Block(block)
            for key in ("text", "thinking"):
                if text := text_or_none(block.get(key)):
                    started.pieces.append(text)
        elif type_ == "content_block_delta" and is_object(delta) and index in blocks:
            piece = text_or_none(delta.get(_DELTAS.get(word(delta.get("type")), "")))
            if piece:
                blocks[index].pieces.append(piece)
        elif type_ == "message_stop":
            return self._close(agent)
        return []

    def rest(self) -> Iterator[tuple[Agent, list[Event]]]:
        """What is still open at the end, by agent."""
        for agent in list(self._open):
            yield agent, self._close(agent)

    def _close(self, agent: Agent) -> list[Event]:
        blocks = self._open.pop(agent, {})
        events = [block.event() for block in blocks.values()]
        return [event for event in events if event is not None]
