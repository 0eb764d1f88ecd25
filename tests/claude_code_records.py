"""Claude Code records for tests, as small as the format allows."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions import load_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.sessions import Session

_numbers = count(1)


def record(kind: str, message: dict[str, object] | None = None, **fields: object) -> dict:
    """A record with an envelope; every call makes a new uuid."""
    number = next(_numbers)
    made: dict[str, object] = {
        "type": kind,
        "uuid": f"a0000000-0000-4000-8000-{number:012d}",
        "parentUuid": None,
        "sessionId": "5e55",
        "timestamp": "2025-12-16T00:00:00.000Z",
        **fields,
    }
    if message is not None:
        made["message"] = message
    return made


def user(content: object, **fields: object) -> dict:
    """A user record."""
    return record("user", {"role": "user", "content": content}, **fields)


def assistant(*blocks: dict[str, object], id: str | None = None, **fields: object) -> dict:
    """An assistant record; without an id, the message gets one of its own."""
    message = {"role": "assistant", "id": id or f"msg_{next(_numbers)}", "content": list(blocks)}
    return record("assistant", message, **fields)


def text(words: str) -> dict[str, object]:
    """A text block."""
    return {"type": "text", "text": words}


def call(tool: str, call_id: str | None = None, **inputs: object) -> dict[str, object]:
    """A call block."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": inputs}


def result(content: object, call_id: str | None = None, **fields: object) -> dict[str, object]:
    """A result block."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def jsonl(records: Sequence[object]) -> bytes:
    """Records as JSONL."""
    return "".join(json.dumps(item) + "\n" for item in records).encode()


def load(folder: Path, *records: object, name: str = "session.jsonl") -> Session:
    """Write records (or raw bytes) to a file and load it."""
    path = folder / name
    path.write_bytes(
        b"".join(item if isinstance(item, bytes) else jsonl([item]) for item in records)
    )
    return load_session(path)


def load_or_refusal(path: Path) -> Session | str:
    """The session of a file, or the words it was refused with; any other error is one."""
    try:
        return load_session(path)
    except NotASessionError as refusal:
        return str(refusal)


def events(session: Session) -> list[tuple[str, str]]:
    """Kind and body of every event, read again from the file."""
    found = [session.event(number) for number in range(len(session.index))]
    return [(event.kind.value, event.body) for event in found]


def notes(session: Session) -> dict[str, int]:
    """Diagnostics: reason and count."""
    return {note.reason: note.count for note in session.diagnostics}
