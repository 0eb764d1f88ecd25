"""Which program edits a file here, and how it is told the line: an argument list, never a shell."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from longjudge.errors import UsageError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VARIABLES: Final = ("VISUAL", "EDITOR")
USUAL: Final = ("nano", "vim", "nvim", "vi", "micro", "hx", "emacs", "kak")
"""What is looked for where no variable names an editor; the first that is there is used."""

_PLUS: Final = frozenset(
    {
        *("vi", "vim", "nvim", "view", "vimx", "gvim", "nano", "pico", "emacs", "emacsclient"),
        *("micro", "kak", "joe", "ne", "mcedit", "mg", "less", "gedit", "xed", "pluma"),
        *("editor", "sensible-editor", "neovim", "rvim", "elvis", "jed", "zile"),
    }
)
_COLON: Final = frozenset({"hx", "helix", "subl", "sublime_text", "zed", "zeditor", "lite-xl"})
_GOTO: Final = frozenset(
    {"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"}
)
_LINE: Final = frozenset({"idea", "pycharm", "webstorm", "goland", "clion", "rider", "rubymine"})
_WINDOWS: Final = frozenset(
    {
        *(_GOTO | _LINE),
        *("subl", "sublime_text", "zed", "zeditor", "lite-xl"),
        *("gedit", "xed", "pluma", "kate", "gvim", "gnome-text-editor", "mousepad", "open"),
        *("xdg-open", "bbedit", "mate"),
    }
)
"""Editors with a window of their own: the terminal stays ours."""

_IN_TERMINAL: Final = frozenset({"-nw", "--no-window-system", "-t", "--terminal", "--batch"})
_ELSEWHERE: Final = frozenset({"-n", "--no-wait", "-c", "--create-frame"})


@dataclass(frozen=True, slots=True)
class Editor:
    """An editor as it was named: its argument list, and its own name, safe to show.

    One that `opens_a_window` leaves the terminal alone.
    """

    argv: tuple[str, ...]
    name: str
    opens_a_window: bool = False

    def command(self, path: str, line: int | None) -> tuple[list[str], bool]:
        """The argument list that opens a file, and whether it leads to the line."""
        argv, tool = [*self.argv], _tool(self.argv[0])
        if line is None:
            return [*argv, path], False
        if tool in _PLUS:
            return [*argv, f"+{line}", path], True
        if tool in _COLON:
            return [*argv, f"{path}:{line}"], True
        if tool in _GOTO:
            return [*argv, "-g", f"{path}:{line}"], True
        if tool in _LINE:
            return [*argv, "--line", f"{line}", path], True
        if tool == "kate":
            return [*argv, "-l", f"{line}", path], True
        return [*argv, path], False


def find_editor(
    environment: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
) -> Editor:
    """The editor that VISUAL or EDITOR names, else a usual one.

    Raises:
        UsageError: there is none, or what the variable says cannot be read.
    """
    for variable in VARIABLES:
        named = environment.get(variable, "").strip()
        if named:
            return _named(variable, named, environment, which)
    for usual in USUAL:
        if (found := which(usual)) is not None:
            return Editor((found,), usual, _has_window([usual], environment))
    raise UsageError("no editor was found: set EDITOR to one, such as EDITOR=nano")


def _named(
    variable: str,
    named: str,
    environment: Mapping[str, str],
    which: Callable[[str], str | None],
) -> Editor:
    try:
        argv = shlex.split(named)
    except ValueError as error:
        raise UsageError(
            f"{variable} cannot be read ({clean_line(str(error), 60)}): {clean_line(named, 60)}"
        ) from error
    program = argv[0] if argv else ""
    # As a shell would have it.
    found = which(os.path.expanduser(program)) if program else None
    if found is None:
        name = clean_line(program or named, 60)
        raise UsageError(
            f"{variable} names {name}, which is no program here; set it to an editor that is"
        )
    name = clean_line(_tool(program), 40)
    return Editor((found, *argv[1:]), name, _has_window(argv, environment))


def _has_window(argv: list[str], environment: Mapping[str, str]) -> bool:
    """Whether an editor leaves the terminal alone; Emacs does where it may."""
    match _tool(argv[0]):
        case "emacs":
            display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
            return bool(display) and _IN_TERMINAL.isdisjoint(argv)
        case "emacsclient":
            return not _ELSEWHERE.isdisjoint(argv)
        case tool:
            return tool in _WINDOWS


def _tool(program: str) -> str:
    """What an editor goes by: several systems have a `vim.basic` or an `nvim.appimage`."""
    return Path(program).name.lower().partition(".")[0]
