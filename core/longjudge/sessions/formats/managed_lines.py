"""Lines that are a pair, `["client.beta.sessions.events.stream", {…}]`, as records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.managed_agents import METHOD
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.values import is_array, is_object, word

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

_START = b'["client.'
_decode = msgspec.json.Decoder(list[object]).decode


class ManagedLines:
    """Unpacks what a client of the interface logged: the method, and what it gave or got."""

    name = "claude-managed-agents"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether the first line is a pair with a client's method."""
        return start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_START) and b".sessions." in start

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write one record for each line."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    pair = _decode(line)
                except DECODE_ERRORS:
                    # Kept as it is, so that it is counted as every damaged record is.
                    into.add(line.strip(), number, ended=line.endswith(b"\n"))
                    continue
                if len(pair) > 1:
                    into.add(_record(pair[0], pair[1]), number)


def _record(method: object, value: object) -> dict[str, object]:
    """What is sent stands behind the session's id."""
    if is_array(value):
        value = next(filter(is_object, value), None)
    return {METHOD: word(method), "body": value if is_object(value) else {}}
