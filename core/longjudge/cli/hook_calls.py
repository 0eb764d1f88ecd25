"""What becomes of an agent's call: a process that judges, started and left to itself.

An agent waits for its hooks, and not for long: Claude Code gives those of `SessionEnd` 1.5 seconds
together unless more is set (https://code.claude.com/docs/en/hooks), Codex one, and three at most
(openai/codex, pull request 33895). So a call reads what it is handed, starts a process that judges,
and ends. It says nothing on standard output and ends with 0, whatever happens: with 2, a hook of
`Stop` would make Claude Code go on, and Codex as well (codex-rs/hooks/src/events/stop.rs).
"""

from __future__ import annotations

import os
import sys
import time
from enum import Enum, auto
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from longjudge.cli.background import Turn, hook_log_path, note, start_longjudge
from longjudge.errors import LongjudgeError, SessionError, UsageError
from longjudge.hooks import MOST_BYTES, HookCall, Tool, is_whole, read_call, session_file
from longjudge.streams import is_terminal, tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

QUIET_SECONDS = 1.0
"""A file that nobody wrote to for so long has what the agent had to write when it called."""

MOST_SECONDS = 10.0
"""So long a file that is still written is waited for: the next turn may have begun in it."""

_LOOK_SECONDS = 0.1
_PIECE = 65_536
_SIGNALLED = 128


class How(Enum):
    """Who judges: a process that is started for it, this one as such, or this one while you wait.

    Only who waits is told by the exit code.
    """

    BY_ANOTHER_PROCESS = auto()
    IN_BACKGROUND = auto()
    HERE = auto()


def answer(words: Sequence[str], how: How, check: Callable[[Sequence[str]], None]) -> int:
    """Do what a call asks for and return the exit code; `check` refuses options of `judge`.

    Raises:
        LongjudgeError, OSError: with `HERE`, or where no agent has handed anything over.
    """
    rest, payload = _payload_of(words)
    if not payload:
        _check_set_up(rest, how, check)
        return 0
    try:
        tool, options = _tool_and_options(rest)
        check(options)
        return _obey(read_call(payload, tool), options, how)
    except (LongjudgeError, OSError) as error:
        if how is How.HERE:
            raise
        note(str(error))
        return 0


def _obey(call: HookCall, options: Sequence[str], how: How) -> int:
    if not call.ends_something:
        said = f"{clean_line(call.event, 80)} ends no session or turn, so nothing was done"
        if how is How.HERE:
            tell(f"longjudge: {said}")
        else:
            note(said)
        return 0
    match how:
        case How.HERE:
            return _judge(call, options, how)
        case How.IN_BACKGROUND:
            return _judge_as_asked(call, options)
        case How.BY_ANOTHER_PROCESS:
            if _turn(call, options).ask():
                start_longjudge(["hook", "--in-background", "--", *options, call.to_json()])
            return 0


def _payload_of(words: Sequence[str]) -> tuple[Sequence[str], bytes]:
    """The words without the payload, and the payload: the last word, else standard input."""
    if words and words[-1].lstrip().startswith("{"):
        return words[:-1], words[-1].encode("utf-8", "surrogateescape")
    return words, _standard_input()


def _standard_input() -> bytes:
    """What is handed over there, as soon as it is whole: the pipe may be left open.

    Of more than a payload may have, the first bytes; nothing where a person sits there.
    """
    if sys.stdin is None or is_terminal(sys.stdin):  # pyright: ignore[reportUnnecessaryComparison]
        return b""
    taken = bytearray()
    try:
        descriptor = sys.stdin.fileno()
        while len(taken) <= MOST_BYTES and (piece := os.read(descriptor, _PIECE)):
            taken += piece
            if taken.rstrip().endswith(b"}") and is_whole(taken):
                break
    except (OSError, ValueError):
        # Closed, or no file: what came until then is looked at all the same.
        pass
    return bytes(taken).strip()


def _check_set_up(words: Sequence[str], how: How, check: Callable[[Sequence[str]], None]) -> None:
    """Check what a hook would be called with; nobody handed anything over.

    Raises:
        UsageError: it is wrong, or there is nothing to wait for.
    """
    _, options = _tool_and_options(words)
    check(options)
    if how is How.HERE:
        raise UsageError("--wait needs an agent's JSON on standard input, or as last argument")
    tell(
        "longjudge: ready, an agent may call this; nothing was handed over, so nothing was done."
        f" What its calls come to stands in {hook_log_path()}"
    )


def _tool_and_options(words: Sequence[str]) -> tuple[Tool | None, Sequence[str]]:
    if not words or words[0].startswith("-"):
        return None, words
    try:
        return Tool(words[0]), words[1:]
    except ValueError:
        raise UsageError(
            f"{clean_line(words[0], 80)}: hooks of that agent are not known; use"
            f" {' or '.join(Tool)}"
        ) from None


def _turn(call: HookCall, options: Sequence[str]) -> Turn:
    """One at a time for a session and the options it is judged with: hooks may be several."""
    told = msgspec.json.encode([call.path or call.session, *options])
    return Turn(sha256(told).hexdigest()[:32])


def _judge_as_asked(call: HookCall, options: Sequence[str]) -> int:
    """Judge, and once more where the agent called again meanwhile; the last exit code."""
    code = 0

    def judge() -> bool:
        nonlocal code
        code = _judge(call, options, How.IN_BACKGROUND)
        return code <= _SIGNALLED

    _turn(call, options).serve(judge)
    return code


def _judge(call: HookCall, options: Sequence[str], how: How) -> int:
    """Judge the session by the command itself; its exit code.

    Raises:
        SessionError: there is no such file.
    """
    from longjudge.cli.main import run

    path = session_file(call)
    _wait_until_written(path)
    if how is How.IN_BACKGROUND:
        note(f"{path}: judging, after {call.event}")
    code = run(["judge", str(path), *options])
    if how is How.IN_BACKGROUND:
        note(f"{path}: exit code {code}")
    return code


def _wait_until_written(path: Path) -> None:
    """Wait until nobody writes to a file any more, for a bounded time.

    Claude Code says of its transcript that it is written behind the session. Nothing tells when it
    has caught up, so that the time of its last change is looked at.
    """
    until = time.monotonic() + MOST_SECONDS
    while time.monotonic() < until:
        try:
            age = time.time() - path.stat().st_mtime
        except OSError as error:
            raise SessionError(f"{path}: {error.strerror}; it was there a moment ago") from error
        if not 0 <= age < QUIET_SECONDS:
            return
        time.sleep(_LOOK_SECONDS)
