"""The words of the header, the live line and the status line, from what the bench knows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from longjudge.errors import CredentialError
from longjudge.judges.offline import offline_caveat
from longjudge.losses import how_much
from longjudge.prices import OFFLINE_MODEL
from longjudge.result import quotes_words, shown_score
from longjudge.sessions.model import Severity
from longjudge_tui.bench import going_on
from longjudge_tui.bench.batch_words import how_long, live_instead, still_out_words
from longjudge_tui.bench.forcing import forced_label
from longjudge_tui.bench.going_on import SAVED, another_model, go_on_words, shorter
from longjudge_tui.bench.limit_words import short_limit_words
from longjudge_tui.bench.run_words import (
    findings_words,
    found_words,
    judging_words,
    left_over_words,
    paused_words,
    releasing_words,
    running_line,
)
from longjudge_tui.clipboard import where_saved
from longjudge_tui.commands import command
from longjudge_tui.wording import (
    DISPUTED,
    calls_words,
    clock,
    dollars,
    fault,
    line,
    plural,
    size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.errors import LongjudgeError
    from longjudge.estimate import Totals
    from longjudge.result import Result
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.figures import Figures
    from longjudge_tui.bench.preview import Preview
    from longjudge_tui.bench.run import Run

TITLE_CHARS = 40
"""How much of a session's title the header has at least, or nothing of it."""

IS_NOT_SET = "is not set"
"""How the words about a variable end that holds nothing."""

OFFLINE_ON_THE_COMMAND_LINE = ", or use `--model offline`"


def header_variants(bench: Bench) -> list[str]:
    """File, title, format, counts and size, longest first; while one is read, how far it is."""
    if bench.loading is not None:
        reading = bench.loading
        done = f"{size(reading.done)} of {size(reading.total)}"
        name = f"reading {line(reading.file.path.name, 80)}"
        if bench.first is None:
            return [f"longjudge ─ {name} · {done}"]
        share = f"{reading.percent} %, first events only"
        return [f"longjudge ─ {name} · {share} · {done}", f"{name} · {share}", f"reading {share}"]
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
        warning = [f"⚠ {plural(session.skipped_lines, 'line')} skipped (d)"]
    elif any(each.severity is Severity.WARNING for each in session.diagnostics):
        warning = [f"⚠ {line(session.diagnostics[0].reason, 40)} (d)"]
    where: list[str] = []
    if len(bench.files) > 1 and (place := bench.place) is not None:
        where = [f"session {place + 1}/{len(bench.files)}"]
    rest = [line(session.format, 30), *counts, *warning, *where]
    full, shorter = [name, *rest], [name, rest[0], *counts[:2], *warning, *where]
    titled: list[str] = []
    if session.title not in ("", file.path.name, file.path.stem):
        title, cut = line(session.title, 100), line(session.title, TITLE_CHARS)
        titled = [
            " · ".join([name, title, *rest]),
            " · ".join([name, cut, *rest]),
            " · ".join([name, cut, *shorter[1:]]),
            " · ".join([name, cut, counts[0], *warning, *where]),
        ]
    return [
        *titled,
        " ".join(["longjudge ─", " · ".join(full)]),
        " · ".join(full),
        " · ".join(shorter),
        " · ".join([name, counts[0], *warning, *where]),
        " · ".join([name, *warning]),
    ]


def judge_label(bench: Bench) -> str:
    """Who judges; that it pauses, secrets are sent, failures are forced, where that is so."""
    sent = [] if bench.settings.redact else ["NOT REDACTED"]
    paused = ["PAUSED"] if bench.paused else []
    forced = [bench.forcing.label] if bench.forcing.fault is not None else []
    return " · ".join([line(bench.judge.label, 40), *paused, *sent, *forced])


def live_line(bench: Bench, wrong: int = 0) -> list[str]:
    """The figures of the judgment, longest first; before one, what a run would do.

    So many findings are marked `wrong`.
    """
    label = line(bench.judge.label, 40)
    run = bench.run
    if not bench.applies:
        return [f"{label} · the rubric does not apply: no tool call · nothing is asked"]
    if run is None:
        if bench.first is not None:
            return [f"{label} · only the first events are read: no plan, no price, no judgment yet"]
        if bench.outlook is None:
            return [label]
        return _before_a_run(label, bench.outlook.totals, bench)
    if run.result is None:
        return running_line(run, label, bench.time_needed(run.open_chunks))
    figures = run.figures()
    words, less = _figures(figures), _figures(figures, brief=True)
    quotes = quotes_words(figures.verified, figures.findings)
    whole = [f"{words[0]}, {quotes}" if quotes else words[0], *words[1:]]
    found = less[0]
    if wrong:
        whole[0] += f", {wrong:,} marked wrong"
        found += f", {wrong:,} wrong"
    brief = [f"{found}, {quotes}" if quotes else found, *less[1:]]
    time = clock(figures.seconds)
    return [
        " · ".join([label, *whole, time]),
        " · ".join([*whole, time]),
        " · ".join([*brief, time]),
        _proof(figures, brief, time),
        " · ".join([*whole[:4], time]),
        " · ".join([*brief[:3], time]),
        # Where there is little room: how much of it stands on evidence.
        " · ".join(brief[:3]),
        _proof(figures, less, ""),
        " · ".join([found, *words[1:4], time]),
        " · ".join([found, *words[1:3]]),
    ]


def _proof(figures: Figures, brief: list[str], time: str) -> str:
    """A result with what it cost in calls, where there is no room for everything."""
    gaps = brief[3] if figures.gaps else ""
    return " · ".join(filter(None, [*brief[:3], gaps, brief[4], time]))


def _before_a_run(label: str, totals: Totals, bench: Bench) -> list[str]:
    """What is known already, and what a run would do.

    First why none can ask, where that is so, else what is wrong with the model's name.
    """
    preview, missing_key, notice = bench.preview, bench.missing_key, bench.model_notice
    run = going_on.runs_words(bench, totals.to_ask)
    waiting, _ = bench.waits_for
    known = partial(_known, totals, preview, waiting=waiting)
    if missing_key and totals.to_ask:
        plan = known()
        another = another_model()
        to_ask = f"{totals.to_ask - waiting} to ask"
        if missing_key.endswith(IS_NOT_SET):
            word, named = "no key", []
        else:
            # What is wrong with a key that is there must be told from its absence.
            word, named = "key unusable", [f"{line(missing_key, 60)}: {another} · {to_ask}"]
        return [
            f"{line(missing_key, 60)}: {another} · {plan}",
            *named,
            f"{word}: {another} · {plan}",
            f"{word}: {another} · {to_ask}",
        ]
    if not totals.to_ask:
        plan = known(f"{command('run').shown} asks nothing")
        return [f"{label} · {plan}", plan]
    secrets, *shorter = bench.secrets.forms
    why = bench.reasons.summary
    whole = known(secrets, run)
    told = [known(secrets, run, why=why)] if why else []
    # How many secrets there are has its place before everything that stands elsewhere too.
    plans = [known(words, run) for words in shorter]
    shortest = shorter[-1] if shorter else secrets
    plans += [known(shortest, *then, brief=True) for then in ((run,), ())]
    if why:
        # So has which part of their keys is new.
        plans = [*(known(each, run, why=why) for each in shorter), *plans]
    if notice is not None:
        return [
            f"! {line(notice.text, 200)} · {whole}",
            f"! {label}: {line(notice.short, 120)} · {whole}",
            f"! {label}: {notice.word} · {whole}",
            *(f"! {label}: {notice.word} · {plan}" for plan in plans),
            *(f"! {notice.word} model · {plan}" for plan in plans),
        ]
    return [*(f"{label} · {each}" for each in told), *told, f"{label} · {whole}", whole, *plans]


def _known(
    totals: Totals,
    preview: Preview | None,
    *then: str,
    waiting: int,
    brief: bool = False,
    why: str = "",
) -> str:
    """What is kept and what there is to ask; `why` says why that is not kept.

    So many as are `waiting` for a batch are not asked again.
    """
    left = totals.to_ask - waiting
    queued = [f"{waiting} in a batch"] if waiting else []
    said, because = list(filter(None, then)), f": {why}" if why and left else ""
    equal = f" ({totals.equal} equal to another)" if totals.equal and not brief else ""
    if not totals.kept:
        plan = f"{left} of {plural(totals.chunks, 'chunk')} to ask{equal}"
        plan += because
        return " · ".join(["not judged yet", plan, *queued, *said])
    kept = f"{totals.kept} of {totals.chunks} kept{equal}"
    found = "reading verdicts…"
    if preview is not None and preview.done:
        found = findings_words(preview.counts()[0], preview.disagreements, brief=brief)
    to_ask = [f"{left} to ask{because}"] if left else []
    return " · ".join([kept, found, *to_ask, *queued, *said])


def in_the_app(error: LongjudgeError) -> str:
    """An error as it is said where keys are pressed: the way out first, since lines are cut."""
    words = str(error)
    if isinstance(error, CredentialError):
        return f"{another_model()}: {words.removesuffix(OFFLINE_ON_THE_COMMAND_LINE)}"
    return words


def in_the_library(error: LongjudgeError) -> str:
    """The same where the model is not chosen, but in a session that is opened."""
    words = str(error)
    if isinstance(error, CredentialError):
        keys = f"{command('open').shown}, then {command('choose_model').shown}"
        instead = f", or choose {OFFLINE_MODEL} ({keys})"
        return words.removesuffix(OFFLINE_ON_THE_COMMAND_LINE) + instead
    return words


def _figures(figures: Figures, *, brief: bool = False) -> list[str]:
    low, high = figures.score_range
    could = "" if brief else "could be "
    score = "no score" if figures.score is None else f"score {shown_score(figures.score)}"
    if figures.score is None or low != high:
        score += f" ({could}{shown_score(low)}-{shown_score(high)})"
    return [
        found_words(figures, brief=brief),
        score,
        f"judged {figures.judged} of {figures.chunks}",
        plural(figures.gaps, "gap"),
        calls_words(figures.calls, figures.saved, brief=brief),
        dollars(figures.cost_usd),
    ]


def status_line(bench: Bench, typing: str = "") -> list[str]:
    """What is going on, or how it ended; that nothing is kept comes before everything.

    `typing` is what is being typed into a field.
    """
    words: list[str] = []
    go_on: list[str] = []
    if bench.store_error:
        words.append(f"{how_much(bench.store_error).upper()} IS KEPT: {line(bench.store_error)}")
    if caveat := offline_caveat(bench.judge, bench.rubric):
        words.append(f"! {caveat}")
    run = bench.run
    if bench.loading is None and bench.following.words:
        words.append(bench.following.words)
    if run is not None and run.forced:
        words.append(forced_label(run.forced))
    if not bench.running and (others := bench.refusal()):
        words.append(others)
    if typing:
        words.append(f"type {typing} · enter takes it · esc leaves it")
    # Whoever opens another session did not choose it for that, and it may cost money.
    carried: tuple[str, ...] = ()
    if run is None and not (typing or bench.loading):
        carried = bench.carried.words(bench.session, bench.tuning)
        words += carried[:1]
    if run is None and not (typing or bench.problem or bench.running or bench.loading):
        waiting, which = bench.waits_for
        words += [f"{waiting:,} in a batch, not asked again: {which}"] if waiting else []
        words += short_limit_words(bench)
    if bench.remark:
        words.append(going_on.remark_words(bench))
    if bench.problem:
        words.append(f"✗ {line(bench.problem, 500)}")
    elif run is not None and run.result is not None:
        words += _ending(run.result, bench.session.name if bench.session else "", run)
        go_on = [] if typing else go_on_words(bench, run.result)
    elif bench.stopping and run is not None:
        words.append(releasing_words(run))
    elif run is not None and run.paused:
        words.append(paused_words(run))
    elif bench.running:
        words += judging_words(run, how_long(bench.judge))
    elif bench.loading is not None:
        words.append(_reading(bench))
    elif not (typing or carried) and not (bench.hint and bench.hint.words in bench.remark):
        words.append("enter opens · [ ] change the chunk size · tab goes on · ? shows the keys")
    text = " · ".join([*words, *go_on])
    variants = [f"{line(bench.judge.label, 40)} · {text}", text]
    if bench.store_error:
        # How it ended has its place beside the reason, however long that is.
        lost = how_much(bench.store_error).upper()
        nothing_kept = f"{lost} IS KEPT: {line(bench.store_error, 40)}"
        variants.append(" · ".join([nothing_kept, *go_on, *words[1:]]))
    elif go_on:
        variants += shorter(words, go_on)
        # Where the line is cut, what to do is not what is lost.
        variants.append(" · ".join([*go_on, *words]))
    if bench.running:
        # Whoever sent a batch was told how long one takes; what to do about it is not lost.
        variants.append(text.replace(f", {how_long(bench.judge)}", ""))
    variants += _briefer(text, carried)[1:2]
    if bench.hint is not None:
        variants += bench.hint.variants(*_briefer(text, carried))
    if bench.remark.startswith(SAVED) and not bench.store_error:
        # A path is of no use without its end.
        said = where_saved(bench.remark)
        longer = [each.replace(bench.remark, where) for where in said for each in variants]
        variants = [*longer, *said]
    return variants


def _briefer(text: str, carried: Sequence[str]) -> list[str]:
    """A line, with ever less of what was carried into it."""
    return [text.replace(carried[0], each) for each in carried] or [text]


def _reading(bench: Bench) -> str:
    if bench.first is None or bench.loading is None:
        return "reading the session…"
    leave = command("back")
    return f"reading, {bench.loading.percent} % · enter opens an event · {leave.shown} leaves"


def _ending(result: Result, session: str, run: Run) -> list[str]:
    """Why it ended before its time, where it did; what is still held; then the evidence."""
    status, evidence = result.status.value, line(result.evidence, 1000)
    said = evidence.startswith(status.replace("_", " "))
    error = fault(result.error, session) if result.error else ""
    early = [f"✗ {line(live_instead(error), 500)}"] if error else []
    disputed = result.disagreements
    looked = [f"{DISPUTED} rules disagree in {plural(disputed, 'part')}"] if disputed else []
    left = [left_over_words(leases)] if (leases := run.held - len(run.batches)) else []
    left += [still_out_words(run.batches)] if run.batches else []
    return [*early, *left, *looked, evidence if said else f"{status}: {evidence}"]


def alarming(bench: Bench) -> bool:
    """Whether the status line has bad news."""
    result = bench.run.result if bench.run is not None else None
    return bool(bench.store_error or bench.problem or (result is not None and result.error))


def banner(bench: Bench) -> str:
    """What every screen says: who judges, what is sent, and whether anything is kept."""
    label = judge_label(bench)
    if bench.store_error:
        lost = how_much(bench.store_error).upper()
        return f"{label} · {lost} IS KEPT: {line(bench.store_error)}"
    return label
