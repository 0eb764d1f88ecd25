"""Narrowing of decoded JSON values, whose shape nobody promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a decoded value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether a decoded value is a JSON array."""
    return isinstance(value, list)


def text_or_none(value: object) -> str | None:
    """The value if it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def bool_or_none(value: object) -> bool | None:
    """The value if it is a boolean: absent is not false."""
    return value if isinstance(value, bool) else None


def word(value: object) -> str:
    """The value if it is a string, else the empty one: to compare with, and to look up."""
    return value if isinstance(value, str) else ""


def first_of(source: Mapping[str, object], keys: Sequence[str]) -> object:
    """The first entry of several names that is there and not null."""
    for key in keys:
        value = source.get(key)
        if value is not None:
            return value
    return None
