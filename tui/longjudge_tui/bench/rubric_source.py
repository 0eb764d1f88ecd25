"""Where the text of a rubric is from, and how an edited one gets into a file.

What is edited holds no character that acts on a terminal: a file that does is shown as longjudge
would write it, with escapes in their place, and is itself left as it is. Everything here blocks
and runs in a thread.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from longjudge.errors import RubricError
from longjudge.rubric import check_rubric_text, known_rubrics
from longjudge.rubric_toml import rubric_toml
from longjudge.text import clean, clean_line
from longjudge.toml_lines import MAX_TOML_BYTES, TomlError, read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.rubric import Rubric

BUILT_IN = "built in"
_TYPED = "typed here"
_LONE_RETURN = re.compile("\r(?!\n)")


@dataclass(frozen=True, slots=True)
class RubricSource:
    """A rubric's text as it stands where it is from.

    `path` is the file that it may be saved to, `stood` what was in it: None for what has no file of
    its own, such as a built-in one. `notice` says why the text is not the file's own.
    """

    name: str
    origin: str
    text: str
    path: Path | None = None
    stood: str = ""
    notice: str = ""

    @property
    def key(self) -> str:
        """What drafts of it are found by: one for each name and place."""
        return sha256(f"{self.name}\0{self.origin}".encode("utf-8", "replace")).hexdigest()[:24]

    @property
    def origin_words(self) -> str:
        """Where it is from, for people."""
        return self.origin if self.path is None else clean_line(self.path.name, 60)


def source_of(rubric: Rubric, chosen_by: str, folders: Sequence[Path] = ()) -> RubricSource:
    """Find the text of a rubric that was chosen by a name, or by the path of its file."""
    known = [each for each in known_rubrics(folders).rubrics if each.rubric == rubric]
    by_path = [each.path for each in known if each.path is not None]
    path = by_path[0] if by_path else None
    # A file that is another one's copy is that file still.
    if all(each.rubric.name != chosen_by for each in known) and os.path.isfile(chosen_by):
        path = Path(chosen_by)
    if path is None and known:
        return RubricSource(rubric.name, BUILT_IN, rubric_toml(rubric))
    if path is None:
        return RubricSource(rubric.name, _TYPED, rubric_toml(rubric))
    return _of_file(rubric, Path(os.path.realpath(path)))


def _of_file(rubric: Rubric, path: Path) -> RubricSource:
    shown = clean_line(path.name, 60)
    try:
        stood = read_toml(path)
    except (TomlError, OSError, ValueError) as error:
        fault = error.strerror if isinstance(error, OSError) else error
        notice = f"{shown} cannot be read ({fault}): this is what was read of it before"
        return RubricSource(rubric.name, os.fspath(path), rubric_toml(rubric), notice=notice)
    text = editable(stood)
    if found := first_unsafe(text):
        line, code = found
        notice = (
            f"{shown}:{line} holds {code}, which acts on a terminal: shown with escapes and without"
            " comments, and to be saved as another file"
        )
        read, _ = check_rubric_text(stood, shown)
        written = rubric_toml(read or rubric)
        return RubricSource(rubric.name, os.fspath(path), written, notice=notice)
    now, _ = check_rubric_text(text, shown)
    notice = "" if now == rubric else f"{shown} has changed since it was chosen: as it is now"
    return RubricSource(rubric.name, os.fspath(path), text, path, stood, notice)


def editable(text: str) -> str:
    """A text with the line ends of an editor."""
    return text.replace("\r\n", "\n")


def first_unsafe(text: str) -> tuple[int, str] | None:
    """The line, from 1, and the code of the first character that no editor here may hold."""
    for place, (was, shown) in enumerate(zip(text, clean(text), strict=True)):
        if was != shown:
            return text.count("\n", 0, place) + 1, f"U+{ord(was):04X}"
    return None


def save_text(path: Path, text: str, stood: str | None) -> str:
    """Put a text into a file, whole or not at all, and return what the file holds then.

    `stood` is what the file held when it was opened; None for a file that must not be there yet.

    Raises:
        RubricError: it has changed meanwhile, is there already, or cannot be written.
    """
    name = clean_line(os.fspath(path))
    if stood is not None and "\r\n" in stood and not _LONE_RETURN.search(stood):
        text = text.replace("\n", "\r\n")
    if len(text.encode()) > MAX_TOML_BYTES:
        raise RubricError(f"{name}: larger than {MAX_TOML_BYTES} bytes; shorten it")
    try:
        if stood is not None and read_toml(path) != stood:
            raise RubricError(
                f"{name}: has changed on disk since it was opened; save as another file, or open"
                " the editor anew"
            )
        _write(path, text, anew=stood is None)
    except FileExistsError as error:
        raise RubricError(f"{name}: is there already; choose another name") from error
    except (TomlError, OSError, ValueError) as error:
        fault = error.strerror if isinstance(error, OSError) else error
        raise RubricError(f"{name}: {fault}; nothing was saved, save as another file") from error
    return text


def _write(path: Path, text: str, *, anew: bool) -> None:
    target = path if anew else Path(os.path.realpath(path))
    temporary = os.fspath(target.parent / f".{uuid4().hex[:12]}.part")
    mode = 0o666 if anew else stat.S_IMODE(target.stat().st_mode)
    # A new file is as private as the user has files made.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if anew:
            _name_anew(temporary, target)
        else:
            os.chmod(temporary, mode)
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _name_anew(temporary: str, target: Path) -> None:
    """Give a file its name where nobody has it; unlike a rename, a link takes no file away."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        if target.exists():
            raise FileExistsError from None
        os.replace(temporary, target)
    else:
        os.unlink(temporary)
