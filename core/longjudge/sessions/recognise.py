"""Which format a file has, by what it holds and never by its name, and why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from longjudge.errors import NotASessionError
from longjudge.sessions.formats import ENVELOPED, GENERIC, MESSAGE_LISTS, RETOLD
from longjudge.sessions.values import is_array, is_object
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.formats.retold import RetoldFormat

    Record = Mapping[str, object]

HEAD_RECORDS = 50
_ENOUGH = 0.8
_SOME = 0.2
_READABLE = (
    "longjudge reads Claude Code transcripts and Codex rollouts (JSONL), lists of OpenAI and"
    " Anthropic messages, and generic event lists (JSON, JSONL)"
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip-compressed data; unpack it first (gunzip)"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data; unpack it first (unzstd)"),
    (b"BZh", "bzip2-compressed data; unpack it first"),
    (b"\xfd7zXZ\x00", "xz-compressed data; unpack it first"),
    (b"PK\x03\x04", "a zip archive (Inspect .eval logs are zip archives too); unpack it first"),
    (b"SQLite format 3\x00", "an SQLite database; export the session from it first"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8 first"),
    (b"{\x00", "UTF-16 text; convert it to UTF-8 first"),
    (b"[\x00", "UTF-16 text; convert it to UTF-8 first"),
    (b"version https://git-lfs", "a Git LFS pointer, the content is not here; run git lfs pull"),
    (b"\x89PNG", "a PNG image, no session"),
    (b"\xff\xd8\xff", "a JPEG image, no session"),
    (b"GIF8", "a GIF image, no session"),
    (b"%PDF", "a PDF document, no session"),
    (b"PAR1", "a Parquet file; export its rows as JSONL first"),
    (b"\x7fELF", "a program, no session"),
)


def refuse_by_first_bytes(start: bytes) -> None:
    """Refuse what the first bytes already give away.

    Raises:
        NotASessionError: the reason, without the file's name.
    """
    if not start:
        raise NotASessionError("the file is empty; no session was written to it")
    for magic, reason in _MAGIC:
        if start.startswith(magic):
            raise NotASessionError(f"this is {reason}")
    words = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if words.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg")):
        raise NotASessionError(
            "this is an HTML or XML page, perhaps a rendered session; name the JSON it was made"
            " from instead"
        )


def _has(*keys: str) -> Callable[[Record], bool]:
    return lambda record: all(key in record for key in keys)


def _type_starts(*starts: str) -> Callable[[Record], bool]:
    return lambda record: str(record.get("type")).startswith(starts)


# What a record of a format that is not read yet gives away; the first match names it.
_NOT_READ_YET: tuple[tuple[str, Callable[[Record], bool]], ...] = (
    ("a Kimi session", _type_starts("turn.prompt", "context.append")),
    ("Codex exec output", _type_starts("thread.started", "turn.started", "item.")),
    ("a Claude managed-agents log", lambda r: "processed_at" in r and "type" in r),
    ("an Amp thread", lambda r: "v" in r and str(r.get("id")).startswith("T-")),
    (
        "the transcript of another agent (a message inside each record)",
        lambda r: "kind" not in r and _wraps_message(r),
    ),
)


def _inside(record: Record, name: str, key: str) -> bool:
    value = record.get(name)
    return is_object(value) and key in value


def _has_vercel_block(record: Record) -> bool:
    content = record.get("content")
    blocks = content if is_array(content) else []
    return any(
        is_object(block) and block.get("type") in ("tool-call", "tool-result") for block in blocks
    )


def _wraps_message(record: Record) -> bool:
    message = record.get("message")
    return is_object(message) and ("role" in message or "content" in message)


def recognise(head: Sequence[dict[str, object]]) -> SessionFormat | RetoldFormat:
    """Choose the format of a file of lines by its first records.

    Raises:
        NotASessionError: what was seen instead, without the file's name.
    """
    if enveloped := recognise_enveloped(head, None):
        return enveloped
    for retold in RETOLD:
        if is_surely(retold, head, None):
            return retold
    return recognise_other(head, None)


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
    return bool(head) and format_.recognise(head, document) >= _ENOUGH


def recognise_other(
    head: Sequence[dict[str, object]], document: Mapping[str, object] | None
) -> SessionFormat:
    """Choose a list of messages or of events for records that have no envelope.

    Raises:
        NotASessionError: what was seen instead, without the file's name.
    """
    if document and (name := _unread_format([document])):
        raise NotASessionError(f"this looks like {name}, which is not read yet; {_READABLE}")
    if name := _unread_format([record for record in head if not _is_read(record)]):
        raise NotASessionError(f"this looks like {name}, which is not read yet; {_READABLE}")
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
    raise NotASessionError(f"no session: {describe_head(head)}; {_READABLE}")


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
    return [(format_.recognise(head, document), format_) for format_ in formats]


def _first_enough(scores: Sequence[tuple[float, SessionFormat]]) -> SessionFormat | None:
    return next((format_ for score, format_ in scores if score >= _ENOUGH), None)


def _is_read(record: dict[str, object]) -> bool:
    """Whether a record is surely one of a format that is read, whatever else it resembles."""
    if any(format_.fits(record) for format_ in ENVELOPED):
        return True
    return "kind" in record and GENERIC.fits(record) and not str(record["kind"]).endswith("Event")


def _unread_format(records: Sequence[Mapping[str, object]]) -> str | None:
    for name, matches in _NOT_READ_YET:
        if any(map(matches, records)):
            return name
    return None


def describe_head(head: Sequence[Mapping[str, object]]) -> str:
    """What was seen, in a few words: how many objects, and the first one's keys."""
    if not head:
        return "no JSON objects in it"
    keys = clean_line(", ".join(list(head[0])[:8]), 120) or "none"
    count = "one JSON object" if len(head) == 1 else f"{len(head)} JSON objects or more"
    return f"{count} without a kind of event (keys of the first: {keys})"
