"""Session files for tests: every event is a chunk of its own at `CHUNK_CHARS`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CHUNK_CHARS = 400
_ITEM = re.compile(r"item (\d{4})")


def events(count: int) -> list[dict[str, object]]:
    """`count` different events, the first a tool call; each fills more than half a chunk."""
    filler = "the agent looks at the next file and writes down what it sees there; " * 4
    made: list[dict[str, object]] = [
        {"kind": "assistant_message", "text": f"item {number:04d}: {filler}"}
        for number in range(count)
    ]
    made[0] = {
        "kind": "tool_call",
        "tool": "Bash",
        "input": {"command": f"ls # item 0000 {filler}"},
    }
    return made


def write_session(path: Path, count: int) -> Path:
    """Write `events(count)` as a generic event list."""
    return write_events(path, events(count))


def write_equal(path: Path, count: int) -> Path:
    """Write a session of `events(1)` and then `count` times the same other event."""
    return write_events(path, events(1) + [events(2)[1]] * count)


def write_events(path: Path, items: Sequence[dict[str, object]]) -> Path:
    """Write events as JSONL."""
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def item_of(prompt: str) -> int:
    """Which of `events` a prompt is about."""
    match = _ITEM.search(prompt)
    assert match is not None, prompt
    return int(match[1])
