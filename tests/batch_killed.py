"""Runs commands and tells every step they take with batches, so that they are killed in any.

Run as a program it forks one process per line of standard input, which saves each the imports.
What a process tells goes into a pipe with a name, a line for each step: `pid N`, then names of
steps: before and after each of the functions in `STEPS`, `name` and `name.`. At the step where it
is to stop it tells `stopped`, and does nothing more but wait for its end.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

# Whoever is forked has it.
import anthropic  # noqa: F401

from longjudge.batches import following, harvesting
from longjudge.cli.main import run
from longjudge.judges.anthropic_batches import AnthropicBatches
from longjudge.judgment import Judgment
from longjudge.store import Store
from longjudge.store import batches as rows

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS: dict[str, tuple[Any, str]] = {
    "intent": (rows, "begin"),
    "create": (AnthropicBatches, "create"),
    "name": (Store, "write_now"),
    "look": (AnthropicBatches, "retrieve"),
    "cancel": (AnthropicBatches, "cancel"),
    "harvest": (following, "harvest"),
    "keep": (harvesting, "_keep"),
    "outcomes": (harvesting, "note_outcomes"),
    "note": (rows, "note"),
    "on_the_way": (rows, "on_the_way"),
    "withdraw": (rows, "withdraw"),
    "take_over": (rows, "take_over"),
    "leave": (rows, "leave_running"),
    "result": (Judgment, "run"),
}
"""What is told of: where it is found, and its name there."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command and its variables; `stop_at` is told `times` times before the process stops."""

    pipe: str
    words: list[str]
    variables: dict[str, str]
    stop_at: str = ""
    times: int = 1
    page: int = 2


@dataclass(slots=True)
class Telling:
    """One line per step, in the pipe before the step is over."""

    pipe: int
    stop_at: str
    times: int
    told: list[str] = field(default_factory=list)

    def __call__(self, step: str) -> None:
        os.write(self.pipe, f"{step}\n".encode())
        self.told.append(step)
        if step == self.stop_at and self.told.count(step) == self.times:
            os.write(self.pipe, b"stopped\n")
            while True:
                signal.pause()

    def around(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, which tells of itself."""

        async def told(*given: Any, **named: Any) -> Any:
            self(step)
            done = await call(*given, **named)
            self(f"{step}.")
            return done

        def told_at_once(*given: Any, **named: Any) -> Any:
            name = "want" if given[1] == rows.WANT_CANCEL else step
            self(name)
            done = call(*given, **named)
            self(f"{name}.")
            return done

        return told if asyncio.iscoroutinefunction(call) else told_at_once


def run_as(job: Job) -> int:
    """Be a process of its own, and run the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    tell = Telling(os.open(job.pipe, os.O_WRONLY), job.stop_at, job.times)
    tell(f"pid {os.getpid()}")
    os.environ.update(job.variables)
    harvesting.PAGE = job.page  # pyright: ignore[reportConstantRedefinition]
    for step, (where, name) in STEPS.items():
        setattr(where, name, tell.around(step, getattr(where, name)))
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{job.pipe}.{name}", os.O_WRONLY | os.O_CREAT, 0o600), number)
    code = run(job.words)
    tell(f"code {code}")
    return code


def main() -> None:
    # Who is killed leaves nothing to be fetched.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if not os.fork():
            sys.exit(run_as(Job(**json.loads(line))))


if __name__ == "__main__":
    main()
