"""Gets text out of the program: to this computer's clipboard, to the terminal's, or to a file.

Which of these happened is said in words, and "copied" only where something confirmed it: a
terminal takes what it is sent (OSC 52) or ignores it, and never answers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import signal
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from longjudge.paths import APP_NAME
from longjudge.text import clean_line, without_surrogates
from longjudge_tui.local_clipboard import NO_TOOL
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from textual.app import App

LOCAL_SECONDS = 2.0
"""How long the local clipboard's tool may take; its interpreter's start is in it."""

KILLED_SECONDS = 1.0
"""How long the end of a process that was killed is awaited."""

MAX_ENCODED = 75_000
"""Terminals drop longer OSC 52 sequences, some of them without a word."""

ONLY_YOURS: Final = "only you can read it: chmod to share"
"""What is saved is as private as a session is."""

MAX_NAMES = 1_000
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")

TMUX_HINT = "tmux needs `set-clipboard on` or `allow-passthrough on`"


class Local(Enum):
    """What became of the local clipboard."""

    TAKEN = "taken"
    NONE = "none"
    FAILED = "its tool failed"
    HUNG = "its tool did not answer"


class Clipboard:
    """Copies; what has to be said only once is said once."""

    def __init__(self) -> None:
        self._hinted = False

    async def copy(self, app: App[object], text: str, otherwise: str = "") -> str:
        """Copy a text to wherever it can go, and say where that was.

        Where nobody knows whether it was taken, `otherwise` says what else can be done.
        """
        text = without_surrogates(text)
        local = await copy_locally(text) if has_local_display() else Local.NONE
        sent = _send_to_terminal(app, text)
        chars = plural(len(text), "character")
        if local is Local.TAKEN:
            return f"copied {chars} to the clipboard"
        why = "" if local is Local.NONE else f"; this computer's clipboard: {local.value}"
        if sent:
            other = f"; {otherwise}" if otherwise else ""
            return f"sent {chars} to the terminal (OSC 52), unconfirmed{self._hint()}{other}{why}"
        try:
            path = await asyncio.to_thread(_keep_privately, text)
        except OSError as error:
            return f"not copied, and no file could be written ({error.strerror}){why}"
        return f"too long for the terminal's clipboard: {chars} are in {path}{why}"

    def _hint(self) -> str:
        if self._hinted or not os.environ.get("TMUX"):
            return ""
        self._hinted = True
        return f"; {TMUX_HINT}"


def has_local_display() -> bool:
    """Whether a clipboard of this computer is one that the user sees."""
    there = os.environ
    if there.get("SSH_TTY") or there.get("SSH_CONNECTION"):
        return False
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
    return sys.platform == "darwin" or any(there.get(name) for name in displays)


async def copy_locally(text: str) -> Local:
    """Let pyperclip copy, in a process of its own that is ended when it takes too long."""
    nothing = asyncio.subprocess.DEVNULL
    try:
        # `-P`: what lies in the working folder is not imported.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "longjudge_tui.local_clipboard"),
            stdin=asyncio.subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )
    except OSError:
        return Local.FAILED
    try:
        async with asyncio.timeout(LOCAL_SECONDS):
            await process.communicate(text.encode("utf-8"))
    except TimeoutError:
        return Local.HUNG
    finally:
        if process.returncode is None:
            # A tool that it started hangs with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KILLED_SECONDS):
                    await process.wait()
    if process.returncode == NO_TOOL:
        return Local.NONE
    return Local.FAILED if process.returncode else Local.TAKEN


def _send_to_terminal(app: App[object], text: str) -> bool:
    """Send a text as OSC 52; False where it is too long for that, or there is no terminal."""
    encoded = base64.b64encode(text.encode("utf-8")).decode("ascii")
    if len(encoded) > MAX_ENCODED or app.is_web:
        return False
    app.copy_to_clipboard(text)
    driver = app._driver  # pyright: ignore[reportPrivateUsage]
    if os.environ.get("TMUX") and driver is not None:
        # tmux takes the plain sequence with one option, and hands this one through with another.
        driver.write(f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\")
    return True


def _keep_privately(text: str) -> Path:
    return _keep_in(Path(platformdirs.user_state_path(APP_NAME)), "copied", ".txt", text)


def _keep_in(folder: Path, name: str, suffix: str, text: str) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return write_new(folder, name, suffix, text)


def save(text: str, name: str, suffix: str = ".md") -> Path:
    """Write a text to a new file in the first folder that takes it, and return its full path.

    Raises:
        OSError: no folder takes it; the error is that of the first one.
    """
    shown = without_surrogates(text)
    documents = Path(platformdirs.user_documents_path())
    try:
        return write_new(Path.cwd(), name, suffix, shown)
    except OSError as error:
        with contextlib.suppress(OSError):
            return write_new(documents, name, suffix, shown)
        with contextlib.suppress(OSError):
            return _keep_in(Path(platformdirs.user_data_path(APP_NAME)), name, suffix, shown)
        raise error


def write_new(folder: Path, name: str, suffix: str, text: str) -> Path:
    """Write a text to a file of its own, for the user alone, under a name not used yet.

    Raises:
        OSError: the folder takes no file.
    """
    base = safe_name(name)
    for number in range(1, MAX_NAMES):
        path = folder / f"{base}{f'-{number}' if number > 1 else ''}{suffix}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue
        try:
            with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError:
            # Half of a proof would be taken for one.
            path.unlink(missing_ok=True)
            raise
        return path.resolve()
    raise FileExistsError(None, f"{MAX_NAMES} files of that name are there already", str(folder))


def safe_name(name: str) -> str:
    """A file name of harmless characters, whatever the name was made of."""
    return _NOT_IN_NAMES.sub("-", name).strip("-.")[:100].rstrip("-.") or "longjudge"


def shown_path(path: Path) -> str:
    """A path in full, safe to show."""
    return clean_line(str(path), 1_000)


def where_saved(words: str) -> tuple[str, ...]:
    """Words that end with where something was saved, and who can read that, as there is room."""
    brief = ONLY_YOURS.partition(":")[0]
    return f"{words} · {ONLY_YOURS}", f"{words} · {brief}", words
