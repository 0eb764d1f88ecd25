"""`longjudge results --aggregate`: what the judgments of a time come to, in sums."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from longjudge.aggregate.recurring import Found, Recurrences, Recurring
from longjudge.aggregate.sums import Sums
from longjudge.aggregate.told import Aggregate, Example, ToldRecurrence
from longjudge.cli.age import age_in_seconds
from longjudge.history import Entry, hex_marks
from longjudge.marks import Mark
from longjudge.redaction import redacted_fields, redacted_text
from longjudge.report.aggregate import aggregate_json, aggregate_markdown, aggregate_text
from longjudge.report.outcome import findings_of
from longjudge.store import Store, unrecorded_cost
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.aggregate.recurring import Recurrence
    from longjudge.history import Marks
    from longjudge.store import PastJudgment

MOST_GROUPS: Final = 20
"""So many recurring findings are shown to people; JSON has all."""

_FINDING_BITS: Final = 24
"""A finding's number: the judgment's place among all, newest first, then its own place there."""


@dataclass(frozen=True, slots=True)
class AggregateRequest:
    """What `results --aggregate` was asked for; `format` is `text`, `md` or `json`."""

    since: str | None
    format: str
    redact: bool = True


def show_aggregate(store_path: Path, request: AggregateRequest) -> int:
    """Print the sums and return the exit code.

    Of several judgments of one session by the same rubric version, model and chunk setting only
    the newest counts; cost and saved calls are those of all of them.

    Raises:
        LongjudgeError: no such age, or a store that cannot be read.
    """
    start = None
    if request.since is not None:
        start = time.time() - age_in_seconds("--since", request.since)
    aggregate, any_judgments = asyncio.run(_aggregate(store_path, request, start))
    if request.format == "json":
        click.echo(aggregate_json(aggregate))
    elif not any_judgments:
        tell(
            "longjudge: no judgments in the store yet; `longjudge judge PATH` makes one"
            if start is None
            else "longjudge: no judgment since then; `longjudge results` lists all"
        )
    elif request.format == "md":
        click.echo(aggregate_markdown(aggregate), nl=False)
    else:
        click.echo(aggregate_text(aggregate))
    return 0


async def _aggregate(
    store_path: Path, request: AggregateRequest, start: float | None
) -> tuple[Aggregate, bool]:
    store = await Store.open_to_read(store_path)
    try:
        ids = await store.judgment_ids(start)
        unrecorded = await unrecorded_cost(store, start)
        sums, recurrences = await _added_up(store, ids)
        most = None if request.format == "json" else MOST_GROUPS
        told = await _told(store, ids, recurrences.groups[:most], redact=request.redact)
    finally:
        await store.aclose()
    sums.add_unrecorded(unrecorded)
    aggregate = Aggregate(
        since=request.since,
        start=start,
        totals=sums.totals(),
        recurring=told,
        groups=len(recurrences.groups),
        repeated=sum(group.count for group in recurrences.groups),
        alone=recurrences.alone,
        marked_wrong=recurrences.marked_wrong,
    )
    return aggregate, bool(ids or unrecorded.answers)


async def _added_up(store: Store, ids: Sequence[str]) -> tuple[Sums, Recurrences]:
    sums, recurring = Sums(), Recurring()
    marks = hex_marks(await store.marks())
    place = read = 0
    async for judgment in store.stream_judgments(ids, whole=False):
        # Those that do not read are passed over.
        while ids[place] != judgment.id:
            place += 1
        read += 1
        session = sums.add(Entry.of(judgment, {}), _calls_saved(judgment))
        if session is not None:
            recurring.add(session, _found(judgment, marks), place << _FINDING_BITS)
    sums.add_unread(len(ids) - read)
    return sums, recurring.result()


def _calls_saved(judgment: PastJudgment) -> int:
    saved = judgment.result.get("cached_chunks")
    return saved if isinstance(saved, int) else 0


def _found(judgment: PastJudgment, marks: Marks) -> list[Found]:
    found: list[Found] = []
    for number, finding in enumerate(findings_of(judgment.result)):
        criterion, note = _text(finding.get("criterion")), _text(finding.get("note"))
        digest = judgment.digests[number] if number < len(judgment.digests) else ""
        wrong = marks.get((digest, criterion)) is Mark.WRONG
        found.append(Found(criterion, note, _number(finding.get("event")), wrong))
    return found


async def _told(
    store: Store, ids: Sequence[str], groups: Sequence[Recurrence], *, redact: bool
) -> tuple[ToldRecurrence, ...]:
    """Read the few findings again that are told."""
    wanted: dict[str, list[int]] = {}
    for number in sorted({number for each in groups for number in (each.note, *each.examples)}):
        wanted.setdefault(ids[number >> _FINDING_BITS], []).append(number)
    notes: dict[int, str] = {}
    examples: dict[int, Example] = {}
    async for judgment in store.stream_judgments(list(wanted), whole=False):
        findings = findings_of(judgment.result)
        path = redacted_text(judgment.path) if redact else judgment.path
        for number in wanted[judgment.id]:
            at = number & ((1 << _FINDING_BITS) - 1)
            if at >= len(findings):
                # Recorded anew meanwhile.
                continue
            finding = redacted_fields(findings[at]) if redact else findings[at]
            notes[number] = _text(finding.get("note")) or _text(finding.get("criterion"))
            examples[number] = Example(
                judgment=judgment.id,
                path=path,
                part=_number(finding.get("part")),
                event=_number(finding.get("event")),
                quote=_text(finding.get("quote")) or None,
            )
    # A judgment that was deleted meanwhile leaves its group without a note or an example.
    return tuple(
        ToldRecurrence(
            criterion=redacted_text(each.criterion) if redact else each.criterion,
            note=notes.get(each.note, ""),
            count=each.count,
            sessions=each.sessions,
            examples=tuple(examples[number] for number in each.examples if number in examples),
        )
        for each in groups
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
