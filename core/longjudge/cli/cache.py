"""`longjudge cache`: the verdicts in the store, the way they go, and why one is not used."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.age import age_in_seconds
from longjudge.cli.files import Reading, session_files
from longjudge.errors import StoreError, UsageError
from longjudge.judges.access import profile_access
from longjudge.judges.credentials import endpoint_of
from longjudge.keys import key_origin
from longjudge.preview import Preview
from longjudge.store import Store, upkeep
from longjudge.streams import tell
from longjudge.text import clean_line
from longjudge.why import TEXT, new_parts, new_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.cli.options import Judging
    from longjudge.config import Configuration
    from longjudge.sessions import Session
    from longjudge.store import Origin


@dataclass(frozen=True, slots=True)
class Pruning:
    """Which verdicts `cache prune` was told to delete; all conditions that are set hold."""

    older_than: str | None
    rubric: str | None
    model: str | None
    everything: bool
    dry_run: bool

    def selection(self, config: Configuration) -> upkeep.Selection:
        """The same for the store; a profile is its model at its address, as for `judge`.

        Raises:
            UsageError: nothing was named, or everything and something.
        """
        named = [self.older_than, self.rubric, self.model]
        if self.everything and any(word is not None for word in named):
            raise UsageError("--all and a condition say two things; leave one of them out")
        if not self.everything and all(word is None for word in named):
            raise UsageError(
                "`cache prune` needs to know what to delete: --older-than AGE, --rubric NAME,"
                " --model NAME, or --all"
            )
        before = None
        if self.older_than is not None:
            before = time.time() - age_in_seconds("--older-than", self.older_than)
        profile = config.profiles.get(self.model) if self.model is not None else None
        if profile is None or self.model is None:
            return upkeep.Selection(before, self.rubric, self.model)
        endpoint = endpoint_of(profile_access(self.model, profile).base_url)
        return upkeep.Selection(before, self.rubric, profile.model, endpoint)


def show_stats(store_path: Path, *, as_json: bool) -> int:
    """Print what the store holds and return the exit code.

    Raises:
        StoreError: it cannot be read.
    """
    return asyncio.run(_stats(store_path, as_json))


async def _stats(store_path: Path, as_json: bool) -> int:
    store = await Store.open_to_read(store_path)
    try:
        stats = await upkeep.stats(store)
    finally:
        await store.aclose()
    if as_json:
        fields = {
            "verdicts": stats.verdicts,
            "earlier": stats.earlier,
            "bytes": stats.bytes,
            "by_model": stats.by_model,
            "by_rubric": [
                {"rubric": rubric, "version": version, "verdicts": count}
                for (rubric, version), count in stats.by_rubric.items()
            ],
        }
        click.echo(msgspec.json.encode(fields).decode())
        return 0
    click.echo(f"{clean_line(str(store_path))}: {_size(stats.bytes)}")
    click.echo(f"  {stats.verdicts:,} verdicts, {stats.judgments:,} judgments, {stats.marks} marks")
    if stats.earlier:
        click.echo(f"  {stats.earlier:,} earlier answers that newer ones have replaced")
    for model, count in stats.by_model.items():
        click.echo(f"  {count:>9,} verdicts by {clean_line(model)}")
    for (rubric, version), count in stats.by_rubric.items():
        click.echo(f"  {count:>9,} verdicts by rubric {clean_line(rubric)} {clean_line(version)}")
    return 0


def prune(judging: Judging, pruning: Pruning, *, as_json: bool) -> int:
    """Delete verdicts, give their space back, and return the exit code.

    Raises:
        LongjudgeError: nothing was named, or the store cannot be written.
    """
    selection = pruning.selection(judging.config)
    return asyncio.run(_prune(judging.store_path(), pruning, selection, as_json))


async def _prune(
    store_path: Path, pruning: Pruning, selection: upkeep.Selection, as_json: bool
) -> int:
    before = upkeep.file_bytes(store_path)
    if pruning.dry_run or not before:
        # Nothing is made where there is no store.
        store = await Store.open_to_read(store_path)
        try:
            there = await upkeep.count(store, selection)
        finally:
            await store.aclose()
        _say_pruned(there, 0, None, dry_run=pruning.dry_run, as_json=as_json)
        return 0
    store = await Store.open(store_path)
    try:
        for notice in store.notices:
            tell(f"longjudge: {notice}")
        if store.write_error is not None:
            raise StoreError(
                f"the store cannot be written: {store.write_error}; nothing was deleted, try again"
                " later"
            )
        deleted = await upkeep.delete(store, selection)
    finally:
        await store.aclose()
    problem = await asyncio.to_thread(upkeep.shrink, store_path)
    freed = max(0, before - upkeep.file_bytes(store_path))
    _say_pruned(deleted, freed, problem, dry_run=False, as_json=as_json)
    return 0


def _say_pruned(
    counts: upkeep.Counts, freed: int, problem: str | None, *, dry_run: bool, as_json: bool
) -> None:
    verdicts = "1 verdict" if counts.verdicts == 1 else f"{counts.verdicts:,} verdicts"
    if counts.earlier:
        answers = (
            "1 earlier answer" if counts.earlier == 1 else f"{counts.earlier:,} earlier answers"
        )
        verdicts = f"{verdicts} and {answers}"
    if as_json:
        none = upkeep.Counts(0, 0)
        fields: dict[str, int | str | None] = {
            "deleted": (none if dry_run else counts).verdicts,
            "deleted_earlier": (none if dry_run else counts).earlier,
            "freed_bytes": freed,
            "not_freed": problem,
        }
        if dry_run:
            fields["would_delete"] = counts.verdicts
            fields["would_delete_earlier"] = counts.earlier
        click.echo(msgspec.json.encode(fields).decode())
    elif dry_run:
        click.echo(f"would delete {verdicts}")
    elif problem is None:
        click.echo(f"deleted {verdicts}, freed {_size(freed)}")
    else:
        click.echo(
            f"deleted {verdicts}; the file keeps its size ({problem}); a later prune frees it"
        )


def explain(path: str, judging: Judging, *, as_json: bool, wanted: str | None = None) -> int:
    """Say for each chunk of a session why its verdict is or is not in the store.

    Raises:
        LongjudgeError: what was named cannot be used.
    """
    return asyncio.run(_explain(path, judging, as_json, wanted))


async def _explain(path: str, judging: Judging, as_json: bool, wanted: str | None) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    session = await _only_session(path, wanted)
    if session is None:
        return 2
    store = await Store.open_to_read(judging.store_path())
    try:
        preview = await Preview.of(session, settings, rubric, judge, store)
        asked = key_origin(judge, rubric, redactor=settings.redactor)
        differs = await _differences(preview, asked, store)
        unknown = await upkeep.verdicts_of_unknown_text(store) if any(differs) else 0
    finally:
        session.close()
        await store.aclose()
    for position, parts in enumerate(differs):
        kept = preview.keys[position] in preview.kept
        if as_json:
            fields = {"part": position + 1, "kept": kept, "differs": parts}
            click.echo(msgspec.json.encode(fields).decode())
        else:
            click.echo(f"{position + 1:>6}  {'kept' if kept else new_words(parts)}")
    if not as_json:
        click.echo(_sum(differs, preview))
    if unknown and any(parts == [TEXT] for parts in differs):
        tell(
            f"longjudge: {unknown:,} verdicts of an earlier version do not say which text they are"
            " about; one of these may be behind a new text"
        )
    return 0


async def _only_session(path: str, wanted: str | None) -> Session | None:
    """The one session of a path; None where it cannot be read, which is said by then."""
    reading, files = Reading(wanted), session_files([path], "cache why")
    sessions = [session for file in files for session in await reading.open(file)]
    if len(sessions) == 1:
        return sessions[0]
    for session in sessions:
        session.close()
    if sessions:
        raise UsageError(
            f"{clean_line(path)}: {len(sessions)} sessions; name the file of one, and --session ID"
            " where it holds several"
        )
    reading.close([path])
    return None


async def _differences(preview: Preview, asked: Origin, store: Store) -> list[list[str]]:
    """For each chunk the parts of its key that are new; none where it is kept."""
    digests = {
        position: preview.plan.digest(position).hex()
        for position, key in enumerate(preview.keys)
        if key not in preview.kept
    }
    new = await new_parts(store, asked, digests)
    return [list(new.get(position, ())) for position in range(len(preview.keys))]


def _sum(differs: Sequence[Sequence[str]], preview: Preview) -> str:
    reasons = Counter(new_words(parts) for parts in differs if parts)
    kept = f"{preview.totals.kept} kept"
    if not reasons:
        return f"nothing to ask, {kept}"
    equal = preview.totals.equal
    copies = f", {equal} of them equal to another" if equal else ""
    words = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return f"{sum(reasons.values())} to ask: {words}{copies}; {kept}"


def _size(bytes: int) -> str:
    if bytes < 1_000_000:
        return f"{bytes / 1_000:.1f} kB"
    return f"{bytes / 1_000_000:.1f} MB"
