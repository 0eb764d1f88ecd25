"""Brings a judgment of the past back: what it went by is set, and it stands as it ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from longjudge.prices import OFFLINE_MODEL, Usage, cost_usd
from longjudge.rubric import known_rubrics
from longjudge.settings import DEFAULT_MODEL
from longjudge.store import rubric_of_version
from longjudge.store.past_pages import whole_judgment
from longjudge.text import clean_line
from longjudge_tui.bench.going_on import rest_words
from longjudge_tui.bench.recalled_run import RecalledRun
from longjudge_tui.bench.trials import Trials
from longjudge_tui.wording import moment, plural

if TYPE_CHECKING:
    from longjudge.config import Configuration
    from longjudge.history import Entry
    from longjudge.rubric import Rubric
    from longjudge.settings import Settings
    from longjudge.store import PastJudgment
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.tuning import Tuning


class Recalling(Trials):
    """The part of the bench that shows judgments of the past."""

    config: Configuration
    tuning: Tuning

    async def recall(self, entry: Entry) -> None:
        """Have a judgment of the open session stand again; says what could not be as it was.

        Raises:
            LongjudgeError: the store cannot be read, what it was cut or asked by cannot be used
                here, or a judgment is in flight; then nothing was changed.
        """
        past = await whole_judgment(self.store, entry.id)
        rubric = await self._rubric_of(entry)
        settings = settings_of(entry, self.settings)
        # The price table is imported here, in a thread, and not by the first frame.
        await asyncio.to_thread(cost_usd, DEFAULT_MODEL, Usage())
        self._go_by(entry, settings, rubric or self.rubric)
        outlook = self.outlook
        if rubric is not None and not entry.recorded:
            self._show_kept(entry)
            return
        if rubric is None or past is None or outlook is None or not entry.applies:
            self._remark(" · ".join([_head(entry), *_why_not(entry, rubric, past)]))
            return
        self.remark = said = f"{_head(entry)}: bringing it back…"
        try:
            await self._stand_again(entry, past, outlook)
        finally:
            if self.remark == said:
                self.remark = ""

    def _show_kept(self, entry: Entry) -> None:
        """Of a run that was ended by force there is what the store keeps, and no more."""
        if self.run is not None and self.run.result is None:
            return
        words = f"run of {moment(entry.created)}: ended by force, what it judged is kept"
        self._remark(f"{words} · {rest_words(cast('Bench', self))}")

    async def _stand_again(self, entry: Entry, past: PastJudgment, outlook: Outlook) -> None:
        session = self.session
        if session is None:
            return
        # In a thread: a very long plan has very many records.
        run = await asyncio.to_thread(
            RecalledRun,
            session,
            outlook,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=self.settings,
            kept=self._stock.keys,
        )
        await run.restore(past, self.rubric, self.store)
        if self.running or self.session is not session or _other(self.outlook, outlook):
            # Who goes on working meanwhile has no use for it any more.
            return
        self._stock.show_nothing()
        self.run, self.problem = run, ""
        self.generation += 1
        changes = changes_since(run, entry)
        self.remark = " · ".join([_head(entry), *changes])
        if changes:
            self.notices.append(self.remark)

    async def _rubric_of(self, entry: Entry) -> Rubric | None:
        """The rubric of that version, as it is known by name, or as the store has it."""
        if self.rubric.version == entry.version:
            return self.rubric
        known = await asyncio.to_thread(known_rubrics, self.config.rubrics)
        for each in known.rubrics:
            if each.rubric.version == entry.version:
                return each.rubric
        return await rubric_of_version(self.store, entry.version)

    def _go_by(self, entry: Entry, settings: Settings, rubric: Rubric) -> None:
        """Set it; of several ways to one model, the one whose verdicts are kept."""
        ways = list(dict.fromkeys(self._names_of(entry.model)))
        best, most = ways[0], -1
        for name in ways:
            self.tuning.use_all(settings, name, rubric)
            kept = self.outlook.totals.kept if self.outlook is not None else 0
            if kept > most:
                best, most = name, kept
            if kept >= entry.judged:
                break
        if self.tuning.model_name != best:
            self.tuning.use_all(settings, best, rubric)

    def _names_of(self, model: str) -> list[str]:
        standing = [self.tuning.model_name] if self.judge.model == model else []
        if model == OFFLINE_MODEL:
            return standing or [model]
        profiles = [name for name, each in self.config.profiles.items() if each.model == model]
        return [*standing, model, *profiles]


def settings_of(entry: Entry, standing: Settings) -> Settings:
    """The settings with the chunks and the redaction of a judgment.

    Raises:
        UsageError: its chunk size is none that can be used.
    """
    setting = entry.setting
    changed = replace(standing, redact=entry.redacted)
    if setting is None:
        return changed
    if setting.unit == "tokens":
        return replace(changed, chunk_tokens=setting.size)
    return replace(changed, chunk_tokens=None, chunk_chars=setting.size)


def changes_since(run: RecalledRun, entry: Entry) -> list[str]:
    """What is not as it was when the judgment ended."""
    words: list[str] = []
    more = len(run.outlook.plan) - entry.chunks
    if entry.setting is None:
        words.append("its chunk size is not recorded: shown as far as it fits the one that stands")
    elif run.moved and run.grown:
        words.append(f"the session has grown: {plural(run.moved, 'part')} of it cut otherwise now")
    elif run.moved:
        words.append(f"the session is another one by now: {plural(run.moved, 'part')} not shown")
    if more > 0 and entry.setting is not None:
        words.append(f"{plural(more, 'part')} more since")
    if run.lost:
        why = "deleted since, of another endpoint, or about another text"
        words.append(f"{plural(run.lost, 'verdict')} of it not found: {why}")
    if run.renewed:
        words.append(f"{plural(run.renewed, 'part')} judged otherwise since: the newest is shown")
    found = run.counts()[0]
    if found != entry.findings and not words:
        words.append(f"{plural(entry.findings, 'finding')} then: a part was asked anew since")
    return words


def _other(one: Outlook | None, other: Outlook) -> bool:
    """Whether another plan stands by now; what is kept of it may have grown."""
    return one is None or one.plan is not other.plan or one.keys is not other.keys


def _head(entry: Entry) -> str:
    return f"judgment of {moment(entry.created)}"


def _why_not(entry: Entry, rubric: Rubric | None, past: PastJudgment | None) -> list[str]:
    """Why it does not stand again, though what it went by is set, as far as that can be."""
    if past is None:
        return ["it does not read any more"]
    if rubric is None:
        name, version = clean_line(entry.rubric, 60), clean_line(entry.version, 20)
        return [
            f"the text of rubric {name} {version} is not kept here: its verdicts cannot be shown;"
            " model and chunks are set"
        ]
    return [clean_line(entry.status.replace("_", " "), 30)]
