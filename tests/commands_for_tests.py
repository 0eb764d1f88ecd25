"""The real command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """One object for each line of standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


def longjudge(*arguments: object, cwd: Path | None = None, **environment: str) -> Finished:
    """Run `longjudge` to its end; it never prints a traceback."""
    process = subprocess.run(
        [sys.executable, "-m", "longjudge", *map(str, arguments)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in process.stderr
    return Finished(process.returncode, process.stdout, process.stderr)
