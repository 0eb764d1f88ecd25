"""Zip archives of session files, as exports and uploads are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.archives import SeveralFilesError
from longjudge.sessions.compressed import refuse_bomb
from longjudge.sessions.model import Severity
from longjudge.sessions.zip_members import CutMemberError, inflate, members_of
from longjudge.text import clean_line

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking
    from longjudge.sessions.zip_members import Member

ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06")
"""How an archive begins, and one with nothing in it."""

LEFT_OUT = "other files in the archive, left out"
DAMAGED = "files in the archive that are cut or damaged, left out"
NOT_LOOKED_AT = "files of a large archive that were not looked at"

_STARTS = (
    *(b"{", b"[", b"# aider chat", b"SQLite format 3\x00"),
    *(b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"),
    *(b"\xff\xfe", b"\xfe\xff"),
)
_SUFFIXES = frozenset({".jsonl", ".ndjson", ".traj", ".eval"})
"""What is called so is a session whatever it begins with, unless it is empty."""

_BESIDE = ("__MACOSX/", ".DS_Store")
_SHOWN = 5
_MOST_LOOKED_AT = 10_000
_LOOK_BYTES = 1 << 14
_MOST_SESSIONS = 100


class Zipped:
    """A zip archive of session files, whatever stands beside them."""

    name = "zip"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether it begins as every zip archive."""
        return start.startswith(ARCHIVE)

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write out the one member that may be a session, or the one that is wanted.

        Raises:
            SeveralFilesError: there are several, and none is wanted.
            NotASessionError: there is none, or there are too many.
        """
        members, is_whole = members_of(descriptor, into.packed)
        files = [each for each in members if _is_file(each)]
        if not files:
            raise NotASessionError("a zip archive with no file in it")
        if into.member is None:
            chosen = _may_be_sessions(files, descriptor, into)
        else:
            chosen = [each for each in files if each.name == into.member][:1]
        if not chosen:
            raise NotASessionError(_without_session(files, into))
        if len(chosen) > _MOST_SESSIONS:
            raise NotASessionError(
                f"a zip archive of {len(chosen)} files that may be sessions: {_names(chosen)};"
                " unpack it and name the folder"
            )
        # The members of a hostile archive may overlap.
        refuse_bomb(into, self.name, sum(member.size or 0 for member in chosen))
        if len(chosen) > 1:
            raise SeveralFilesError("several sessions", [each.name for each in chosen], into.notes)
        (member,) = chosen
        into.inside = member.name
        if not is_whole:
            into.note("the archive is cut: its directory is missing", Severity.WARNING)
        try:
            for piece in inflate(descriptor, member):
                into.write(piece)
                refuse_bomb(into, self.name)
        except CutMemberError:
            into.note("the file in the archive is cut or damaged", Severity.WARNING)


def _is_file(member: Member) -> bool:
    return not member.name.endswith("/") and not any(each in member.name for each in _BESIDE)


def _may_be_sessions(files: list[Member], descriptor: int, into: Unpacking) -> list[Member]:
    """The members that begin as sessions do, or are called so; the others are counted."""
    chosen: list[Member] = []
    others = damaged = 0
    for member in files[:_MOST_LOOKED_AT]:
        into.tell()
        try:
            found = _may_be_session(descriptor, member)
        except CutMemberError:
            damaged += 1
            continue
        if found:
            chosen.append(member)
        else:
            others += 1
    into.note(LEFT_OUT, count=others)
    into.note(DAMAGED, Severity.WARNING, damaged)
    into.note(NOT_LOOKED_AT, Severity.WARNING, len(files) - _MOST_LOOKED_AT)
    return chosen


def _may_be_session(descriptor: int, member: Member) -> bool:
    """Whether a member begins as sessions do, or is called like one.

    Raises:
        CutMemberError: nothing of it can be read.
    """
    look = min(member.packed, _LOOK_BYTES)
    # Of a part neither size nor checksum are right, and no more than the part is inflated.
    part = member if look == member.packed else replace(member, packed=look, checksum=None)
    start = next(inflate(descriptor, part), b"")
    suffix = PurePosixPath(member.name).suffix.lower()
    if suffix in _SUFFIXES:
        return bool(start)
    return start[:1000].lstrip(b"\xef\xbb\xbf\x00 \t\r\n").startswith(_STARTS)


def _without_session(files: list[Member], into: Unpacking) -> str:
    lost = [reason for reason, severity, _ in into.notes if severity is Severity.WARNING]
    also = f" ({'; '.join(lost)})" if lost else ""
    return f"a zip archive without a session{also}; it holds: {_names(files)}"


def _names(members: list[Member]) -> str:
    names = ", ".join(clean_line(each.name, 60) for each in members[:_SHOWN])
    return names + (", …" if len(members) > _SHOWN else "")
