"""Sessions that share their beginning: a resumed session is a new file that repeats the old one.

Where several files are read together, each event counts once: in the file that is read first.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from longjudge.sessions.lines import read_head

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FIRST_UUID = re.compile(rb'"uuid"\s*:\s*"([0-9A-Fa-f-]{32,40})"')
_HEAD_BYTES = 32_768


class Copies:
    """Knows which of some files begin alike, and remembers what was read of those."""

    def __init__(self, paths: Iterable[Path]) -> None:
        beginnings = {path: _first_uuid(path) for path in paths}
        shared = Counter(uuid for uuid in beginnings.values() if uuid)
        self._beginnings = {
            path: uuid for path, uuid in beginnings.items() if uuid and shared[uuid] > 1
        }
        self._read: dict[bytes, set[int]] = {}

    def read_before(self, path: Path) -> set[int] | None:
        """What was read of the files that begin like this one; None where there is no other.

        Whoever reads the file adds to it.
        """
        uuid = self._beginnings.get(path)
        return None if uuid is None else self._read.setdefault(uuid, set())


def _first_uuid(path: Path) -> bytes | None:
    if path.suffix != ".jsonl":
        return None
    match = _FIRST_UUID.search(read_head(path, _HEAD_BYTES))
    return match[1].lower() if match else None
