"""Members of zip archives: whole, cut, of every packing, and bombs."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
import zstandard

from longjudge.errors import NotASessionError
from longjudge.sessions import zip_members
from longjudge.sessions.zip_members import (
    DEFLATED,
    ZSTANDARD,
    CutMemberError,
    Member,
    inflate,
    members_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")

TEXT = b'{"a": 1}' * 1000


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path / "a.zip", os.O_RDWR | os.O_CREAT)
    yield opened
    os.close(opened)


def archive(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        made.writestr("one.json", TEXT)
        made.writestr("two.json", b"2")
        made.writestr("one.json", TEXT + b"later")
    return file.getvalue()


def directory(data: bytes) -> int:
    return data.index(b"PK\x01\x02")


def header(name: bytes, data: bytes, method: int, flags: int = 0, size: int = 0) -> bytes:
    sizes = (0, 0, 0) if flags & 8 else (0, len(data), size)
    fields = struct.pack(
        "<4sHHHHHLLLHH", b"PK\x03\x04", 20, flags, method, 0, 0, *sizes, len(name), 0
    )
    return fields + name + data


def texts(descriptor: int, data: bytes) -> tuple[dict[str, bytes], bool]:
    os.pwrite(descriptor, data, 0)
    os.ftruncate(descriptor, len(data))
    members, whole = members_of(descriptor, len(data))
    return {each.name: b"".join(inflate(descriptor, each)) for each in members}, whole


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_last_member_of_a_name_counts(descriptor: int, method: int) -> None:
    found, whole = texts(descriptor, archive(method))
    assert (found, whole) == ({"one.json": TEXT + b"later", "two.json": b"2"}, True)


def test_without_a_directory_members_are_found_by_their_headers(descriptor: int) -> None:
    data = archive()
    found, whole = texts(descriptor, data[: directory(data)])
    assert (found, whole) == ({"one.json": TEXT + b"later", "two.json": b"2"}, False)


def test_several_zstandard_frames_are_one_member(descriptor: int) -> None:
    frames = zstandard.compress(TEXT) + zstandard.compress(b"more")
    data = header(b"a.json", frames, ZSTANDARD, size=len(TEXT) + 4)
    os.pwrite(descriptor, data, 0)
    (member,), _ = members_of(descriptor, len(data))
    with pytest.raises(CutMemberError):
        # Its checksum is none.
        list(inflate(descriptor, member))
    told = Member("a", member.start, member.packed, ZSTANDARD)
    assert b"".join(inflate(descriptor, told)) == TEXT + b"more"


def test_members_that_tell_their_size_behind_them_are_found(descriptor: int) -> None:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(TEXT) + packer.flush()
    behind = struct.pack("<4sLLL", b"PK\x07\x08", zlib.crc32(TEXT), len(packed), len(TEXT))
    data = header(b"a.json", packed, DEFLATED, flags=8) + behind
    data += header(b"b.json", zstandard.compress(b"b"), ZSTANDARD, flags=8)
    assert texts(descriptor, data)[0] == {"a.json": TEXT, "b.json": b"b"}


def test_rubbish_between_members_is_passed_over(descriptor: int) -> None:
    data = archive()
    second = data.index(b"PK\x03\x04", 10)
    torn = data[:second] + b"rubbish PK\x03\x04 rubbish" * 100 + data[second : directory(data)]
    assert texts(descriptor, torn)[0]["two.json"] == b"2"


def test_a_cut_member_is_told_from_a_whole_one(descriptor: int) -> None:
    data = archive()
    cut = data[: data.index(b"PK\x03\x04", 10) - 5]
    os.pwrite(descriptor, cut, 0)
    (member,), whole = members_of(descriptor, len(cut))
    assert not whole
    with pytest.raises(CutMemberError):
        list(inflate(descriptor, member))


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_a_bomb_is_refused_before_it_grows(
    descriptor: int, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_members, "_BOMB_BYTES", 1 << 20)
    size = 4 << 20
    if method == DEFLATED:
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(bytes(size)) + packer.flush()
    else:
        packed = zstandard.compress(bytes(size))
    os.pwrite(descriptor, packed, 0)
    for known in (size, None):
        member = Member("bomb.json", 0, len(packed), method, known)
        with pytest.raises(NotASessionError, match=r"decompression bomb: bomb\.json grows"):
            for _ in inflate(descriptor, member):
                pass


@pytest.mark.parametrize(("method", "encrypted"), [(12, False), (DEFLATED, True)])
def test_what_cannot_be_unpacked_is_refused(descriptor: int, method: int, encrypted: bool) -> None:
    member = Member("a", 0, 0, method, encrypted=encrypted)
    with pytest.raises(NotASessionError, match="unpack it first"):
        list(inflate(descriptor, member))
