"""The real command, to its end: in this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from longjudge.cli.main import run
from longjudge.signals import STOP_SIGNALS

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    """Run `longjudge` to its end in this process, which saves the imports of a new one.

    Nobody types, and what it prints goes where no terminal is. Where a loop runs already, it is
    a process.
    """
    if _a_loop_runs():
        return longjudge_process(*arguments, cwd=cwd, **environment)
    words = [str(argument) for argument in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        _surroundings(cwd, environment),
        open(os.devnull, encoding="utf-8") as nobody,
        mock.patch.object(sys, "stdin", nobody),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(words)
    return Finished(code, _text_of(out), _text_of(err))


def longjudge_process(*arguments: object, cwd: Path | None = None, **environment: str) -> Finished:
    """Run `longjudge` to its end as a process; it prints no traceback and leaves nothing open."""
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
    assert "Exception ignored" not in process.stderr
    return Finished(process.returncode, process.stdout, process.stderr)


def _a_loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@contextlib.contextmanager
def _surroundings(cwd: Path | None, environment: dict[str, str]) -> Iterator[None]:
    """What a process has of its own: folder, variables, time zone, what signals mean."""
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        with contextlib.chdir(cwd or os.getcwd()), mock.patch.dict(os.environ, environment):
            time.tzset()
            yield
    finally:
        time.tzset()
        for number, handler in handlers.items():
            signal.signal(number, handler)
