"""The words of the header, the live line and the status line, from what the bench knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.judges.offline import offline_caveat
from longjudge.sessions.model import Severity
from longjudge_tui.wording import clock, dollars, fault, line, plural, size

if TYPE_CHECKING:
    from longjudge.estimate import Totals
    from longjudge.result import Result
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.preview import Preview
    from longjudge_tui.bench.run import Figures


def header_variants(bench: Bench) -> list[str]:
    """File, format, counts and size, longest first; while one is read, how far it is."""
    if bench.loading is not None:
        reading = bench.loading
        done = f"{size(reading.done)} of {size(reading.total)}"
        return [f"longjudge ─ reading {line(reading.file.path.name, 80)} · {done}"]
    session, file = bench.session, bench.file
    if session is None or file is None:
        return ["longjudge"]
    name = line(file.path.name, 80)
    counts = [
        plural(len(session.index), "event"),
        plural(bench.tool_calls, "tool call"),
        plural(len(session.index.threads), "thread"),
        size(session.bytes),
    ]
    warning: list[str] = []
    if session.skipped_lines:
        warning = [f"⚠ {plural(session.skipped_lines, 'line')} skipped"]
    elif any(each.severity is Severity.WARNING for each in session.diagnostics):
        warning = [f"⚠ {line(session.diagnostics[0].reason, 40)}"]
    where: list[str] = []
    if len(bench.files) > 1 and file in bench.files:
        where = [f"session {bench.files.index(file) + 1}/{len(bench.files)}"]
    full = [name, line(session.format, 30), *counts, *warning, *where]
    shorter = [name, line(session.format, 30), *counts[:2], *warning, *where]
    return [
        " ".join(["longjudge ─", " · ".join(full)]),
        " · ".join(full),
        " · ".join(shorter),
        " · ".join([name, counts[0], *warning, *where]),
        " · ".join([name, *warning]),
    ]


def live_line(bench: Bench) -> list[str]:
    """The figures of the judgment, longest first; before one, what a run would do."""
    label = line(bench.judge.label, 40)
    run = bench.run
    if not bench.applies:
        return [f"{label} · the rubric does not apply: no tool call · nothing is asked"]
    if run is None:
        if bench.outlook is None:
            return [label]
        plan = _before_a_run(bench.outlook.totals, bench.preview)
        return [f"{label} · {plan}", plan]
    figures = run.figures()
    words = _figures(figures)
    time = clock(figures.seconds)
    if figures.left is not None:
        time += f", about {clock(figures.left)} left"
    return [
        " · ".join([label, *words, time]),
        " · ".join([*words, time]),
        " · ".join([*words[:4], time]),
        " · ".join([*words[:4], clock(figures.seconds)]),
        " · ".join(words[:3]),
    ]


def _before_a_run(totals: Totals, preview: Preview | None) -> str:
    """What is known already, and what a run would do."""
    equal = f" ({totals.equal} equal to another)" if totals.equal else ""
    if not totals.kept:
        plan = f"{totals.to_ask} of {plural(totals.chunks, 'chunk')} to ask{equal}"
        return f"not judged yet · {plan} · r runs"
    kept = f"{totals.kept} of {totals.chunks} kept{equal}"
    found = "reading verdicts…"
    if preview is not None and preview.done:
        found = plural(len(preview.findings()), "finding")
    run = f"{totals.to_ask} to ask · r runs" if totals.to_ask else "r asks nothing"
    return f"{kept} · {found} · {run}"


def _figures(figures: Figures) -> list[str]:
    low, high = figures.score_range
    score = "no score" if figures.score is None else f"score {figures.score:.2f}"
    return [
        plural(figures.findings, "finding"),
        f"{score} ({low:.2f}-{high:.2f})",
        f"judged {figures.judged} of {figures.chunks}",
        plural(figures.gaps, "gap"),
        plural(figures.calls, "call"),
        dollars(figures.cost_usd),
    ]


def status_line(bench: Bench) -> list[str]:
    """What is going on, or how it ended; that nothing is kept comes before everything."""
    words: list[str] = []
    if bench.store_error:
        words.append(f"NOTHING IS KEPT: {line(bench.store_error)}")
    if caveat := offline_caveat(bench.judge, bench.rubric):
        words.append(f"! {caveat}")
    run = bench.run
    if bench.problem:
        words.append(f"✗ {line(bench.problem, 500)}")
    elif run is not None and run.result is not None:
        words += _ending(run.result, bench.session.name if bench.session else "")
    elif bench.stopping and run is not None:
        words.append(f"stopping ({run.stop_cause or 'cancel'})…")
    elif bench.running:
        words.append("judging…")
    elif bench.loading is not None:
        words.append("reading the session…")
    else:
        words.append("enter opens · [ ] change the chunk size · tab goes on · ? shows the keys")
    text = " · ".join(words)
    variants = [f"{line(bench.judge.label, 40)} · {text}", text]
    if bench.store_error:
        # How it ended has its place beside the reason, however long that is.
        variants.append(" · ".join([f"NOTHING IS KEPT: {line(bench.store_error, 40)}", *words[1:]]))
    return variants


def _ending(result: Result, session: str) -> list[str]:
    """Why it ended before its time, where it did; then the evidence."""
    status, evidence = result.status.value, line(result.evidence, 1000)
    said = evidence.startswith(status.replace("_", " "))
    early = [f"✗ {line(fault(result.error, session), 500)}"] if result.error else []
    return [*early, evidence if said else f"{status}: {evidence}"]


def alarming(bench: Bench) -> bool:
    """Whether the status line has bad news."""
    result = bench.run.result if bench.run is not None else None
    return bool(bench.store_error or bench.problem or (result is not None and result.error))


def banner(bench: Bench) -> str:
    """What every screen says: who judges, and whether anything is kept."""
    label = line(bench.judge.label, 40)
    if bench.store_error:
        return f"{label} · NOTHING IS KEPT: {line(bench.store_error)}"
    return label
