"""The `longjudge` command: thin commands over the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.signals import exit_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    # Before the imports, in which a signal would otherwise surface as any exception.
    exit_on_signals()
    from longjudge.cli.main import run

    return run(arguments)
