"""ShareGPT: rows of training data with a conversation each, in the dialects that tools come in.

Calls are turns of their own, or stand in a turn's text between `<tool_call>` marks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import call_block
from longjudge.sessions.formats.foreign_messages import foreign_message
from longjudge.sessions.formats.message_events import message_events, read_arguments
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.told_once import ToldOnce
from longjudge.sessions.formats.trace_events import call_event
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import render_content, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Turn = dict[str, object]

_KINDS = {
    "human": EventKind.USER_MESSAGE,
    "user": EventKind.USER_MESSAGE,
    "gpt": EventKind.ASSISTANT_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "chatgpt": EventKind.ASSISTANT_MESSAGE,
    "bing": EventKind.ASSISTANT_MESSAGE,
    "bard": EventKind.ASSISTANT_MESSAGE,
    "model": EventKind.ASSISTANT_MESSAGE,
    "system": EventKind.SYSTEM,
    "observation": EventKind.TOOL_RESULT,
    "tool": EventKind.TOOL_RESULT,
    "tool_response": EventKind.TOOL_RESULT,
    "function_response": EventKind.TOOL_RESULT,
    "function_call": EventKind.TOOL_CALL,
    "tool_call": EventKind.TOOL_CALL,
}
_LISTS = ("conversations", "conversation")
_ID_KEYS = ("id", "conversation_id", "uuid", "idx")
_MARKED = re.compile(r"<(tool_call|think|thinking|scratch_pad)>(.*?)</\1>|<tool_call>(.*)\Z", re.S)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.S)


class ShareGpt(RetoldFormat):
    """Reads rows; each is a session."""

    name = "sharegpt"
    lists = ("data",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that hold turns."""
        return sum(map(_is_row, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the conversation of each row."""
        rows = 0
        for given in records:
            row = given.value
            turns = _turns(row)
            if not turns:
                telling.skip("rows without a conversation", given.number)
                continue
            rows += 1
            _tell(row, turns, given.number, f"row {rows}", telling)


def _tell(row: Turn, turns: list[object], record: int, session: str, telling: Telling) -> None:
    teller = ToldOnce(lambda event, number: telling.event(event, number, session=session))
    system = row.get("system")
    chosen = row.get("chosen")
    first: list[object] = [{"from": "system", "value": system}] if system else []
    last: list[object] = [chosen] if is_object(chosen) else []
    after_call = False
    for turn in (*first, *turns, *last):
        try:
            events = list(_events(turn, after_call)) if is_object(turn) else []
        except RecursionError:
            telling.skip(TOO_DEEP, record)
            continue
        if events:
            teller.answer(events, record)
            after_call = events[-1].kind is EventKind.TOOL_CALL
        elif not is_object(turn) or turn.get("value", turn.get("content")) not in ("", None):
            telling.skip("turns that are none of a person, a model or a tool", record)
    if row.get("rejected"):
        telling.note("answers that were rejected for a better one, left out", record)
    id_ = next((row[key] for key in _ID_KEYS if row.get(key) not in (None, "")), None)
    known = isinstance(id_, str | int) and not isinstance(id_, bool)
    telling.facts(
        session=session,
        id=str(id_) if known else session.replace(" ", "-"),
        title=text_or_none(row.get("title")),
    )


def _events(turn: Turn, after_call: bool) -> Iterator[Event]:
    if "from" not in turn:
        read = foreign_message(turn)
        yield from message_events(read, None, after_call) if read else []
        return
    kind = _KINDS.get(str(turn["from"]).strip().lower())
    value = turn.get("value")
    if value is None or value == "":
        return
    if kind is EventKind.TOOL_CALL:
        yield from _call_turn(value)
    elif kind is EventKind.TOOL_RESULT:
        yield from _results(value)
    elif kind is EventKind.ASSISTANT_MESSAGE:
        yield from _said(value)
    elif kind is EventKind.USER_MESSAGE:
        yield from message_events({"role": "user", "content": value}, None, after_call)
    elif kind is not None:
        yield Event(kind, render_content(value))


def _call_turn(value: object) -> Iterator[Event]:
    """The calls of a turn that is one: as JSON, else as text with calls written out in it."""
    if isinstance(value, str) and isinstance(unpacked(value), str):
        found = list(_said(value))
        if any(event.kind is EventKind.TOOL_CALL for event in found):
            yield from found
            return
    yield from _calls(value)


def _calls(value: object) -> Iterator[Event]:
    """The call, or the list of calls, that a value is; what cannot be read stays as text."""
    found = unpacked(value)
    for entry in found if is_array(found) else [found]:
        entry = unpacked(entry)
        if is_object(entry):
            block = call_block(entry)
            name = text_or_none(block["name"])
            call_id = text_or_none(block["id"])
            yield call_event(name or "", call_id, read_arguments(block["input"]), None)
        else:
            yield Event(EventKind.TOOL_CALL, render_value(entry))


def _results(value: object) -> Iterator[Event]:
    """The results of a turn, which may hold several between marks."""
    text = value if isinstance(value, str) else render_content(value)
    marked = _RESPONSE.findall(text)
    for body in marked or [text]:
        named = unpacked(body)
        tool = None
        if (
            is_object(named)
            and "content" in named
            and set(named) <= {"name", "content", "tool_call_id"}
        ):
            tool = text_or_none(named.get("name"))
            body = render_content(named["content"])
        yield Event(EventKind.TOOL_RESULT, render_value(body), tool)


def _said(value: object) -> Iterator[Event]:
    """What a model said: its thoughts, its text and its calls, in order."""
    text = render_content(value)
    position = 0
    for match in _MARKED.finditer(text):
        yield from _text(text[position : match.start()])
        if match[1] == "tool_call" or match[1] is None:
            yield from _calls((match[2] or match[3] or "").strip())
        elif match[2].strip():
            yield Event(EventKind.THINKING, match[2].strip())
        position = match.end()
    yield from _text(text[position:], whole=position == 0)


def _text(text: str, *, whole: bool = False) -> Iterator[Event]:
    if text.strip():
        said = text if whole else text.strip()
        yield from message_events({"role": "assistant", "content": said})


def _turns(row: Turn) -> list[object]:
    for key in _LISTS:
        turns = row.get(key)
        if is_array(turns):
            return turns
    return []


def _is_row(record: Turn) -> bool:
    turns = _turns(record)
    if not turns or not is_object(turns[0]):
        return False
    shares = all(is_object(turn) and "from" in turn and "value" in turn for turn in turns[:5])
    if shares:
        return True
    listed = is_array(record.get("conversations"))
    return listed and all(
        is_object(turn) and "role" in turn and "content" in turn for turn in turns[:5]
    )
