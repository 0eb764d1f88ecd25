"""The lines of a file that is text and no records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = b"\xef\xbb\xbf"
_READ_BYTES = 1 << 20
_MAX_LINE = 64 << 20


def text_lines(descriptor: int) -> Iterator[str]:
    """The lines from the beginning, without their ends; bytes that are no text are replaced.

    One beyond 64 MB comes in pieces, so that no file has to fit into memory.
    """
    os.lseek(descriptor, 0, os.SEEK_SET)
    rest = b""
    first = True
    while data := os.read(descriptor, _READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield _decoded(line, first)
            first = False
        if len(rest) > _MAX_LINE:
            yield _decoded(rest, first)
            rest, first = b"", False
    if rest:
        yield _decoded(rest, first)


def _decoded(line: bytes, first: bool) -> str:
    if first:
        line = line.removeprefix(BOM)
    return line.removesuffix(b"\r").decode("utf-8", "replace")
