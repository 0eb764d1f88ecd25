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
_MAX_INT_BITS = 14_000


def event_json(event: Mapping[str, object]) -> bytes:
    """One event as a line of JSON."""
    return _dump(plain(event)).encode()


def plain(value: object, inside: tuple[int, ...] = ()) -> object:
    """The value as JSON types: sets sorted, other objects as `<ClassName>`.

    `inside` names the containers around the value, so that one that holds itself comes to an end.
    """
    if isinstance(value, str):
        return without_surrogates(str.__str__(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # Longer ones cannot be written in decimal at all.
        return int(value) if value.bit_length() <= _MAX_INT_BITS else hex(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(float(value))
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if id(value) in inside or len(inside) > _MAX_DEPTH:
        return _name(value)
    return _plain_container(value, (*inside, id(value)))


def _plain_container(value: object, inside: tuple[int, ...]) -> object:
    if isinstance(value, Enum):
        return plain(cast("object", value.value), inside)
    if isinstance(value, PathLike):
        return plain(fspath(cast("PathLike[str]", value)), inside)
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {_key(key): plain(item, inside) for key, item in entries}
    if isinstance(value, Set):
        items = [plain(item, inside) for item in cast("Iterable[object]", value)]
        return sorted(items, key=_dump)
    if isinstance(value, Sequence):
        return [plain(item, inside) for item in cast("Sequence[object]", value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(cast("object", getattr(value, field.name, None)), inside)
            for field in fields(value)
        }
    return _name(value)


def _name(value: object) -> str:
    return f"<{type(value).__name__}>"


def _key(key: object) -> str:
    value = plain(key)
    return value if isinstance(value, str) else _dump(value)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
