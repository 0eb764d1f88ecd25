"""Takes secrets out of text before it leaves the machine.

`redact` replaces keys, tokens, private keys and passwords by placeholders that are the same
wherever the same secret stands, and leaves everything else as it is, the secret's name and what
stands around it included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from longjudge.redaction.redacted import Redacted, Replacement, unredacted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REDACTOR_VERSION = "1"
"""Names what is replaced, and by what; part of every verdict key."""

NO_REDACTOR = "none"
"""The version where nothing is replaced."""

__all__ = [
    "NO_REDACTOR",
    "REDACTOR_VERSION",
    "Redacted",
    "Replacement",
    "find_secrets",
    "may_hold_secrets",
    "redact",
    "redacted_fields",
    "redacted_text",
    "redacted_value",
    "unredacted",
]


def redact(text: str) -> Redacted:
    """Find the secrets of a text.

    Pure, and the same for the same text; a text that went through it stays as it is.
    """
    return Redacted(text, find_secrets(text))


def find_secrets(text: str, stopped: Callable[[], bool] = lambda: False) -> tuple[Replacement, ...]:
    """The secrets alone; those found so far where `stopped`, asked now and then, says so."""
    # The expressions take longer to compile than most commands take to start.
    from longjudge.redaction.detect import find

    return find(text, stopped)


def may_hold_secrets(texts: Sequence[str]) -> list[bool]:
    """For each of some short texts whether it may hold a secret; where not, none is in it."""
    from longjudge.redaction.screening import may_hold

    return may_hold(texts)


def redacted_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """A JSON object with every string in it redacted; its names stay."""
    return {name: redacted_value(item) for name, item in fields.items()}


def redacted_value(value: object) -> object:
    """A JSON value with every string in it redacted."""
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, dict):
        return redacted_fields(cast("dict[str, object]", value))
    if isinstance(value, list | tuple):
        return [redacted_value(item) for item in cast("list[object]", value)]
    return value


def redacted_text(text: str) -> str:
    """A text as it may leave the machine."""
    return redact(text).text
