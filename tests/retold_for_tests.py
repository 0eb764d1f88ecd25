"""Runs a retold format over records in memory, and holds what it tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions import Severity
from longjudge.sessions.formats.retold import Given
from longjudge.sessions.gather import MAIN_THREAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions import Event
    from longjudge.sessions.formats.retold import RetoldFormat


class RecordsInMemory:
    """Records as a format gets them."""

    def __init__(self, given: Sequence[Given]) -> None:
        self._given = given

    def __iter__(self) -> Iterator[Given]:
        return iter(self._given)

    def __len__(self) -> int:
        return max((each.number for each in self._given), default=-1) + 1

    def size(self, number: int) -> int:
        return len(str([each.value for each in self.at(number)]))

    def at(self, number: int) -> list[Given]:
        return [each for each in self._given if each.number == number]


@dataclass
class Told:
    """What a format told: events by session and thread, facts, links, notes."""

    by_thread: dict[tuple[str, str], list[Event]] = field(default_factory=dict)
    records: list[int] = field(default_factory=list)
    sessions: dict[str, dict[str, str]] = field(default_factory=dict)
    links: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: list[tuple[str, int | None, Severity, int]] = field(default_factory=list)
    skipped: list[tuple[str, int]] = field(default_factory=list)

    def events(self, session: str = "", thread: str = MAIN_THREAD) -> list[Event]:
        return self.by_thread.get((session, thread), [])

    @property
    def all_events(self) -> list[Event]:
        return [event for events in self.by_thread.values() for event in events]

    def event(
        self, event: Event, record: int, *, session: str = "", thread: str = MAIN_THREAD
    ) -> None:
        # What the loader does with every event: a text that cannot be encoded must fail here too.
        event.text.encode()
        self.by_thread.setdefault((session, thread), []).append(event)
        self.records.append(record)

    def facts(
        self,
        *,
        session: str = "",
        id: str | None = None,
        title: str | None = None,
        started: str | None = None,
        ended: str | None = None,
    ) -> None:
        known = self.sessions.setdefault(session, {})
        for name, value in (("id", id), ("title", title), ("started", started)):
            if value:
                known.setdefault(name, value)
        if ended:
            known["ended"] = ended

    def starts(
        self, thread: str, *, call_id: str, session: str = "", parent: str | None = None
    ) -> None:
        self.links.setdefault((session, thread), call_id)

    def note(
        self,
        reason: str,
        record: int | None,
        severity: Severity = Severity.INFO,
        count: int = 1,
    ) -> None:
        self.notes.append((reason, record, severity, count))

    def skip(self, reason: str, record: int) -> None:
        self.skipped.append((reason, record))


def retell(
    format_: RetoldFormat,
    records: Sequence[dict[str, object]] | Mapping[str, Sequence[dict[str, object]]],
    around: Mapping[str, object] | None = None,
) -> Told:
    """What a format tells of records: lines, or the elements of a document's lists by name."""
    lists = records if not isinstance(records, list | tuple) else {"": records}
    given: list[Given] = []
    for entry, values in lists.items():
        given += [Given(number, value, entry) for number, value in enumerate(values, len(given))]
    told = Told()
    format_.retell(RecordsInMemory(given), around or {}, told)
    return told
