"""Large documents are split by a process of its own, so that this one neither waits nor grows.

The process maps the file, lets the fast decoder find every element, and sends back where each of
them begins and ends. It limits its own memory and time; whoever started it may end it any time.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import subprocess
import sys
from array import array
from threading import Thread
from typing import TYPE_CHECKING, cast

from longjudge.sessions.layout import Document
from longjudge.sessions.scanning import Scanner
from longjudge.sessions.splitting import split_sound
from longjudge.sessions.walking import walk_document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_PIECE_BYTES = 1 << 18
_POLL_MS = 50
_MEMORY_BESIDE = 2 << 30
_SECONDS = 300
_BYTES_A_SECOND = 1 << 20


def split_apart(
    descriptor: int, size: int, start: int, lists: Collection[str], tell: Callable[[], object]
) -> Document | None:
    """Have the document that begins at `start` split; None where no process could do it.

    `tell` is called about every 50 ms and may raise, which ends the process.
    """
    if not sys.executable:
        return None
    words = [str(size), str(start), json.dumps(sorted(lists))]
    try:
        process = subprocess.Popen(
            # Without -P, a module that lies in the folder would be taken for one of ours.
            [sys.executable, "-P", "-m", "longjudge.sessions.apart", *words],
            stdin=descriptor,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        assert process.stdout is not None
        document = _received(_Pipe(process.stdout.fileno(), tell))
        return document if process.wait() == 0 else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


class _Pipe:
    """Reads what the process sends, and goes on telling while it sends nothing."""

    def __init__(self, descriptor: int, tell: Callable[[], object]) -> None:
        self._descriptor = descriptor
        self._tell = tell
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._held = bytearray()

    def line(self) -> bytes:
        """Up to the next newline, and without it."""
        searched = 0
        while (found := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            self._more()
        return self.exactly(found + 1)[:-1]

    def exactly(self, count: int) -> bytes:
        """So many bytes."""
        while len(self._held) < count:
            self._more()
        data = bytes(self._held[:count])
        del self._held[:count]
        return data

    def _more(self) -> None:
        while not self._poll.poll(_POLL_MS):
            self._tell()
        data = os.read(self._descriptor, _PIECE_BYTES)
        if not data:
            raise EOFError
        self._held += data
        self._tell()


def _received(pipe: _Pipe) -> Document | None:
    head = cast("dict[str, object]", json.loads(pipe.line()))
    if not head:
        # Nothing in it is whole, and nobody has to look again.
        return Document()
    count = cast("int", head["count"])
    starts, ends = _numbers(pipe, count), _numbers(pipe, count)
    entries = cast("dict[str, list[int]]", head["entries"])
    runs = cast("list[tuple[str, int]]", head["runs"])
    return Document(
        starts,
        ends,
        cast("dict[str, object]", head["around"]),
        {name: (begin, end) for name, (begin, end) in entries.items()},
        cast("str | None", head["wrapper"]),
        cast("str | None", head["fault"]),
        [(name, number) for name, number in runs],
    )


def _numbers(pipe: _Pipe, count: int) -> array[int]:
    numbers: array[int] = array("Q")
    left = count * numbers.itemsize
    while left:
        piece = pipe.exactly(min(left, _PIECE_BYTES))
        numbers.frombytes(piece)
        left -= len(piece)
    return numbers


def main(words: list[str]) -> int:
    """Split the document on the standard input, and write where its elements are."""
    size, start = int(words[0]), int(words[1])
    lists = cast("list[str]", json.loads(words[2]))
    _limit(size)
    Thread(target=_end_with_reader, daemon=True).start()
    # Never closed: what the decoder found may still point into it.
    document = split_sound(mmap.mmap(0, size, access=mmap.ACCESS_READ), start, lists)
    if document is None:
        document = walk_document(Scanner(0, size, _nothing), start, lists)
    with open(1, "wb", closefd=False) as out:
        if document is None:
            out.write(b"{}\n")
            return 0
        head = {
            "count": len(document.starts),
            "around": document.around,
            "entries": document.entries,
            "wrapper": document.wrapper,
            "fault": document.fault,
            "runs": document.runs,
        }
        out.write(json.dumps(head).encode() + b"\n")
        document.starts.tofile(out)
        document.ends.tofile(out)
    return 0


def _end_with_reader() -> None:
    """End this process as soon as nobody is left who could read what it finds."""
    poll = select.poll()
    poll.register(1, 0)
    poll.poll()
    os._exit(1)


def _nothing() -> None:
    """Nobody listens."""


def _limit(size: int) -> None:
    """Let neither a hostile document nor a lost parent make this process a burden."""
    try:
        import resource
    except ImportError:
        return
    for limit, most in (
        (resource.RLIMIT_AS, 2 * size + _MEMORY_BESIDE),
        (resource.RLIMIT_CPU, _SECONDS + size // _BYTES_A_SECOND),
    ):
        _, hard = resource.getrlimit(limit)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(limit, (most, hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
