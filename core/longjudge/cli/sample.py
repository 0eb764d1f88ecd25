"""`longjudge sample`: a long session to try things with, and a listing of what is wrong in it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.errors import UsageError
from longjudge.sample import MAX_EVENTS, MIN_EVENTS, make_sample
from longjudge.streams import progress_is_live, tell, write_progress
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import BinaryIO

    from longjudge.sample import Planted, Sample

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for; without a `listing` file the listing is printed."""

    events: int
    seed: int
    out: str
    listing: str | None
    force: bool
    as_json: bool


def make_file(request: Request) -> int:
    """Write the session and the listing, and return the exit code.

    Raises:
        UsageError: a number is out of range, a file exists, or the listing has nowhere to go.
    """
    _check(request)
    if request.out == STANDARD_OUTPUT:
        stream = sys.stdout.buffer
        made = make_sample(stream, request.events, request.seed, _progress(request.events))
        stream.flush()
    else:
        with _new_file(request.out, replaces=request.force) as stream:
            made = make_sample(stream, request.events, request.seed, _progress(request.events))
    if request.listing is not None:
        with _new_file(request.listing, replaces=request.force) as stream:
            stream.writelines(f"{_json(each)}\n".encode() for each in made.planted)
    elif request.out != STANDARD_OUTPUT:
        for each in made.planted:
            click.echo(_json(each) if request.as_json else _row(each))
    _say_what_is_next(request, made)
    return 0


def _check(request: Request) -> None:
    if not MIN_EVENTS <= request.events <= MAX_EVENTS:
        raise UsageError(
            f"--events {request.events} is out of range; use {MIN_EVENTS} to {MAX_EVENTS:,}"
        )
    for path in (request.out, request.listing):
        if path == "":
            raise UsageError("a file's name is empty; name one")
    if request.out == STANDARD_OUTPUT:
        if request.as_json and request.listing is None:
            raise UsageError("the session goes to standard output; name a file with --listing")
    else:
        _refuse_existing(request.out, request.force)
    if request.listing is not None:
        if request.listing == request.out or request.listing == STANDARD_OUTPUT:
            raise UsageError("the listing needs a file of its own; name another one")
        _refuse_existing(request.listing, request.force)


def _refuse_existing(path: str, force: bool) -> None:
    try:
        facts = os.lstat(path)
    except FileNotFoundError as error:
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise UsageError(f"{clean_line(folder)}: no such folder; make it first") from error
        return
    except ValueError as error:
        raise UsageError(f"{clean_line(path)}: {error}; name another file") from error
    if not stat.S_ISREG(facts.st_mode) and not stat.S_ISLNK(facts.st_mode):
        raise UsageError(f"{clean_line(path)}: is no file; name another one")
    if not force:
        raise UsageError(_exists(path))


def _exists(path: str) -> str:
    return f"{clean_line(path)}: exists; name another file, or replace it with --force"


@contextlib.contextmanager
def _new_file(path: str, *, replaces: bool) -> Generator[BinaryIO]:
    """A file that gets its name when it is whole; what was cut short is removed.

    Raises:
        UsageError: somebody else made a file with this name meanwhile.
    """
    folder, name = os.path.split(path)
    part = os.path.join(folder, f".{name[:80]}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as stream:
            yield stream
        if replaces:
            os.replace(part, path)
            return
        try:
            os.link(part, path)
        except FileExistsError as error:
            raise UsageError(_exists(path)) from error
        except OSError:
            # Not every file system knows links; there a name is looked for once more.
            _refuse_existing(path, force=False)
            os.replace(part, path)
    except OSError as error:
        if error.filename is None:
            # What fails while it writes does not know its file.
            error.filename = clean_line(path)
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _progress(events: int) -> Callable[[int], None] | None:
    if not progress_is_live():
        return None
    return lambda done: write_progress(f"\r{done:,} of {events:,} events")


def _json(planted: Planted) -> str:
    return msgspec.json.encode(planted.to_dict()).decode()


def _row(planted: Planted) -> str:
    return f"{planted.event:>9,}  {planted.kind.value:<20} {clean_line(planted.what)}"


def _say_what_is_next(request: Request, made: Sample) -> None:
    if progress_is_live():
        write_progress("\r\x1b[K")
    seen = sum(each.rules for each in made.planted)
    size = f"{made.bytes / 1e6:,.1f} MB" if made.bytes >= 1e5 else f"{made.bytes / 1e3:,.0f} kB"
    told = (
        f"longjudge: {made.events:,} events, {size}, {len(made.planted)} planted problems,"
        f" {seen} of them within reach of the offline rules"
    )
    if request.out != STANDARD_OUTPUT:
        path = shlex.quote(clean_line(str(Path(request.out))))
        told += f"; try: longjudge judge {path} --model offline"
    tell(told)
