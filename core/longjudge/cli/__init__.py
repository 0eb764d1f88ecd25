"""The `longjudge` command: thin commands over the library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.signals import exit_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_SIGNALLED = 128
"""Codes above name the signal that ended the command; everything is said and flushed by then."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    # Before the imports, in which a signal would otherwise surface as any exception.
    exit_on_signals()
    from longjudge.cli.main import run

    code = run(arguments)
    if code > _SIGNALLED:
        # While Python takes itself apart, one more signal would put its own code in the place.
        os._exit(code)
    return code
