"""What a retold format does with a record that is nested more deeply than anyone reads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from longjudge.sessions.records import TOO_DEEP

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
