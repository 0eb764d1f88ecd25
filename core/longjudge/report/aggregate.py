"""Many judgments in sums, as lines for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from longjudge.prices import OFFLINE_MODEL
from longjudge.report.markdown import inline, moment
from longjudge.report.words import money, plural
from longjudge.result import shown_score
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.aggregate.sums import RubricSum, Totals
    from longjudge.aggregate.told import Aggregate, Example, ToldRecurrence
    from longjudge.store import UnrecordedCost

_AVERAGED = "never averaged across rubric versions, models or chunk sizes"


def aggregate_json(aggregate: Aggregate) -> str:
    """One object on one line; an unknown price makes `cost_usd` null, and never 0."""
    totals = aggregate.totals
    fields: dict[str, object] = {
        "since": aggregate.since,
        "sessions": totals.sessions,
        "by_status": totals.by_status,
        "gaps": totals.gaps,
        "by_rubric": [_row_json(row) for row in totals.by_rubric],
        "recurring": [asdict(group) for group in aggregate.recurring],
        "cost_usd": totals.cost_usd,
        "calls_saved": totals.calls_saved,
        "start": _iso(aggregate.start),
        "judgments": totals.judgments,
        "replaced": totals.replaced,
        "forced": totals.forced,
        "unread": totals.unread,
        "cost_known_usd": totals.cost_known,
        "cost_unknown": totals.unpriced,
        "unrecorded": _unrecorded_json(totals.unrecorded),
        "findings": {
            "recurring": aggregate.repeated,
            "alone": aggregate.alone,
            "marked_wrong": aggregate.marked_wrong,
        },
    }
    return msgspec.json.encode(fields).decode()


def aggregate_text(aggregate: Aggregate) -> str:
    """As lines for a terminal."""
    totals = aggregate.totals
    lines = [_head(aggregate), *(f"  {clean_line(line)}" for line in _facts(totals))]
    if totals.by_rubric:
        lines += ["", f"scores, {_AVERAGED}"]
    for row in totals.by_rubric:
        by = f"{row.rubric} {row.version} · {_judge(row)} · {_chunks(row)}"
        lines += [f"  {clean_line(by)}", f"    {_mean(row)}", f"    {_coverage(row)}"]
    lines += ["", f"findings that recur: {_recurring_words(aggregate)}"]
    for group in aggregate.recurring:
        lines.append(
            f"  {group.count:,}× {clean_line(group.criterion)}, in"
            f" {plural(group.sessions, 'session')}: {clean_line(group.note)}"
        )
        for example in group.examples:
            lines.append(f"      {clean_line(_where(example))} · {clean_line(example.path)}")
            if example.quote:
                lines.append(f'        "{clean_line(example.quote, 160)}"')
    lines += [f"  {words}" for words in _left_out(aggregate)]
    return "\n".join(lines)


def aggregate_markdown(aggregate: Aggregate) -> str:
    """As a report, in which no text of a session can pass for the report's own."""
    totals = aggregate.totals
    lines = [f"# {inline(_head(aggregate))}", ""]
    if aggregate.start is not None:
        lines.append(f"- From {moment(aggregate.start)} on")
    lines += [f"- {inline(line[0].upper() + line[1:])}" for line in _facts(totals)]
    lines += ["", "## Scores", ""]
    if not totals.by_rubric:
        lines.append("None: no rubric applied.")
    else:
        lines += [f"{_AVERAGED.capitalize()}.", "", *_table(totals)]
    lines += ["", "## Findings that recur", "", f"{_recurring_words(aggregate).capitalize()}.", ""]
    for group in aggregate.recurring:
        lines += _group_markdown(group)
    for words in _left_out(aggregate):
        lines += ["", f"{words}."]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row_json(row: RubricSum) -> dict[str, object]:
    return {
        "rubric": row.rubric,
        "version": row.version,
        "model": row.model,
        "settings": row.settings,
        "judged": row.judged,
        "score_mean": row.score_mean,
        "flagged": row.flagged,
        "chunks": row.chunks,
        "sessions": row.sessions,
        "sessions_with_gaps": row.unfinished,
        "scores": row.scores,
        "scores_with_gaps": row.partial_scores,
    }


def _head(aggregate: Aggregate) -> str:
    totals = aggregate.totals
    judged = f"{_many(totals.judgments, 'judgment')} of {_many(totals.sessions, 'session')}"
    return judged if aggregate.since is None else f"{judged} in the last {aggregate.since}"


def _facts(totals: Totals) -> list[str]:
    """What became of the sessions, and what it cost: a line each, not cleaned yet."""
    lines: list[str] = []
    if totals.replaced:
        lines.append(
            f"{_many(totals.replaced, 'judgment')} replaced by a newer one of the same session,"
            " rubric version, model and chunk size: only the newest counts, but for the cost"
        )
    if totals.forced:
        lines.append(
            f"{_many(totals.forced, 'judgment')} with forced failures left out, in the cost too"
        )
    if totals.unread:
        lines.append(f"{_many(totals.unread, 'judgment')} left out: this version cannot read them")
    lines += [f"status: {_counts(totals.by_status)}", f"gaps: {_counts(totals.gaps)}"]
    saved = f"{_many(totals.calls_saved, 'call')} saved by the store"
    if totals.cost_usd is None:
        unpriced = [
            _many(count, word)
            for count, word in (
                (totals.unpriced, "judgment"),
                (totals.unrecorded.unpriced, "answer"),
            )
            if count
        ]
        lines.append(
            f"cost unknown: no price is known for {' and '.join(unpriced)}, all others"
            f" together cost {money(totals.cost_known)} · {saved}"
        )
    else:
        lines.append(f"cost {money(totals.cost_usd)} · {saved}")
    if totals.unrecorded.answers:
        lines.append(_unrecorded_words(totals.unrecorded))
    return lines


def _unrecorded_words(cost: UnrecordedCost) -> str:
    paid = f"{money(cost.cost_usd)} of it"
    if cost.unpriced == cost.answers:
        paid = "what is unknown of it was"
    return (
        f"{paid} for {_many(cost.answers, 'answer')} in no judgment: of runs that were killed or"
        " left their batch, of parts tried alone, or still being judged"
    )


def _unrecorded_json(cost: UnrecordedCost) -> dict[str, object]:
    return {
        "answers": cost.answers,
        "cost_usd": None if cost.unpriced else cost.cost_usd,
        "cost_known_usd": cost.cost_usd,
        "cost_unknown": cost.unpriced,
    }


def _many(count: int, word: str) -> str:
    return f"{count:,}{plural(count, word).removeprefix(str(count))}"


def _counts(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _judge(row: RubricSum) -> str:
    return "offline rules" if row.model == OFFLINE_MODEL else row.model


def _chunks(row: RubricSum) -> str:
    size = "chunk size unknown"
    if row.setting is not None:
        size = f"{row.setting.size} {row.setting.unit} a chunk"
    return size if row.redacted else f"{size}, secrets left in"


def _mean(row: RubricSum) -> str:
    if row.score_mean is None:
        return "no score"
    words = f"mean score {shown_score(row.score_mean, 3)} of {_many(row.scores, 'session')}"
    return words + (f", {row.partial_scores:,} with gaps" if row.partial_scores else "")


def _coverage(row: RubricSum) -> str:
    unscored = row.sessions - row.scores
    return (
        f"{row.judged:,} of {_many(row.chunks, 'part')} judged, {row.flagged:,} flagged, in"
        f" {_many(row.sessions, 'session')}" + (f", {unscored:,} without a score" * (unscored > 0))
    )


def _recurring_words(aggregate: Aggregate) -> str:
    words = "none"
    if aggregate.groups:
        words = f"{_many(aggregate.repeated, 'finding')} in {_many(aggregate.groups, 'group')}"
    words += f"; {aggregate.alone:,} more of which none is like another" * (aggregate.alone > 0)
    wrong = aggregate.marked_wrong
    return words + f"; {wrong:,} marked wrong and left out" * (wrong > 0)


def _left_out(aggregate: Aggregate) -> list[str]:
    more = aggregate.groups - len(aggregate.recurring)
    return [f"{_many(more, 'group')} more; --json has all of them"] if more > 0 else []


def _where(example: Example) -> str:
    part = "" if example.part is None else f" part {example.part},"
    event = "no event" if example.event is None else f"event {example.event}"
    return f"{example.judgment}{part} {event}"


def _table(totals: Totals) -> list[str]:
    lines = [
        "| rubric | model | chunks | score | parts | sessions |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in totals.by_rubric:
        unfinished = f", {row.unfinished:,} with gaps" if row.unfinished else ""
        cells = (
            f"{row.rubric} {row.version}",
            _judge(row),
            _chunks(row),
            _mean(row),
            f"{row.judged:,} of {row.chunks:,} judged, {row.flagged:,} flagged",
            f"{row.sessions:,}{unfinished}",
        )
        lines.append(f"| {' | '.join(inline(cell) for cell in cells)} |")
    return lines


def _group_markdown(group: ToldRecurrence) -> list[str]:
    lines = [
        f"- **{group.count:,}×** {inline(group.criterion)}, in"
        f" {plural(group.sessions, 'session')}: {inline(group.note)}"
    ]
    for example in group.examples:
        quote = f": “{inline(example.quote, 160)}”" if example.quote else ""
        lines.append(f"  - {inline(_where(example))}, {inline(example.path, 1_000)}{quote}")
    return lines


def _iso(moment: float | None) -> str | None:
    """A time in UTC, to the second; None where it is no time of the calendar."""
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None
