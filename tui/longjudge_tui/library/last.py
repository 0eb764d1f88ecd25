"""The newest result of a session, as its row shows it, and what it was judged by."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.history import BROKEN_OFF
from longjudge.result import count_verified
from longjudge.sessions.values import is_array, is_object
from longjudge.states import JudgmentStatus
from longjudge.store import real_path
from longjudge_tui.bench.sizes import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longjudge.history import Entry
    from longjudge.result import Result
    from longjudge.sessions import Session, SessionFile
    from longjudge.store import PastJudgment
    from longjudge_tui.bench.marking import MarkKey
    from longjudge_tui.library.counting import Facts


@dataclass(frozen=True, slots=True)
class By:
    """What a session was judged by, or would be: by this alone the same verdicts are found."""

    size: int
    unit: Unit
    model: str
    rubric: str
    version: str

    def same_size(self, other: By) -> bool:
        """Whether both cut a session at the same places."""
        return (self.size, self.unit) == (other.size, other.unit)


@dataclass(frozen=True, slots=True)
class Last:
    """How the newest judgment of a session ended; `created` is in seconds since 1970.

    `verified` counts the findings whose quote was found then. `by` is None where nobody noted it.
    `marked_by` is what marks on its findings go by, and `before` is the newest complete judgment
    where this one is not complete itself. Failures were `forced` in it, or not.
    """

    status: str
    score: float | None
    judged: int
    chunks: int
    findings: int
    created: float
    error: str = ""
    verified: int = 0
    by: By | None = None
    marked_by: tuple[MarkKey, ...] = field(default=(), compare=False, repr=False)
    before: Last | None = None
    forced: bool = False

    @classmethod
    def of_broken_off(cls, entry: Entry) -> Last:
        """A run that was ended by force: what it judged was not counted."""
        setting = entry.setting
        unit = Unit.TOKENS if setting is not None and setting.unit == "tokens" else Unit.CHARACTERS
        size = setting.size if setting is not None else 0
        by = By(size, unit, entry.model, entry.rubric, entry.version)
        return cls(entry.status, None, 0, entry.chunks, 0, entry.created, by=by)

    @classmethod
    def of_result(cls, result: Result, marked_by: Iterable[MarkKey]) -> Last:
        """The result of a judgment that has just ended."""
        name, version = result.rubric.get("name", ""), result.rubric.get("version", "")
        return cls(
            result.status.value,
            result.score,
            result.judged_chunks,
            result.chunks,
            len(result.findings),
            time.time(),
            result.error or "",
            count_verified(result.findings),
            _by(result.settings, result.model, name, version),
            tuple(marked_by),
            forced=result.fault is not None,
        )

    @classmethod
    def of_past(cls, past: PastJudgment) -> Last:
        """A judgment that the store recorded."""
        result = past.result
        score, findings = result.get("score"), _objects(result.get("findings"))
        return cls(
            past.status,
            float(score) if isinstance(score, int | float) else None,
            _count(result.get("judged_chunks")),
            _count(result.get("chunks")),
            len(findings),
            past.created,
            verified=sum(is_object(each) and each.get("verified") is True for each in findings),
            by=_by(result.get("settings"), past.model, past.rubric, past.rubric_version),
            marked_by=tuple(_mark_keys(findings, past.digests)),
            forced=isinstance(result.get("fault"), str),
        )

    @property
    def applies(self) -> bool:
        """Whether the rubric applied."""
        return self.status != JudgmentStatus.NOT_APPLICABLE

    @property
    def complete(self) -> bool:
        """Whether every chunk was judged."""
        return self.status == JudgmentStatus.COMPLETE

    @property
    def recorded(self) -> bool:
        """Whether its end is recorded; of a run that was ended by force nobody knows it."""
        return self.status != BROKEN_OFF

    @property
    def left(self) -> int:
        """How many chunks it left without a verdict: what a run that goes on with it asks."""
        return max(0, self.chunks - self.judged) if self.applies else 0

    def after(self, earlier: Last | None) -> Last:
        """The same, with the complete one among those before it."""
        if earlier is None or self.complete or not self.applies:
            return self
        whole = earlier if earlier.complete else earlier.before
        known = [each for each in (self.before, whole) if each is not None]
        return replace(self, before=max(known, key=lambda each: each.created, default=None))


def _by(settings: object, model: str, rubric: str, version: str) -> By | None:
    """What a result's settings and its row say."""
    if is_object(settings):
        for key, unit in (("chunk_tokens", Unit.TOKENS), ("chunk_chars", Unit.CHARACTERS)):
            size = settings.get(key)
            if isinstance(size, int):
                return By(size, unit, model, rubric, version)
    return None


def _objects(value: object) -> list[object]:
    return value if is_array(value) else []


def _mark_keys(findings: Sequence[object], digests: Sequence[str]) -> Iterator[MarkKey]:
    """What a mark on each finding goes by, where that was noted."""
    for finding, digest in zip(findings, digests, strict=False):
        criterion = finding.get("criterion") if is_object(finding) else None
        if digest and isinstance(criterion, str):
            try:
                yield bytes.fromhex(digest), criterion
            except ValueError:
                continue


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def newest(last: Last | None, broken_off: Sequence[Entry], session: Session | None) -> Last | None:
    """The newest judgment of a session, or the run of it that was ended by force since."""
    if session is None:
        return last
    about = real_path(session.path), session.id
    found = next((each for each in broken_off if each.session == about), None)
    if found is None or (last is not None and last.created >= found.created):
        return last
    return Last.of_broken_off(found)


class PastResults:
    """The newest results by real path and session id, with the complete ones before them."""

    def __init__(self, past: Iterable[PastJudgment], broken_off: Iterable[Entry] = ()) -> None:
        self._by_path: dict[str, dict[str, Last]] = {}
        for each in past:
            if each.real_path:
                by_id = self._by_path.setdefault(each.real_path, {})
                by_id.setdefault(each.session_id, Last.of_past(each))
        for entry in broken_off:
            by_id = self._by_path.setdefault(entry.real_path, {})
            before = by_id.get(entry.session_id)
            if before is None or before.created < entry.created:
                by_id[entry.session_id] = Last.of_broken_off(entry).after(before)
        self._folders: dict[str, str] = {}

    def unfinished(self, files: Iterable[SessionFile]) -> set[tuple[str, str]]:
        """Real path and id of each session whose newest result is not complete; for a thread."""
        paths = self._by_path.keys() & {self._real(file.path) for file in files}
        return {
            (path, session_id)
            for path in paths
            for session_id, last in self._by_path[path].items()
            if last.applies and not last.complete and last.before is None
        }

    def add_before(self, past: PastJudgment) -> bool:
        """Take a complete judgment that is older than the newest one; False for another one."""
        earlier, by_id = Last.of_past(past), self._by_path.get(past.real_path, {})
        last = by_id.get(past.session_id)
        if last is None or not earlier.complete:
            return False
        by_id[past.session_id] = last.after(earlier)
        return True

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
