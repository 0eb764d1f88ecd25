"""From events in memory to a Session."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.gather import Gathering
from longjudge.sessions.model import Session, short_title
from longjudge.sessions.notes import Notes
from longjudge.sessions.plain import event_json
from longjudge.sessions.recognise import HEAD_RECORDS, recognise_in_memory
from longjudge.sessions.records import parse_line
from longjudge.sessions.sources import MemorySource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def session_from_events(events: Iterable[Mapping[str, object]]) -> Session:
    """Make a session of a generic event list, or of a list of messages, that is in memory.

    Values that are no JSON are rendered the same way in every process. An empty list is a
    session without events.

    Raises:
        NotASessionError: there are objects, but none of them is an event, or some hold more than
            a message.
    """
    items = list(events)
    records = [event_json(event) for event in items]
    head = [value for record in records[:HEAD_RECORDS] for value in parse_line(record).objects]
    format_ = recognise_in_memory(items, head)
    notes = Notes()
    gathering = Gathering(notes)
    reading = format_.readings()[0].start(gathering, notes, base=0, unfinished=None)
    reading.read(records, 0)
    reading.finish()
    rows = gathering.session()
    if len(gathering) > len(rows):
        raise NotASessionError(
            "whole conversations stand among the messages; judge each of them by itself"
        )
    if records and not len(rows):
        raise NotASessionError(f"no event among {len(records)} objects; give each a kind and text")
    index, facts = rows.finish(), rows.facts
    return Session(
        path=None,
        format=format_.name,
        id=f"events-{sha256(index.digests).hexdigest()[:12]}",
        title=short_title(facts.title) or "events",
        bytes=sum(map(len, records)),
        index=index,
        source=MemorySource(format_, records),
        started=facts.started,
        ended=facts.ended,
        skipped_lines=reading.skipped,
        diagnostics=notes.diagnostics(),
    )
