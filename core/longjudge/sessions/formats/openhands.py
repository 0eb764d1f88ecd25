"""OpenHands: lists of events of both generations, and the output of evaluations.

A line of an evaluation's `output.jsonl` holds the whole history of one instance, older ones as
pairs of an action and its observation. What one event is stands in `openhands_events.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.openhands_events import (
    UNKNOWN,
    Pairing,
    first_generation,
    is_first_generation,
    is_second_generation,
    second_generation,
)
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Record = dict[str, object]

EMPTY = "instances of which nothing is recorded"

_HISTORY = "history"
_PAIR = "messages"


class OpenHands(RetoldFormat):
    """Reads trajectories, event logs and outputs of evaluations."""

    name = "openhands"
    lists: Sequence[str] = (_HISTORY, "trajectory", "events", "items")

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """Events by their source and kind, or instances that hold a history of such events."""
        if not head:
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the events of every instance."""
        pairing = Pairing()
        if instance := _instance(around):
            telling.facts(id=instance, title=instance)
        for given in records:
            history = given.value.get(_HISTORY)
            if is_array(history):
                _tell_instance(given, history, telling)
                continue
            for event in _flat([given.value]):
                _tell(event, given.number, pairing, telling)
        _tell_failure(around, max(0, len(records) - 1), telling)


def _fits(record: Record) -> bool:
    history = record.get(_HISTORY)
    if is_array(history) and "instance_id" in record:
        return not history or any(map(_is_event, _flat(history[:20])))
    return any(map(_is_event, _flat([record])))


def _is_event(record: Record) -> bool:
    return is_first_generation(record) or is_second_generation(record)


def _flat(items: Sequence[object]) -> Iterator[Record]:
    """The events among items that may be pairs: arrays, or what an array on a line becomes."""
    for item in items:
        if is_object(item):
            pair = item.get(_PAIR)
            if is_array(pair) and len(item) == 1:
                yield from _flat(pair)
            else:
                yield item
        elif is_array(item):
            for each in item:
                if is_object(each):
                    yield each


def _tell_instance(given: Given, history: Sequence[object], telling: Telling) -> None:
    key = str(given.number)
    instance = _instance(given.value)
    telling.facts(session=key, id=instance, title=instance)
    pairing = Pairing()
    for event in _flat(history):
        _tell(event, given.number, pairing, telling, key)
    if not history:
        telling.note(EMPTY, given.number)
    _tell_failure(given.value, given.number, telling, key)


def _tell(
    record: Record, number: int, pairing: Pairing, telling: Telling, session: str = ""
) -> None:
    with passing_over(telling, number):
        if is_second_generation(record):
            events = second_generation(record, pairing)
        else:
            events = first_generation(record, pairing)
        for event in events or ():
            telling.event(event, number, session=session)
        if events is None:
            kind = record.get("kind") or record.get("action") or record.get("observation")
            telling.note(f"{UNKNOWN} {render_value(kind)[:60] or '?'}", number)


def _tell_failure(
    instance: Mapping[str, object], number: int, telling: Telling, session: str = ""
) -> None:
    """Why an evaluation ended, where it failed."""
    if "instance_id" in instance and (fault := text_or_none(instance.get("error"))):
        telling.event(Event(EventKind.ERROR, render_value(fault)), number, session=session)


def _instance(record: Mapping[str, object]) -> str | None:
    return text_or_none(record.get("instance_id"))
