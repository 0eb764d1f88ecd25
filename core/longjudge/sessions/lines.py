r"""The newline index: where each line of a file ends, and the lines again in blocks.

Only `\\n` ends a line. Neither step holds the interpreter for long: each slice is a few MB, unless
a line is longer, and between two slices a caller may report progress or stop.
"""

from __future__ import annotations

import io
import os
import stat
from array import array
from bisect import bisect_right
from itertools import accumulate, islice
from typing import TYPE_CHECKING, BinaryIO

from longjudge.errors import NotASessionError, SessionError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK_BYTES = 1 << 18
"""About how much of a file is read and decoded at a time."""

CHANGED = "was changed while it was read; read it again"

MOST_RECORD_BYTES = 256 << 20
"""A record that is longer is not read: decoded it takes several times its size in memory."""

OVERSIZED = b"\0a record that is too long to be read"
"""What stands for such a record."""

_SLICE_BYTES = 1 << 20
_SMALL_FILE = 1 << 31
"""Up to here a line ends at a number of four bytes, even where the file grows meanwhile."""


def read_line_ends(file: BinaryIO, size: int, ends: array[int]) -> Iterator[int]:
    """Append the end of every line (after its newline) to `ends`; yield the bytes seen so far.

    `size` is taken once, before: what a live file grows by while it is read is left out, and a
    last line without newline ends at `size`.
    """
    position = 0
    while position < size and (data := file.read(min(_SLICE_BYTES, size - position))):
        ends.extend(islice(accumulate(map(len, io.BytesIO(data)), initial=position), 1, None))
        if not data.endswith(b"\n"):
            # It goes on in the next slice.
            ends.pop()
        position += len(data)
        yield position
    if (ends[-1] if ends else 0) < position:
        ends.append(position)


def index_lines(descriptor: int, size: int, tell: Callable[[], object]) -> array[int]:
    """The end of every line of an open file; `tell` is called between slices and may raise."""
    ends: array[int] = array("I" if size < _SMALL_FILE else "Q")
    with open(descriptor, "rb", buffering=BLOCK_BYTES, closefd=False) as file:
        # Whoever wrote an unpacked file left its position at the end.
        file.seek(0)
        for _ in read_line_ends(file, size, ends):
            tell()
    return ends


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file, none where it cannot be read; a pipe is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, size)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def read_range(descriptor: int, start: int, end: int) -> bytes:
    """Read bytes `start` to `end` of a file; fewer when the file has become shorter."""
    data = os.pread(descriptor, end - start, start)
    if len(data) == end - start:
        return data
    parts = [data]
    start += len(data)
    while start < end and (data := os.pread(descriptor, end - start, start)):
        parts.append(data)
        start += len(data)
    return b"".join(parts)


def read_record(descriptor: int, start: int, end: int) -> bytes:
    """Read one record; of one that is too long only what stands for it."""
    return read_range(descriptor, start, end) if end - start <= MOST_RECORD_BYTES else OVERSIZED


def refuse_oversized(size: int) -> None:
    """Refuse what is one record, if it is too long.

    Raises:
        NotASessionError: it is; without the file's name.
    """
    if size > MOST_RECORD_BYTES:
        raise NotASessionError(
            f"one JSON record of {size / 1e6:.0f} MB, records of up to"
            f" {MOST_RECORD_BYTES / 1e6:.0f} MB are read; export its events one on a line"
        )


def refuse_shortened(descriptor: int, size: int) -> None:
    """Make sure that all of a file was there to be read.

    Raises:
        SessionError: it has become shorter.
    """
    if os.fstat(descriptor).st_size < size:
        raise SessionError(CHANGED)


def count_new_lines(path: Path, start: int, end: int) -> int:
    """How many lines end between two places of a file of records.

    None in a file that is packed or something else, or that cannot be read.
    """
    count = 0
    try:
        with path.open("rb", buffering=0) as file:
            if file.read(4).removeprefix(b"\xef\xbb\xbf")[:1] != b"{":
                return 0
            file.seek(start)
            while start < end and (data := file.read(min(_SLICE_BYTES, end - start))):
                count += data.count(b"\n")
                start += len(data)
    except OSError:
        return count
    return count


def open_regular(path: Path) -> tuple[int, int]:
    """Open a regular file, and return its descriptor and size; anything else could block.

    Raises:
        NotASessionError: it is a folder, pipe, socket or device.
        SessionError: the name is none.
        OSError: it cannot be opened.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise SessionError(f"{clean_line(str(path))}: this is no file name: {error}") from error
    if stat.S_ISDIR(mode):
        raise NotASessionError("this is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise NotASessionError("this is a pipe, socket or device, not a file; save it first")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    return descriptor, os.fstat(descriptor).st_size


def unfinished_line(descriptor: int, size: int, ends: array[int]) -> int | None:
    """The number of a last line that no newline ends."""
    last = read_range(descriptor, size - 1, size)
    return None if last == b"\n" else len(ends) - 1


def read_line_blocks(descriptor: int, ends: array[int]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (number of the first line, lines without their newline), block by block."""
    line, start = 0, 0
    while line < len(ends):
        stop = max(line + 1, bisect_right(ends, start + BLOCK_BYTES, line))
        end = ends[stop - 1]
        if stop == line + 1:
            # It may be very long: only one copy of it is held while it is read.
            yield line, [read_record(descriptor, start, end).removesuffix(b"\n")]
            line, start = stop, end
            continue
        data = read_range(descriptor, start, end)
        if len(set(ends[line:stop])) == stop - line and ends[line] > start:
            yield line, data.split(b"\n")[: stop - line]
        else:
            yield line, _joined_lines(data, start, ends[line:stop])
        line, start = stop, end


def _joined_lines(data: bytes, start: int, ends: array[int]) -> list[bytes]:
    """Lines of which some were put together; those behind the first of them are empty."""
    lines: list[bytes] = []
    position = 0
    for end in ends:
        lines.append(data[position : end - start].removesuffix(b"\n"))
        position = end - start
    return lines


def read_span_blocks(
    descriptor: int, starts: array[int], ends: array[int]
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (number of the first span, bytes of the spans), block by block.

    Spans may stand in any order; what stands between them is left out.
    """
    first, count = 0, len(starts)
    while first < count:
        begin = starts[first]
        if ends[first] - begin > BLOCK_BYTES:
            yield first, [read_record(descriptor, begin, ends[first])]
            first += 1
            continue
        limit = begin + BLOCK_BYTES
        stop = first + 1
        while stop < count and ends[stop - 1] <= starts[stop] and ends[stop] <= limit:
            stop += 1
        data = read_range(descriptor, begin, ends[stop - 1])
        spans = zip(starts[first:stop], ends[first:stop], strict=True)
        yield first, [data[start - begin : end - begin] for start, end in spans]
        first = stop
