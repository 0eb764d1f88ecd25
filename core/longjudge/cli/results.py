"""`longjudge results`: the judgments that the store recorded, newest first, or one of them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.age import age_in_seconds
from longjudge.cli.comparing import compare_judgments, comparison_json, comparison_text
from longjudge.cli.look_up import look_up
from longjudge.cli.present import outcome_text
from longjudge.comparison.report import markdown_comparison
from longjudge.errors import UsageError
from longjudge.redaction import redacted_fields, redacted_text
from longjudge.report.asked import asked_markdown, questions_of_version
from longjudge.report.gaps import gap_json, gap_text, told_gaps
from longjudge.report.junit import JUnitDocument
from longjudge.report.markdown import NOTHING_BESIDE, Beside, markdown_report
from longjudge.report.outcome import (
    JudgedSession,
    MarkFilter,
    Outcome,
    findings_of,
    marks_of,
    read_outcome,
)
from longjudge.report.words import judge_name, plural
from longjudge.result import shown_score
from longjudge.store import Store, read_gap_replies
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.marks import Mark
    from longjudge.report.gaps import ToldGap
    from longjudge.store import PastJudgment

_SHOWN_IDS = 5
_SPOOLED_BYTES = 8_000_000


class Format(StrEnum):
    """How judgments are printed."""

    TEXT = "text"
    MARKDOWN = "md"
    JSON = "json"
    JUNIT = "junit"


@dataclass(frozen=True, slots=True)
class Request:
    """What `results` was asked for."""

    id: str | None
    since: str | None
    format: Format
    marks: MarkFilter | None
    redact: bool = True
    against: str | None = None


def show_results(store_path: Path, request: Request) -> int:
    """Print what was asked for and return the exit code.

    Raises:
        LongjudgeError: no such judgment, or a store that cannot be read.
    """
    if request.id is not None and request.since is not None:
        raise UsageError("an ID and --since together say two things; leave one of them out")
    if request.against is not None:
        _check_against(request)
    if request.format is Format.JUNIT and request.marks is not None:
        raise UsageError(
            "--format junit shows all findings, or a flagged part could look clean; leave --marks"
            " out"
        )
    since = None
    if request.since is not None:
        since = time.time() - age_in_seconds("--since", request.since)
    return asyncio.run(_show(store_path, request, since))


def _check_against(request: Request) -> None:
    if request.id is None:
        raise UsageError(
            "--against needs an ID before it: `longjudge results ID --against ID2` compares two"
        )
    if request.marks is not None:
        raise UsageError("--against shows all findings; leave --marks out")
    if request.format is Format.JUNIT:
        raise UsageError("--against has no --format junit; use text, md or json")


async def _show(store_path: Path, request: Request, since: float | None) -> int:
    store = await Store.open_to_read(store_path)
    try:
        marks = await store.marks()
        if request.id is not None and request.against is not None:
            await _show_two(store, request, (request.id, request.against), marks)
        elif request.format is Format.JUNIT:
            await _show_junit(store, request, since, marks)
        elif request.id is not None:
            await _show_one(store, request, request.id, marks)
        else:
            await _show_list(store, request, since, marks)
    finally:
        await store.aclose()
    return 0


async def _show_one(
    store: Store, request: Request, id: str, marks: Mapping[tuple[bytes, str], Mark]
) -> None:
    judgment = await _judgment(store, await _full_id(store, id))
    replies = await read_gap_replies(store, judgment.id)
    gaps = told_gaps(judgment, replies, redact=request.redact)
    if request.redact:
        judgment = _redacted(judgment)
    beside = NOTHING_BESIDE
    if request.format is Format.MARKDOWN:
        outcome = _outcome(judgment, request, marks)
        pairs = zip(judgment.digests, marks_of(judgment, marks), strict=False)
        digests = [
            digest for digest, mark in pairs if request.marks is None or request.marks.takes(mark)
        ]
        beside = await look_up(
            judgment, outcome, gaps, store.path, digests=digests, redact=request.redact
        )
        asked = await _asked_lines(store, judgment, redact=request.redact)
        beside = replace(beside, asked_lines=asked)
    text, _ = _one(judgment, request, marks, gaps, beside)
    click.echo(text, nl=request.format is not Format.MARKDOWN)


async def _show_two(
    store: Store, request: Request, ids: tuple[str, str], marks: Mapping[tuple[bytes, str], Mark]
) -> None:
    one, other = [await _judgment(store, await _full_id(store, id)) for id in ids]
    if one.id == other.id:
        raise UsageError(f"{clean_line(one.id, 40)}: both sides are this judgment; name another")
    if request.redact:
        one, other = _redacted(one), _redacted(other)
    comparison = await compare_judgments(store, one, other, marks)
    match request.format:
        case Format.JSON:
            click.echo(comparison_json(comparison))
        case Format.MARKDOWN:
            click.echo(markdown_comparison(comparison), nl=False)
        case Format.TEXT | Format.JUNIT:
            # The latter is refused before.
            click.echo(comparison_text(comparison))


async def _judgment(store: Store, id: str) -> PastJudgment:
    judgment = await store.judgment(id)
    if judgment is None:
        raise _unknown(id)
    return judgment


async def _full_id(store: Store, prefix: str) -> str:
    ids = await store.judgments_of_prefix(prefix, _SHOWN_IDS + 1) if prefix else []
    if prefix in ids:
        return prefix
    if not ids:
        raise _unknown(prefix)
    if len(ids) > 1:
        shown = ", ".join(map(clean_line, ids[:_SHOWN_IDS]))
        more = ", …" if len(ids) > _SHOWN_IDS else ""
        raise UsageError(
            f"{clean_line(prefix, 40)}: several judgments begin so ({shown}{more}); give more of"
            " the id"
        )
    return ids[0]


def _unknown(id: str) -> UsageError:
    return UsageError(
        f"{clean_line(id, 40) or 'an empty ID'}: no judgment of that id in the store;"
        " `longjudge results` lists them, and --store names another store"
    )


async def _show_list(
    store: Store,
    request: Request,
    since: float | None,
    marks: Mapping[tuple[bytes, str], Mark],
) -> None:
    ids = await store.judgment_ids(since)
    whole = request.format is not Format.TEXT
    asked: dict[tuple[str, str], list[str]] = {}
    shown, missing = 0, len(ids)
    async for stored in store.stream_judgments(ids, whole=whole):
        missing -= 1
        judgment = _redacted(stored) if request.redact else stored
        if request.format is Format.TEXT:
            outcome = _outcome(judgment, request, marks)
            if _passes(request, len(outcome.findings)):
                click.echo(_row(judgment, outcome))
                shown += 1
            continue
        beside = NOTHING_BESIDE
        if request.format is Format.MARKDOWN:
            by = judgment.rubric, judgment.rubric_version
            if by not in asked:
                asked[by] = await _asked_lines(store, judgment, redact=request.redact)
            beside = Beside(asked_lines=asked[by])
        text, findings = _one(judgment, request, marks, beside=beside)
        if _passes(request, findings):
            separator = "\n---\n\n" if shown and request.format is Format.MARKDOWN else ""
            click.echo(separator + text, nl=request.format is Format.JSON)
            shown += 1
    _say_missing(missing)
    if not shown and request.format is Format.TEXT and missing < max(1, len(ids)):
        tell(_nothing(bool(ids), request, since))


async def _show_junit(
    store: Store,
    request: Request,
    since: float | None,
    marks: Mapping[tuple[bytes, str], Mark],
) -> None:
    """Print one judgment, or all of them, as one document; nothing of it if it cannot be whole."""
    if request.id is not None:
        ids = [(await _judgment(store, await _full_id(store, request.id))).id]
    else:
        ids = await store.judgment_ids(since)
    document, missing = JUnitDocument(), len(ids)
    # The counts stand before what is counted, which may be more than fits in memory.
    with SpooledTemporaryFile(_SPOOLED_BYTES, "w+", encoding="ascii") as suites:
        async for stored in store.stream_judgments(ids, whole=True):
            missing -= 1
            gaps: list[ToldGap] = []
            if request.id is not None:
                replies = await read_gap_replies(store, stored.id)
                gaps = told_gaps(stored, replies, redact=request.redact)
            judgment = _redacted(stored) if request.redact else stored
            suites.write(document.suite(judgment, _outcome(judgment, request, marks), gaps))
        suites.seek(0)
        click.echo(document.head(), nl=False)
        while text := suites.read(_SPOOLED_BYTES):
            click.echo(text, nl=False)
        click.echo(document.tail(), nl=False)
    _say_missing(missing)
    if not ids:
        tell(_nothing(False, request, since))


def _say_missing(count: int) -> None:
    """Say that judgments do not read, where there are any: what is told is not all."""
    if count:
        are = "cannot be read and is" if count == 1 else "cannot be read and are"
        tell(f"longjudge: {plural(count, 'judgment')} {are} left out")


async def _asked_lines(store: Store, judgment: PastJudgment, *, redact: bool) -> list[str]:
    """The section on what a judgment asked."""
    name, version = judgment.rubric, judgment.rubric_version
    asked = await questions_of_version(store, name, version)
    return asked_markdown(name, version, asked.redacted() if asked and redact else asked)


def _redacted(judgment: PastJudgment) -> PastJudgment:
    """A judgment as it is printed: what it was recorded with may hold secrets."""
    return replace(
        judgment,
        path=redacted_text(judgment.path),
        session_id=redacted_text(judgment.session_id),
        result=redacted_fields(judgment.result),
    )


def _nothing(any_ids: bool, request: Request, since: float | None) -> str:
    if any_ids and request.marks is not None:
        return "longjudge: no judgment has such a finding"
    if since is not None:
        return "longjudge: no judgment since then; `longjudge results` lists all"
    return "longjudge: no judgments in the store yet; `longjudge judge PATH` makes one"


def _passes(request: Request, findings: int) -> bool:
    """A list that asks for marks leaves out judgments without such a finding."""
    return request.marks is None or findings > 0


def _one(
    judgment: PastJudgment,
    request: Request,
    marks: Mapping[tuple[bytes, str], Mark],
    gaps: Sequence[ToldGap] = (),
    beside: Beside = NOTHING_BESIDE,
) -> tuple[str, int]:
    """A judgment in the format that was asked for, and how many findings that shows."""
    if request.format is Format.JSON:
        return _json(judgment, request, marks, gaps)
    outcome = _outcome(judgment, request, marks)
    findings = len(outcome.findings)
    if request.format is Format.MARKDOWN:
        return markdown_report(outcome, judgment.created, beside), findings
    when, rubric = _when(judgment.created), _rubric(outcome)
    head = f"{clean_line(judgment.id)} · {when} · {rubric} · {outcome.chunk_words}"
    lines = [head, outcome_text(outcome, recorded=True), *gap_text(gaps)]
    return "\n".join(lines), findings


def _outcome(
    judgment: PastJudgment, request: Request, marks: Mapping[tuple[bytes, str], Mark]
) -> Outcome:
    outcome = read_outcome(judgment.result)
    if outcome is None:
        # Written by another version: what its row says is still shown.
        return Outcome(
            id=judgment.id,
            session=JudgedSession(path=judgment.path, id=judgment.session_id),
            status=judgment.status,
            model=judgment.model,
            rubric={"name": judgment.rubric, "version": judgment.rubric_version},
            evidence="this version cannot show more of it; --json gives what was recorded",
            unknown=True,
        )
    return outcome.selected(marks_of(judgment, marks), request.marks)


def _json(
    judgment: PastJudgment,
    request: Request,
    marks: Mapping[tuple[bytes, str], Mark],
    gaps: Sequence[ToldGap],
) -> tuple[str, int]:
    findings: list[dict[str, object]] = []
    pairs: Sequence[tuple[dict[str, object], Mark | None]] = list(
        zip(findings_of(judgment.result), marks_of(judgment, marks), strict=True)
    )
    for finding, mark in pairs:
        if request.marks is None or request.marks.takes(mark):
            findings.append(finding | {"mark": mark.value} if mark else finding)
    result = judgment.result | {"findings": findings}
    if gaps:
        result["gap_replies"] = gap_json(gaps)
    return msgspec.json.encode(result).decode(), len(findings)


def _row(judgment: PastJudgment, outcome: Outcome) -> str:
    if outcome.bare:
        verdict = "no score"
        parts = clean_line(outcome.evidence)
    else:
        low, high = outcome.score_range
        score = " none" if outcome.score is None else shown_score(outcome.score, 3)
        verdict = f"{score} ({shown_score(low, 3)}-{shown_score(high, 3)})"
        parts = f"{outcome.judged_chunks}/{outcome.chunks} parts"
    forced = f"  forced failures: {clean_line(outcome.fault)}" if outcome.fault else ""
    return (
        f"{clean_line(judgment.id)}  {_when(judgment.created)}  {clean_line(outcome.status):<14}"
        f"  {verdict}  {parts}  {_findings(outcome)}  {judge_name(outcome)}"
        f"  {_rubric(outcome)}  {outcome.chunk_words}{forced}  {clean_line(judgment.path)}"
    )


def _findings(outcome: Outcome) -> str:
    count = len(outcome.findings)
    words = plural(count, "finding")
    marked = [finding.mark.value for finding in outcome.findings if finding.mark]
    counts = [f"{marked.count(mark)} {mark}" for mark in ("right", "wrong") if mark in marked]
    marks = f" ({', '.join(counts)})" if counts else ""
    quotes = f", {outcome.quotes_words}" if outcome.quotes_words else ""
    return f"{words}{marks}{quotes}"


def _rubric(outcome: Outcome) -> str:
    name, version = outcome.rubric.get("name", ""), outcome.rubric.get("version", "")
    return f"{clean_line(name)} {clean_line(version)}"


def _when(created: float) -> str:
    try:
        return datetime.fromtimestamp(created).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "unknown time"
