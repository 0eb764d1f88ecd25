"""What `codex exec --json` prints: items that start, change and are completed.

An item is told once, when it is completed. One that never is was cut off: its call is told where
it started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.one_by_one import SessionKeys
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_EVENTS = "events"
_TEXTS = {
    "agent_message": EventKind.ASSISTANT_MESSAGE,
    "assistant_message": EventKind.ASSISTANT_MESSAGE,
    "reasoning": EventKind.THINKING,
    "user_message": EventKind.USER_MESSAGE,
    "error": EventKind.ERROR,
}
# What every item has, and what is a call's result and not its input.
_NO_INPUT = frozenset(
    {"id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error"}
)
_FAILED = frozenset({"failed", "declined"})


class CodexExec(RetoldFormat):
    """Reads the events of a run, as lines or in a document."""

    name = "codex-exec-json"
    lists = (_EVENTS,)

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of thread, turn and item events, provided that an item is among them."""
        if not any(is_object(each.get("item")) or "thread_id" in each for each in head):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Two passes: which items were completed, and then each once."""
        done = {key for key, _, record in _runs(records) if _is_done(record)}
        started: set[tuple[int, object]] = set()
        keys, session = SessionKeys(), ""
        for key, number, record in _runs(records):
            with passing_over(telling, number):
                if thread := text_or_none(record.get("thread_id")):
                    session = keys.of(thread)
                    telling.facts(session=session, id=thread)
                item = record.get("item")
                if not is_object(item):
                    _tell_other(record, number, session, telling)
                    continue
                if not _is_done(record):
                    if key in done or key in started:
                        continue
                    started.add(key)
                for event in item_events(item):
                    telling.event(event, number, session=session)


def _fits(record: Record) -> bool:
    type_ = word(record.get("type"))
    return type_.startswith(("thread.", "turn.", "item.")) or (
        type_ == "error" and "message" in record
    )


def _runs(records: Records) -> Iterator[tuple[tuple[int, object], int, Record]]:
    """Every record with a key for its item: the ids begin anew with each run."""
    run = 0
    for given in records:
        inner = given.value.get(_EVENTS)
        for record in filter(is_object, inner) if is_array(inner) else (given.value,):
            run += record.get("type") == "thread.started"
            item = record.get("item")
            id_ = item.get("id") if is_object(item) else None
            yield (run, id_ if isinstance(id_, str | int) else None), given.number, record


def _is_done(record: Record) -> bool:
    return record.get("type") == "item.completed"


def _tell_other(record: Record, number: int, session: str, telling: Telling) -> None:
    error = record.get("error", record if record.get("type") == "error" else None)
    if is_object(error):
        body = render_content(error.get("message") or error)
        telling.event(Event(EventKind.ERROR, body), number, session=session)
    else:
        telling.note(f"{kind_name(record.get('type'))} records, no events", number)


def item_events(item: Record) -> list[Event]:
    """The events of an item: a text, or a call with its result."""
    type_ = text_or_none(item.get("type")) or text_or_none(item.get("item_type")) or "item"
    if kind := _TEXTS.get(type_):
        said = item.get("text", item.get("message"))
        body = render_content(said) if said else ""
        return [Event(kind, body)] if body else []
    call_id = text_or_none(item.get("id"))
    tool = text_or_none(item.get("tool")) or type_
    given: object = {key: value for key, value in item.items() if key not in _NO_INPUT}
    if "arguments" in item:
        given = read_arguments(item["arguments"])
    call = Event(EventKind.TOOL_CALL, render_input(given), tool, call_id)
    status = item.get("status")
    if status == "in_progress" or type_ == "todo_list":
        return [call]
    return [call, *_result(item, tool, call_id)]


def _result(item: Record, tool: str, call_id: str | None) -> list[Event]:
    error, code = item.get("error"), item.get("exit_code")
    failed = bool(error) or word(item.get("status")) in _FAILED or code not in (0, None)
    output = item.get("aggregated_output", item.get("result"))
    if is_object(output) and is_array(output.get("content")):
        output = output["content"]
    if is_object(error):
        error = error.get("message") or error
    parts = [render_content(each) for each in (output, error) if each is not None]
    if not parts and not failed and item.get("status") is None:
        return []
    if code not in (0, None):
        parts.append(f"exit code {render_value(code)}")
    said = True if failed else None if code is None else False
    body = "\n".join(filter(None, parts))
    return [Event(EventKind.TOOL_RESULT, body, tool, call_id, said)]
