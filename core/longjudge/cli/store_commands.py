"""The commands that look into the store: `estimate`, `results`, `holds` and `cache`."""

from __future__ import annotations

import click

from longjudge.cli import options
from longjudge.errors import UsageError

_FORMATS = ("text", "md", "json", "junit")

store = click.option("--store", metavar="FILE", help="The store; default in your data folder.")


@click.command("estimate")
@options.paths
@options.judging
@options.json_output
@click.option("--fresh", is_flag=True, help="Estimate as if the store were empty.")
@options.one_session
@options.since
@click.option(
    "--sample",
    type=int,
    metavar="N",
    help="Read N files of all sizes only, and extrapolate to all of them.",
)
@click.option("--seed", type=int, metavar="S", help="Which files --sample draws; default 0.")
def estimate(
    paths: tuple[str, ...],
    judging: options.Judging,
    as_json: bool,
    fresh: bool,
    wanted: str | None,
    since: str | None,
    sample: int | None,
    seed: int | None,
) -> int:
    """Say what `judge` with the same options would ask, send and cost; asks nobody."""
    from longjudge.cli.estimate import Request, estimate_paths

    request = Request(paths, as_json, fresh, wanted, since, sample, seed)
    return estimate_paths(judging, request)


@click.command("results")
@click.argument("id", required=False, metavar="[ID]", type=click.UNPROCESSED)
@options.json_output
@click.option("--since", metavar="AGE", help="Only judgments of the last AGE: 45m, 24h, 30d, 2w.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    metavar="text|md|json|junit",
    help="How to print them; default text.",
)
@click.option(
    "--marks",
    type=click.Choice(["right", "wrong", "none"]),
    help="Only findings with this mark; a list leaves out judgments without one.",
)
@click.option("--against", metavar="ID2", help="Compare ID (A, before) with ID2 (B, after).")
@click.option(
    "--aggregate",
    is_flag=True,
    help="Sums instead: status, gaps, scores, what recurs, cost; a session's newest counts.",
)
@store
@options.no_redact
def results(
    id: str | None,
    as_json: bool,
    since: str | None,
    format_: str | None,
    marks: str | None,
    against: str | None,
    aggregate: bool,
    store: str | None,
    no_redact: bool,
) -> int:
    """List past judgments, newest first, or show the one whose id begins with ID."""
    if as_json and format_ not in (None, "json"):
        raise UsageError(f"--json and --format {format_} say two things; leave one of them out")
    path = options.Judging(store=store).store_path()
    form = "json" if as_json else format_ or "text"
    if aggregate:
        _check_aggregate(id, marks, against, form)
        from longjudge.cli.aggregate import AggregateRequest, show_aggregate

        return show_aggregate(path, AggregateRequest(since, form, not no_redact))
    from longjudge.cli.results import Format, Request, show_results
    from longjudge.report.outcome import MarkFilter

    only = MarkFilter(marks) if marks else None
    return show_results(path, Request(id, since, Format(form), only, not no_redact, against))


def _check_aggregate(id: str | None, marks: str | None, against: str | None, form: str) -> None:
    """Refuse what cannot be said of sums."""
    if id is not None or against is not None:
        what = "an ID" if against is None else "--against"
        raise UsageError(f"--aggregate sums up all judgments; leave {what} out, or name --since")
    if marks is not None:
        raise UsageError("--aggregate leaves out what is marked wrong by itself; leave --marks out")
    if form == "junit":
        raise UsageError("--aggregate has no --format junit; use text, md or json")


@click.command("holds")
@click.option("--sweep", is_flag=True, help="Release what dead processes left.")
@options.json_output
@store
def holds(sweep: bool, as_json: bool, store: str | None) -> int:
    """Show what is held outside: every lease with its age and owner."""
    from longjudge.cli.holds import show_holds

    return show_holds(options.Judging(store=store).store_path(), as_json=as_json, sweep=sweep)


@click.group("cache", invoke_without_command=True)
@click.pass_context
def cache(ctx: click.Context) -> None:
    """The verdicts in the store: count them, delete them, see why one is not used."""
    if ctx.invoked_subcommand is None:
        raise UsageError("`cache` needs a command; use stats, prune or why PATH")


@cache.command("stats")
@options.json_output
@store
def _stats(as_json: bool, store: str | None) -> int:
    """Say how many verdicts the store holds, by model and rubric, and how large it is."""
    from longjudge.cli.cache import show_stats

    return show_stats(options.Judging(store=store).store_path(), as_json=as_json)


@cache.command("prune")
@click.option("--older-than", metavar="AGE", help="Kept longer ago than AGE: 24h, 30d, 2w.")
@click.option("--rubric", metavar="NAME|VERSION", help="By this rubric, or this version of one.")
@click.option("--model", metavar="NAME", help="By this model or profile.")
@click.option("--all", "everything", is_flag=True, help="Every verdict.")
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
@options.json_output
@store
def _prune(
    older_than: str | None,
    rubric: str | None,
    model: str | None,
    everything: bool,
    dry_run: bool,
    as_json: bool,
    store: str | None,
) -> int:
    """Delete verdicts and earlier answers that meet every condition; judgments, marks stay."""
    from longjudge.cli.cache import Pruning, prune

    pruning = Pruning(older_than, rubric, model, everything, dry_run)
    return prune(options.Judging(store=store), pruning, as_json=as_json)


@cache.command("why")
@click.argument("path", metavar="PATH", type=click.UNPROCESSED)
@options.judging
@options.json_output
@options.one_session
def _why(path: str, judging: options.Judging, as_json: bool, wanted: str | None) -> int:
    """Say for each chunk whether its verdict is kept, else which part of its key is new."""
    from longjudge.cli.cache import explain

    return explain(path, judging, as_json=as_json, wanted=wanted)


COMMANDS = (estimate, results, holds, cache)
