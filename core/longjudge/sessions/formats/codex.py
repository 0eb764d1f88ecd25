"""Codex rollouts: one JSON record a line, as `~/.codex/sessions` keeps them.

A record has a type and a payload: items of the conversation (`response_item`), what the screen was
told (`event_msg`), and bookkeeping. Older files hold the items without envelope. Most texts stand
in a file twice, so it is read twice: first to see what repeats what, then to keep events.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from longjudge.sessions.formats.base import Format, KeeperReader
from longjudge.sessions.formats.codex_files import subagent_files
from longjudge.sessions.formats.codex_items import item_events
from longjudge.sessions.formats.codex_notices import notice_events
from longjudge.sessions.formats.codex_records import (
    ENCRYPTED,
    CodexRecord,
    Item,
    as_record,
    decode,
    is_bare_item,
    is_bare_meta,
)
from longjudge.sessions.formats.codex_survey import Survey
from longjudge.sessions.formats.codex_threads import (
    CodexKeeper,
    companion_keeper,
    survey_file,
)
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import PLACEHOLDER, render_value
from longjudge.sessions.values import is_object, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionReader
    from longjudge.sessions.keeper import RecordKeeper

_TYPES = frozenset(
    {
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
        *("world_state", "inter_agent_communication_metadata"),
    }
)

# What events say that no record does, and what stands in the records that make them say it.
_MADE = {
    "the conversation was compacted": ("compacted",),
    "message from to": ("agent_message",),
    "saved as": ("saved_path",),
    "automatic review of an action": ("guardian_assessment",),
    "review asked for": ("eview",),
    "turn aborted": ("turn_aborted",),
    "turns taken back": ("thread_rolled_back",),
    "undo": ("undo_completed",),
    "workdir": ("cwd",),
    "to": ("move_path",),
    "image": ("Image",),
    "path: null": ("view_image", "mageView", "mageview"),
    ENCRYPTED: ("encrypted_content",),
    PLACEHOLDER: ("mage_generation", "mageGeneration", "magegeneration"),
}


class Codex(Format[CodexRecord]):
    """Reads Codex rollouts."""

    name = "codex"
    made: Mapping[str, Sequence[str]] = _MADE

    def fits(self, record: Item) -> bool:
        """An envelope of a known type, or what only older files hold."""
        if is_object(record.get("payload")):
            return word(record.get("type")) in _TYPES
        return record.get("record_type") == "state" or is_bare_meta(record)

    def recognise(self, head: Sequence[Item], around: Mapping[str, object] | None) -> float:
        """The share of records that fit; beside one that surely does, bare items fit too."""
        if not any(map(self.fits, head)):
            return 0.0
        return sum(self.fits(record) or _may_fit(record) for record in head) / len(head)

    def decode(self, line: bytes) -> CodexRecord:
        """Decode a sound record."""
        return decode(line)

    def convert(self, value: Item) -> CodexRecord:
        """Make a record of any JSON object."""
        return as_record(value)

    def record_events(self, record: CodexRecord) -> list[Event]:
        """The events of a record, in order."""
        kind = record.type
        if kind == "response_item":
            return item_events(record.payload, record.timestamp)
        if kind == "event_msg":
            return notice_events(record.payload, record.timestamp)
        if kind == "compacted":
            summary = render_value(record.payload.get("message"))
            body = "the conversation was compacted" + (f"\n{summary}" if summary else "")
            return [Event(EventKind.SYSTEM, body, timestamp=record.timestamp)]
        return []

    def keepers(self) -> Sequence[type[RecordKeeper[CodexRecord]]]:
        """None by themselves: each goes with a survey of its file."""
        return ()

    def readings(self) -> Sequence[SessionReader]:
        """The survey, which keeps nothing, and then the reading that it guides."""
        survey = Survey(self.record_events)
        return (survey, KeeperReader(self, partial(CodexKeeper, survey=survey)))

    def companions(self, path: Path, session_id: str | None) -> Sequence[Path]:
        """The files of the subagents that the session started, and of theirs."""
        return subagent_files(path, session_id)

    def companion_reader(self, path: Path) -> SessionReader:
        """One subagent's file, read into the session that started it."""
        survey = Survey(self.record_events)
        survey_file(path, survey)
        return KeeperReader(self, companion_keeper(path, survey))


def _may_fit(record: Item) -> bool:
    """Whether a record may stand in a rollout: a type of envelope that is new, or a bare item."""
    if is_object(record.get("payload")):
        return isinstance(record.get("type"), str) and "timestamp" in record
    return is_bare_item(record)
