"""What retold formats do with records that they cannot read, and how they name the others."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.values import word

if TYPE_CHECKING:
    from collections.abc import Generator

    from longjudge.sessions.formats.retold import Telling


@contextmanager
def passing_over(telling: Telling, number: int) -> Generator[None]:
    """Count a record as skipped where reading it goes too deep, and go on behind it."""
    try:
        yield
    except RecursionError:
        telling.skip(TOO_DEEP, number)


def kind_name(kind: object) -> str:
    """A record's type as a note names it."""
    return (word(kind) or "untyped")[:80]
