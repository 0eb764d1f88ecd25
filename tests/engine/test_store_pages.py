"""Pages of a damaged store that are read by themselves: whatever stands on them, it ends soon."""

from __future__ import annotations

import io
import random
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longjudge.store.pages import Pages, records
from stores_for_tests import PAGE, full_store

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 20


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store in order, with rows that overflow into further pages."""
    path: Path = tmp_path_factory.mktemp("pages") / "s.sqlite"
    full_store(path, COUNT)
    return path.read_bytes()


@given(
    seed=st.integers(0, 2**32), changes=st.integers(0, 600), cut=st.booleans(), log=st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_nothing_that_stands_in_a_file_or_its_log_is_an_error(
    sound: bytes, seed: int, changes: int, cut: bool, log: bool
) -> None:
    chance = random.Random(seed)
    data = bytearray(sound)
    for _ in range(changes):
        data[chance.randrange(len(data))] = chance.choice((0, 2, 10, 255, chance.randrange(256)))
    if cut:
        del data[chance.randrange(len(data)) :]
    written = (
        io.BytesIO(chance.randbytes(32 + 3 * (24 + PAGE)) + bytes(data[:PAGE])) if log else None
    )
    found = [record for record in records(Pages(io.BytesIO(data), written)) if len(record) == 20]
    assert len(found) <= 8 * COUNT
    if not (changes or cut or log):
        assert len(found) == COUNT


class Counting(io.BytesIO):
    """Counts how often it is read."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)


def test_rows_that_all_lead_into_the_same_pages_are_not_followed_for_ever() -> None:
    leaves = chain = 60
    size = chain * (PAGE - 4)
    most, least = (PAGE - 12) * 64 // 255 - 23, (PAGE - 12) * 32 // 255 - 23
    here = least + (size - least) % (PAGE - 4)
    leaf = bytearray(PAGE)
    leaf[0] = 0x0A
    struct.pack_into(">H", leaf, 3, 500)
    struct.pack_into(">500H", leaf, 8, *[2_000] * 500)
    leaf[2_000:2_003] = bytes([size >> 14 & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size & 0x7F])
    struct.pack_into(">I", leaf, 2_003 + (here if here <= most else least), leaves + 1)
    pages = bytes(leaf) * leaves + b"".join(
        struct.pack(">I", leaves + 2 + number) + b"\x01" * (PAGE - 4) for number in range(chain)
    )
    file = Counting(pages)
    assert list(records(Pages(file))) == []
    assert chain < file.reads < 20 * (leaves + chain)
