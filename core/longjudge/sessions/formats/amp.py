"""Amp's threads: Anthropic's messages with results that hold how the tool's run went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.render import render_input
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling
    from longjudge.sessions.model import Event

    Record = dict[str, object]

_FAILED = frozenset({"error", "rejected-by-user", "cancelled", "rejected"})


class Amp(OneByOne):
    """Reads exported threads."""

    name = "amp"
    lists = ("messages",)

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """By the thread's id and version around the messages."""
        if around is None or not word(around.get("id")).startswith("T-") or "v" not in around:
            return 0.0
        return super().recognise(head, around)

    def surely(self, record: Record) -> bool:
        """A message with a role and content."""
        return isinstance(record.get("role"), str) and "content" in record

    def fits(self, record: Record) -> bool:
        """Such a message."""
        return self.surely(record)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass."""
        telling.facts(
            id=text_or_none(around.get("id")),
            title=text_or_none(around.get("title")),
            started=iso_time(around.get("created"), "ms"),
        )
        super().retell(records, around, telling)

    def record_events(self, record: Record) -> list[Event]:
        """The events of a message."""
        content = record.get("content")
        if is_array(content):
            content = [_block(block) for block in content]
        meta, usage = record.get("meta"), record.get("usage")
        time = iso_time(meta.get("sentAt"), "ms") if is_object(meta) else None
        if time is None and is_object(usage):
            time = text_or_none(usage.get("timestamp"))
        return message_events({"role": record.get("role"), "content": content}, time)

    def label(self, record: Record) -> str:
        """Nothing else is in a thread."""
        return "messages without content"


def _block(block: object) -> object:
    """A result as other messages write it."""
    run = block.get("run") if is_object(block) else None
    if not is_object(block) or not is_object(run):
        return block
    result, error = run.get("result"), run.get("error")
    if is_object(error):
        error = error.get("message") or error
    given = error if result is None else result
    failed = True if word(run.get("status")) in _FAILED or error else None
    return {
        "type": "tool_result",
        "tool_use_id": block.get("toolUseID", block.get("tool_use_id")),
        "content": render_input(given) if is_object(given) else given,
        "is_error": failed,
    }
