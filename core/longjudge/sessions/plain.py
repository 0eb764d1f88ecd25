"""Values handed over from Python become JSON that is the same in every process.

A set has no order and an object's default text holds its address; neither may reach a text whose
digest is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from os import PathLike, fspath
from typing import cast
from uuid import UUID

from longjudge.text import without_surrogates

_MAX_DEPTH = 60


def event_json(event: Mapping[str, object]) -> bytes:
    """One event as a line of JSON."""
    return _dump(plain(event)).encode()


def plain(value: object, depth: int = 0) -> object:
    """The value as JSON types: sets sorted, other objects as `<ClassName>`."""
    if isinstance(value, str):
        return without_surrogates(str(value))
    if value is None or isinstance(value, bool | int):
        return int(value) if isinstance(value, Enum) else value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Enum):
        return plain(cast("object", value.value), depth + 1)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, PathLike):
        return plain(fspath(cast("PathLike[str]", value)), depth + 1)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    return f"<{type(value).__name__}>" if depth > _MAX_DEPTH else _plain_container(value, depth + 1)


def _plain_container(value: object, depth: int) -> object:
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {_key(key): plain(item, depth) for key, item in entries}
    if isinstance(value, Set):
        items = [plain(item, depth) for item in cast("Iterable[object]", value)]
        return sorted(items, key=_dump)
    if isinstance(value, Sequence):
        return [plain(item, depth) for item in cast("Sequence[object]", value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(cast("object", getattr(value, field.name, None)), depth)
            for field in fields(value)
        }
    return f"<{type(value).__name__}>"


def _key(key: object) -> str:
    value = plain(key, _MAX_DEPTH)
    return value if isinstance(value, str) else _dump(value)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
