"""The `longjudge` command: thin commands over the library."""

from __future__ import annotations

from longjudge.cli.main import main

__all__ = ["main"]
