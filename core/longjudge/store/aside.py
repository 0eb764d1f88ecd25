"""Puts a damaged store aside and what can be read of it into a new one, which takes its place.

The new store is whole before anybody can open it, and its name is never without a file. Several
processes may meet the damage at once: one of them does it, the others wait and find the new store.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.store.backup import new_private_file, sync
from longjudge.store.damage import forget_damage, note_damage
from longjudge.store.names import beside, file_id, index_of, log_of
from longjudge.store.rescue import open_damaged, rescue
from longjudge.text import clean_line

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from longjudge.store.rescue import Rescued


class CannotPutAsideError(Exception):
    """The damaged store stays where it is; the words say why."""


def put_aside(
    path: Path, seen: tuple[int, int] | None, fault: str, give_up: Callable[[], bool]
) -> str | None:
    """Put the damaged file that was `seen` at the path aside, and say so in one line.

    None where another file stands there by now. Blocks.

    Raises:
        sqlite3.OperationalError: another process is at it, or is writing: "locked".
        CannotPutAsideError: it cannot be done here.
    """

    def go_on() -> None:
        if give_up():
            raise CannotPutAsideError("it was stopped")

    real = Path(os.path.realpath(path))
    fresh = beside(path, ".rescued.part")
    try:
        with _alone_in(real.parent):
            if file_id(path) != seen:
                return None
            aside, rescued = _exchange(real, fresh, go_on)
            forget_damage(path)
    except OSError as error:
        raise CannotPutAsideError(error.strerror or str(error)) from error
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise
        raise CannotPutAsideError(str(error)) from error
    return (
        f"{clean_line(str(path))}: the store was damaged ({clean_line(fault, 200)}) and was put"
        f" aside as {clean_line(aside.name)}; {_words(rescued)}"
    )


def _words(rescued: Rescued) -> str:
    numbers = [
        f"{count:,} {name if count == 1 else f'{name}s'}"
        for name, count in (
            ("verdict", rescued.verdicts),
            ("judgment", rescued.judgments),
            ("mark", rescued.marks),
        )
    ]
    if not (rescued.verdicts or rescued.judgments or rescued.marks):
        if rescued.rubrics:
            return f"a new store holds its rubrics ({rescued.rubrics:,}), and nothing else"
        return "nothing in it could be read, and a new store was begun"
    everything = ", which is all of it" if rescued.whole else " that could still be read"
    return f"a new store holds its {numbers[0]}, {numbers[1]} and {numbers[2]}{everything}"


def _exchange(path: Path, fresh: Path, go_on: Callable[[], None]) -> tuple[Path, Rescued]:
    begun = _aside_already(path)
    if begun is not None:
        _move_log(path, begun)
    with contextlib.ExitStack() as held:
        # Open to the end: while they are, no other process writes, and the log stays as it is.
        source = open_damaged(begun or path, held)
        new_private_file(fresh)
        made = file_id(fresh)
        try:
            # As long as it is open its number is nobody else's; closed before it is a store.
            with fresh.open("rb"):
                rescued = rescue(begun or path, source, fresh, go_on, held)
                sync(fresh)
                go_on()
                if file_id(fresh) != made:
                    # Where folders cannot be locked, and neither can the file.
                    raise sqlite3.OperationalError("locked: another process puts it aside")
            # Whoever is killed from here on leaves the note, and the next start looks and goes on.
            note_damage(path)
            aside = begun or _give_second_name(path)
            _move_log(path, aside)
            fresh.replace(path)
        except BaseException:
            if file_id(fresh) == made:
                with contextlib.suppress(OSError):
                    fresh.unlink()
            raise
    with contextlib.suppress(OSError):
        index_of(aside).unlink()
    for file in (aside, log_of(aside), _second_log_of(aside)):
        with contextlib.suppress(OSError):
            file.chmod(0o600)
    sync(path.parent)
    return aside, rescued


def _move_log(path: Path, aside: Path) -> None:
    """Never must the log of one store stand beside another.

    Its index goes first, with the locks on it: who has the old store open cannot write to it
    while it is read under its new name. One that stands there has these locks already.
    """
    with contextlib.suppress(FileNotFoundError):
        if index_of(aside).exists():
            index_of(path).unlink()
        else:
            index_of(path).replace(index_of(aside))
    log = log_of(path)
    if log.exists() and not log.stat().st_size:
        log.unlink()
    elif log.exists():
        log.replace(_second_log_of(aside) if log_of(aside).exists() else log_of(aside))


def _second_log_of(aside: Path) -> Path:
    return aside.with_name(f"{aside.name}-wal-2")


def _give_second_name(path: Path) -> Path:
    """The name that the damaged file keeps; it goes by both until the new one takes the first."""
    now = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1_000):
        aside = path.with_name(f"{path.name}.damaged-{now}{f'-{number}' if number > 1 else ''}")
        try:
            os.link(path, aside)
        except FileExistsError:
            continue
        except OSError:
            # A file system without second names.
            if aside.exists():
                continue
            path.rename(aside)
        return aside
    raise CannotPutAsideError("too many damaged stores stand beside it")


def _aside_already(path: Path) -> Path | None:
    """The second name of a store whose log is there already, where a process was killed."""
    if path.stat().st_nlink < 2:
        return None
    for other in path.parent.iterdir():
        begins = other.name.startswith(f"{path.name}.damaged-")
        its_log = other.name.endswith(("-wal", "-wal-2", "-shm"))
        if begins and not its_log and file_id(other) == file_id(path):
            return other
    return None


@contextlib.contextmanager
def _alone_in(folder: Path) -> Generator[None]:
    """Keep other processes from doing the same in a folder.

    Raises:
        sqlite3.OperationalError: one of them is at it.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise sqlite3.OperationalError("locked: another process puts it aside") from error
        except OSError:
            # A file system without such locks; the file's identity is checked all the same.
            pass
        yield
    finally:
        os.close(handle)
