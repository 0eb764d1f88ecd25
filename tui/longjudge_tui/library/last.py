"""The newest result of a session, as its row shows it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from longjudge.sessions.values import is_object
from longjudge.states import JudgmentStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from longjudge.result import Result
    from longjudge.sessions import SessionFile
    from longjudge.store import PastJudgment
    from longjudge_tui.library.counting import Facts


@dataclass(frozen=True, slots=True)
class Last:
    """How the newest judgment of a session ended; `created` is in seconds since 1970.

    `size` is its chunk size in words, under which alone the same verdicts are found again.
    """

    status: str
    score: float | None
    judged: int
    chunks: int
    findings: int
    created: float
    error: str = ""
    size: str = ""

    @classmethod
    def of_result(cls, result: Result) -> Last:
        """The result of a judgment that has just ended."""
        return cls(
            result.status.value,
            result.score,
            result.judged_chunks,
            result.chunks,
            len(result.findings),
            time.time(),
            result.error or "",
            _size(result.settings),
        )

    @classmethod
    def of_past(cls, past: PastJudgment) -> Last:
        """A judgment that the store recorded."""
        result = past.result
        score, findings = result.get("score"), result.get("findings")
        return cls(
            past.status,
            float(score) if isinstance(score, int | float) else None,
            _count(result.get("judged_chunks")),
            _count(result.get("chunks")),
            len(cast("list[object]", findings)) if isinstance(findings, list) else 0,
            past.created,
            size=_size(result.get("settings")),
        )

    @property
    def applies(self) -> bool:
        """Whether the rubric applied."""
        return self.status != JudgmentStatus.NOT_APPLICABLE


def _size(settings: object) -> str:
    """The chunk size of a result's settings, short: `30k chars`."""
    if not is_object(settings):
        return ""
    for key, unit in (("chunk_tokens", "tokens"), ("chunk_chars", "chars")):
        size = settings.get(key)
        if isinstance(size, int):
            return f"{size / 1000:g}k {unit}" if size >= 1000 else f"{size} {unit}"
    return ""


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


class PastResults:
    """The newest results by real path and session id."""

    def __init__(self, past: Iterable[PastJudgment]) -> None:
        self._by_path: dict[str, dict[str, Last]] = {}
        for each in past:
            if each.real_path:
                by_id = self._by_path.setdefault(each.real_path, {})
                by_id.setdefault(each.session_id, Last.of_past(each))
        self._folders: dict[str, str] = {}

    def match(
        self, files: Sequence[SessionFile], facts: Mapping[SessionFile, Facts]
    ) -> dict[SessionFile, Last]:
        """The result of each session that has one; for a thread, as it looks at every path."""
        found: dict[SessionFile, Last] = {}
        if self._by_path:
            for file in files:
                if (last := self.of(file, facts.get(file))) is not None:
                    found[file] = last
        return found

    def of(self, file: SessionFile, facts: Facts | None) -> Last | None:
        """The newest result of a session; by its id, where that is known."""
        by_id = self._by_path.get(self._real(file.path))
        if by_id is None:
            return None
        known = file.session or (facts.id if facts is not None else "")
        if known:
            return by_id.get(known)
        return max(by_id.values(), key=lambda last: last.created)

    def _real(self, path: Path) -> str:
        """The real path; folders are looked at once."""
        try:
            if os.path.islink(path):
                return os.path.realpath(path)
            parent = os.fspath(path.parent)
            folder = self._folders.get(parent)
            if folder is None:
                folder = self._folders[parent] = os.path.realpath(parent)
            return os.path.join(folder, path.name)
        except (OSError, ValueError):
            return os.fspath(path)
