"""Zip archives of session files, as exports and uploads are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.archives import SeveralFilesError
from longjudge.sessions.model import Severity
from longjudge.sessions.zip_members import CutMemberError, inflate, members_of
from longjudge.text import clean_line

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking
    from longjudge.sessions.zip_members import Member

_STARTS = (b"{", b"[", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"# aider chat", b"SQLite format 3\x00")
_BESIDE = ("__MACOSX/", ".DS_Store")
_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_SHOWN = 5
_MOST_LOOKED_AT = 1000
_MOST_SESSIONS = 100


class Zipped:
    """A zip archive of session files, whatever stands beside them."""

    name = "zip"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether it begins as every zip archive."""
        return start.startswith(_MARKS)

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
            chosen = [each for each in files[:_MOST_LOOKED_AT] if _may_be_session(descriptor, each)]
        else:
            chosen = [each for each in files if each.name == into.member][:1]
        if not chosen:
            raise NotASessionError(f"a zip archive without a session; it holds: {_names(files)}")
        if len(chosen) > _MOST_SESSIONS:
            raise NotASessionError(
                f"a zip archive of {len(chosen)} files that may be sessions: {_names(chosen)};"
                " unpack it and name the folder"
            )
        if len(chosen) > 1:
            raise SeveralFilesError("several sessions", [each.name for each in chosen])
        (member,) = chosen
        if not is_whole:
            into.note("the archive is cut: its directory is missing", Severity.WARNING)
        try:
            for piece in inflate(descriptor, member):
                into.write(piece)
        except CutMemberError:
            into.note("the file in the archive is cut or damaged", Severity.WARNING)
        if len(files) > 1 and into.member is None:
            into.note("other files in the archive, left out")


def _is_file(member: Member) -> bool:
    return not member.name.endswith("/") and not any(each in member.name for each in _BESIDE)


def _may_be_session(descriptor: int, member: Member) -> bool:
    """Whether a member begins as sessions do."""
    try:
        start = next(inflate(descriptor, member), b"")
    except CutMemberError:
        return False
    return start[:1000].lstrip(b"\xef\xbb\xbf\x00 \t\r\n").startswith(_STARTS)


def _names(members: list[Member]) -> str:
    names = ", ".join(clean_line(each.name, 60) for each in members[:_SHOWN])
    return names + (", …" if len(members) > _SHOWN else "")
