"""Codex records for tests, as small as the format allows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIME = "2026-08-03T10:48:56.000Z"


def record(kind: str, payload: dict[str, object], time: str = TIME, /) -> dict[str, object]:
    """A record with its envelope."""
    return {"timestamp": time, "type": kind, "payload": payload}


def meta(id: str = "c0de", **fields: object) -> dict[str, object]:
    """What a file begins with."""
    return record("session_meta", {"id": id, "timestamp": TIME, "cwd": "/repo", **fields})


def item(kind: str, time: str = TIME, /, **fields: object) -> dict[str, object]:
    """An item of the conversation."""
    return record("response_item", {"type": kind, **fields}, time)


def said(role: str, *texts: str, **fields: object) -> dict[str, object]:
    """A message, a block for each text."""
    block = "output_text" if role == "assistant" else "input_text"
    content = [{"type": block, "text": text} for text in texts]
    return item("message", role=role, content=content, **fields)


def reasoning(*summary: str, **fields: object) -> dict[str, object]:
    """A reasoning item with its summary, part by part."""
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return item("reasoning", summary=parts, **fields)


def call(call_id: str | None, tool: str, **inputs: object) -> dict[str, object]:
    """A call, whose input is JSON in a string."""
    return item("function_call", name=tool, arguments=json.dumps(inputs), call_id=call_id)


def output(call_id: str | None, value: object) -> dict[str, object]:
    """The output of a call."""
    return item("function_call_output", call_id=call_id, output=value)


def notice(kind: str, time: str = TIME, /, **fields: object) -> dict[str, object]:
    """What the screen was told."""
    return record("event_msg", {"type": kind, **fields}, time)


def done(kind: str, /, **fields: object) -> dict[str, object]:
    """A notice of a completed item, as current versions write it."""
    return notice("item_completed", item={"type": kind, **fields})


def turn(turn_id: str, time: str = TIME, /, **fields: object) -> dict[str, object]:
    """The beginning of a turn."""
    return notice("task_started", time, turn_id=turn_id, **fields)


def jsonl(records: Sequence[object]) -> bytes:
    """Records as JSONL; bytes stand for themselves."""
    return b"".join(
        each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in records
    )
