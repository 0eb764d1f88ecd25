"""Judgments as one JUnit document, for what shows test reports in CI.

A judgment is a suite, and each of its parts a test. A flagged part has failed, with its findings
as the text. A gap is an error whatever its reason, `skipped` included, since tests that are marked
as skipped pass for harmless: a partial result must not look like a whole one. Only a session that
the rubric does not apply to is skipped, as one test. Whatever else is missing is an error too.

There is no standard. What stands here is what these read:

- The xUnit plugin of Jenkins refuses every attribute that its schema does not name, `skipped` of
  the whole document and `file` of a test among them.
  https://github.com/jenkinsci/xunit-plugin (junit-10.xsd)
- GitLab shows a test's class name, its name, and the text of what is wrong, not its message. Of
  tests with equal names it takes one. https://docs.gitlab.com/ci/testing/unit_test_reports
- Actions of GitHub show suites by name, and tests below their class name where that is another
  one. They take one failure a test. https://github.com/dorny/test-reporter
- Jenkins takes what stands before the last dot of a class name for a package.
  https://github.com/jenkinsci/junit-plugin
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.losses import how_much
from longjudge.report.gaps import PROBLEM_CHARS
from longjudge.report.words import judge_name, plural
from longjudge.result import correction_words
from longjudge.states import ChunkState, JudgmentStatus
from longjudge.text import clean, clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longjudge.report.gaps import ToldGap
    from longjudge.report.outcome import FoundProblem, Outcome
    from longjudge.store import PastJudgment

_PATH_CHARS: Final = 1_000
_NO_VERDICT: Final = "no verdict"

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write, not even escaped."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Tests of a suite, or of all; `seconds` is how long the judgments took."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.tests + other.tests,
            self.failures + other.failures,
            self.errors + other.errors,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
        )


class JUnitDocument:
    """Makes the document suite by suite; `head` has the counts, and so is made last."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._names: set[str] = set()

    def suite(self, judgment: PastJudgment, outcome: Outcome, gaps: Sequence[ToldGap] = ()) -> str:
        """The suite of a judgment, as XML; `gaps` say more about its gaps.

        Its name is the same for every judgment of a session by the same rubric version, model and
        chunk setting, so that reports can be compared; a second one here has its id beside it.
        """
        name = _name(outcome)
        if name in self._names:
            name = f"{name} · {clean_line(judgment.id, 80)}"
        self._names.add(name)
        cases = _cases(outcome, _parts(judgment.result), gaps)
        kinds = Counter(case.kind for case in cases)
        counts = Counts(
            len(cases),
            kinds[_Kind.FAILURE],
            kinds[_Kind.ERROR],
            kinds[_Kind.SKIPPED],
            _duration(outcome.seconds),
        )
        self.counts = self.counts.plus(counts)
        element = ET.Element("testsuite", _attributes(name, counts))
        _set(element, "id", judgment.id)
        _set(element, "file", outcome.session.path, _PATH_CHARS)
        if (timestamp := _timestamp(judgment.created)) is not None:
            element.set("timestamp", timestamp)
        properties = ET.SubElement(element, "properties")
        for key, value in _properties(judgment, outcome).items():
            each = ET.SubElement(properties, "property")
            _set(each, "name", key)
            _set(each, "value", value, _PATH_CHARS)
        for case in cases:
            _add_case(element, name, case)
        ET.SubElement(element, "system-out").text = _in_xml(_said(outcome))
        return _xml(element)

    def head(self) -> str:
        """What stands before the suites."""
        root = ET.Element("testsuites", _attributes("longjudge", self.counts))
        # The schema of Jenkins knows it of suites alone.
        del root.attrib["skipped"]
        start = ET.tostring(root, "us-ascii").decode().removesuffix(" />")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{start}>\n'

    @staticmethod
    def tail() -> str:
        """What stands after them."""
        return "</testsuites>\n"


class _Part(msgspec.Struct, frozen=True):
    """What was recorded of a chunk; older records have no `state`."""

    part: int
    state: str = ""
    reason: str | None = None
    thread: str = ""
    first_event: int | None = None
    last_event: int | None = None
    seconds: float = 0.0
    disagrees: bool = False


class _Kind(StrEnum):
    """What became of a test that has not passed; each is the name of an element."""

    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class _Case:
    """A test; `kind` is None where it has passed."""

    name: str
    kind: _Kind | None = None
    type: str = ""
    message: str = ""
    text: str = ""
    seconds: float = 0.0
    remark: str = ""


def _parts(result: Mapping[str, object]) -> list[_Part] | None:
    try:
        return msgspec.convert(result.get("parts", []), list[_Part])
    except msgspec.ValidationError:
        return None


def _cases(outcome: Outcome, parts: Sequence[_Part] | None, gaps: Sequence[ToldGap]) -> list[_Case]:
    if outcome.status == JudgmentStatus.NOT_APPLICABLE:
        return [_Case("session", _Kind.SKIPPED, message=outcome.evidence or outcome.status)]
    if outcome.unknown or parts is None:
        return [_error("session", "unreadable", "recorded in a form that this version cannot read")]
    by_part: dict[int, list[FoundProblem]] = {}
    for finding in outcome.findings:
        by_part.setdefault(finding.part, []).append(finding)
    problems = {part: gap.problem for gap in gaps for part in gap.parts}
    several = len({part.thread for part in parts}) > 1
    cases = [
        _case(
            part,
            _part_name(part, several_threads=several),
            by_part.pop(part.part, ()),
            problems.get(part.part, ""),
        )
        for part in sorted(parts, key=lambda part: part.part)
    ]
    cases += [_failure(f"part {part}", findings) for part, findings in by_part.items()]
    missing = outcome.chunks - len(parts)
    if missing > 0:
        told = f"nothing is recorded of {plural(missing, 'part')} of {outcome.chunks}"
        cases.append(_error("other parts", _NO_VERDICT, told))
    complete = outcome.status == JudgmentStatus.COMPLETE
    if not cases or not (complete or any(case.kind is _Kind.ERROR for case in cases)):
        told = f"the judgment is {outcome.status or 'unknown'}: {outcome.evidence or 'no part'}"
        cases.append(_error("session", outcome.status or _NO_VERDICT, told))
    return cases


def _part_name(part: _Part, *, several_threads: bool) -> str:
    words = f"part {part.part}"
    if several_threads:
        words += f", thread {part.thread}"
    if part.first_event is not None and part.last_event is not None:
        one = part.first_event == part.last_event
        words += (
            f", event {part.first_event}"
            if one
            else f", events {part.first_event}-{part.last_event}"
        )
    return words


def _case(part: _Part, name: str, findings: Sequence[FoundProblem], problem: str) -> _Case:
    seconds = _duration(part.seconds)
    if findings or part.state == ChunkState.FLAGGED:
        return _failure(name, findings, seconds)
    if part.reason is None and part.state in ("", ChunkState.CLEAN):
        remark = "the offline rules flag what the model calls clean" if part.disagrees else ""
        return _Case(name, seconds=seconds, remark=remark)
    reason = part.reason or part.state
    told = f"not judged, so neither clean nor flagged: {reason}"
    more = f"\n{clean_line(problem, PROBLEM_CHARS)}" if problem else ""
    return _error(name, reason, told, told + more, seconds)


def _error(name: str, type: str, message: str, text: str = "", seconds: float = 0.0) -> _Case:
    return _Case(name, _Kind.ERROR, type, message, text or message, seconds)


def _failure(name: str, findings: Sequence[FoundProblem], seconds: float = 0.0) -> _Case:
    criteria = ", ".join(dict.fromkeys(finding.criterion for finding in findings))
    notes = "; ".join(finding.note or finding.criterion for finding in findings)
    text = "\n".join(line for finding in findings for line in _finding(finding))
    told = "flagged, and no finding is recorded"
    return _Case(name, _Kind.FAILURE, criteria or "flagged", notes or told, text or told, seconds)


def _finding(finding: FoundProblem) -> Iterable[str]:
    known = [
        clean_line(finding.criterion),
        "no event" if finding.event is None else f"event {finding.event}",
        "verified" if finding.verified else "not verified",
        correction_words(finding),
        f"marked {finding.mark.value}" if finding.mark else "",
    ]
    yield f"{' · '.join(filter(None, known))}: {clean_line(finding.note, 1_000)}"
    if finding.quote:
        yield from (f"    │ {line}" for line in clean(finding.quote).split("\n"))


def _name(outcome: Outcome) -> str:
    """What tells a judgment apart; no dot behind the session's own name, for Jenkins."""
    session, rubric = outcome.session, outcome.rubric
    name, stem = session.path or "events", PurePath(session.path).stem
    if session.id and session.id != stem and not stem.endswith(f"-{session.id}"):
        name += f" · session {session.id}"
    by = [
        f"{rubric.get('name', '')} {rubric.get('version', '')}".strip(),
        judge_name(outcome),
        outcome.chunk_words,
        "forced failures" if outcome.fault else "",
    ]
    words = " · ".join(filter(None, by)).replace(".", "_")
    return clean_line(f"{name} · {words}", _PATH_CHARS)


def _properties(judgment: PastJudgment, outcome: Outcome) -> dict[str, str]:
    session, rubric = outcome.session, outcome.rubric
    low, high = outcome.score_range
    given: dict[str, object] = {
        **outcome.settings,
        "judgment": judgment.id,
        "session": session.path,
        "session_id": session.id,
        "format": session.format,
        "status": outcome.status,
        "score": outcome.score,
        "score_range": f"{low} {high}",
        "coverage": f"{outcome.judged_chunks} of {plural(outcome.chunks, 'part')} judged",
        "chunks": outcome.chunks,
        "judged_chunks": outcome.judged_chunks,
        "flagged_chunks": outcome.flagged_chunks,
        "model": outcome.model,
        "rubric": rubric.get("name", ""),
        "rubric_version": rubric.get("version", ""),
        "calls": outcome.calls,
        "cached_chunks": outcome.cached_chunks,
        "cost_usd": outcome.cost_usd,
        "disagreements": outcome.disagreements,
        "fault": outcome.fault,
        "store_error": outcome.store_error,
    }
    return {name: "none" if value is None else str(value) for name, value in given.items()}


def _said(outcome: Outcome) -> str:
    lines = [outcome.evidence, outcome.fault_words]
    if outcome.session.skipped_lines:
        skipped = plural(outcome.session.skipped_lines, "line")
        lines.append(f"{skipped} of the file could not be read: not judged")
    if outcome.store_error:
        lines.append(f"{how_much(outcome.store_error)} was kept: {outcome.store_error}")
    return "\n".join(filter(None, lines))


def _add_case(suite: ET.Element, class_name: str, case: _Case) -> None:
    element = ET.SubElement(suite, "testcase")
    element.set("classname", _in_xml(class_name))
    _set(element, "name", case.name)
    element.set("time", f"{case.seconds:.3f}")
    if case.kind is not None:
        wrong = ET.SubElement(element, case.kind)
        _set(wrong, "message", case.message)
        if case.type:
            _set(wrong, "type", case.type)
        wrong.text = _in_xml(case.text) or None
    if case.remark:
        ET.SubElement(element, "system-out").text = _in_xml(case.remark)


def _attributes(name: str, counts: Counts) -> dict[str, str]:
    return {
        "name": _in_xml(name),
        "tests": str(counts.tests),
        "failures": str(counts.failures),
        "errors": str(counts.errors),
        "skipped": str(counts.skipped),
        "time": f"{counts.seconds:.3f}",
    }


def _set(element: ET.Element, name: str, value: str, limit: int = 300) -> None:
    element.set(name, _in_xml(clean_line(value, limit)))


def _in_xml(text: str) -> str:
    """Text without what acts on a terminal, or cannot stand in XML."""
    return _NOT_IN_XML.sub("\ufffd", clean(text))


def _xml(element: ET.Element) -> str:
    """As ASCII: what else there is stands as a reference, and no output's encoding changes it."""
    ET.indent(element, level=1)
    return f"  {ET.tostring(element, 'us-ascii').decode()}\n"


def _duration(seconds: float) -> float:
    """Seconds as a report can have them; a record may hold any number."""
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


def _timestamp(created: float) -> str | None:
    """A moment in UTC without a zone, as every reader of these takes it."""
    try:
        return datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return None
