"""Which format a file has, by what it holds and never by its name, and why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from longjudge.errors import NotASessionError
from longjudge.sessions.formats import ENVELOPED, GENERIC, MESSAGE_LISTS, retold_formats
from longjudge.sessions.refusals import LISTS_OF_EVENTS, known_other, no_session
from longjudge.sessions.values import is_array, is_object, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.formats.retold import RetoldFormat

    Record = Mapping[str, object]

HEAD_RECORDS = 50
_ENOUGH = 0.8
_SOME = 0.2


def recognise(
    head: Sequence[dict[str, object]], count: int | None = None
) -> SessionFormat | RetoldFormat:
    """Choose the format of a file of lines by its first records; `count` tells how many it has.

    Raises:
        NotASessionError: what was seen instead, without the file's name.
    """
    if enveloped := recognise_enveloped(head, None):
        return enveloped
    for retold in retold_formats():
        if is_surely(retold, head, None):
            return retold
    return recognise_other(head, None, count)


def recognise_enveloped(
    head: Sequence[dict[str, object]], document: Mapping[str, object] | None
) -> SessionFormat | None:
    """The format whose envelope the first records have; `document` is what wraps them."""
    return _first_enough(_scores(ENVELOPED, head, document))


def is_surely(
    format_: RetoldFormat,
    head: Sequence[dict[str, object]],
    document: Mapping[str, object] | None,
) -> bool:
    """Whether enough of the first records are of a format."""
    return bool(head) and _score(format_, head, document) >= _ENOUGH


def recognise_other(
    head: Sequence[dict[str, object]],
    document: Mapping[str, object] | None,
    count: int | None = None,
) -> SessionFormat:
    """Choose a list of messages or of events for records that have no envelope.

    Raises:
        NotASessionError: what was seen instead, without the file's name.
    """
    if words := known_other(head):
        raise NotASessionError(f"this is {words}")
    if any(_wraps_message(record) for record in head if not _is_read(record)):
        raise NotASessionError(no_session(head, document, count))
    if document is None and head and all(map(_is_list_of_events, head)):
        raise NotASessionError(LISTS_OF_EVENTS)
    enveloped = _scores(ENVELOPED, head, document)
    nearest = max(enveloped, key=lambda scored: scored[0])
    others = _scores((*MESSAGE_LISTS, GENERIC), head, document)
    if nearest[0] < _SOME:
        if best := _first_enough(others):
            return best
        nearest = max((*enveloped, *others), key=lambda scored: scored[0])
    if nearest[0] > 0:
        raise NotASessionError(
            f"a mix of records: {nearest[0]:.0%} of the first {len(head)} look like"
            f" {nearest[1].name}, the others do not; split the file by format"
        )
    raise NotASessionError(no_session(head, document, count))


def recognise_in_memory(
    items: Sequence[object], head: Sequence[dict[str, object]]
) -> SessionFormat:
    """Choose the generic event list, or a list of messages where all of it surely is one.

    `head` holds the first items as the JSON that they become.
    """
    # What is no mapping is no event in either, and is counted when it is read.
    events = [cast("Record", item) for item in items if isinstance(item, Mapping)]
    if not any("role" in event for event in events):
        return GENERIC
    if any("kind" in event or not ("role" in event or "type" in event) for event in events):
        return GENERIC
    scored = _scores(MESSAGE_LISTS, head, None)
    return next((format_ for score, format_ in scored if score == 1.0), GENERIC)


def _scores(
    formats: Sequence[SessionFormat],
    head: Sequence[dict[str, object]],
    document: Mapping[str, object] | None,
) -> list[tuple[float, SessionFormat]]:
    return [(_score(format_, head, document), format_) for format_ in formats]


def _score(
    format_: SessionFormat | RetoldFormat,
    head: Sequence[dict[str, object]],
    document: Mapping[str, object] | None,
) -> float:
    try:
        return format_.recognise(head, document)
    except RecursionError:
        # Nested so deep where the format has a word: none of its records are.
        return 0.0


def _first_enough(scores: Sequence[tuple[float, SessionFormat]]) -> SessionFormat | None:
    return next((format_ for score, format_ in scores if score >= _ENOUGH), None)


def _is_read(record: dict[str, object]) -> bool:
    """Whether a record is surely one of a format that is read, whatever else it resembles."""
    if any(format_.fits(record) for format_ in ENVELOPED):
        return True
    kind = word(record.get("kind"))
    return "kind" in record and GENERIC.fits(record) and not kind.endswith("Event")


def _is_list_of_events(record: Record) -> bool:
    """Whether a record is no more than a list, and what it holds are events and no messages."""
    inside = record.get("messages")
    if len(record) != 1 or not is_array(inside):
        return False
    first = next(iter(inside), None)
    return is_object(first) and "kind" in first and GENERIC.fits(first)


def _wraps_message(record: Record) -> bool:
    """Whether a record holds a message in an envelope that is not known."""
    message = record.get("message")
    is_message = is_object(message) and ("role" in message or "content" in message)
    return is_message and "kind" not in record
