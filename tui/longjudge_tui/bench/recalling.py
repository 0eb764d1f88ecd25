"""Brings a judgment of the past back: what it went by is set, and it stands as it ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.history import Entry, of_one_session
from longjudge.prices import OFFLINE_MODEL, Usage, cost_usd
from longjudge.rubric import known_rubrics
from longjudge.settings import DEFAULT_MODEL
from longjudge.store import real_path, rubric_of_version
from longjudge.store.past_pages import pages_of_session, whole_judgment
from longjudge.text import clean_line
from longjudge_tui.bench.begun import broken_off
from longjudge_tui.bench.carried import Carried, ways_of
from longjudge_tui.bench.held_batches import HeldBatches
from longjudge_tui.bench.recalled_run import RecalledRun
from longjudge_tui.wording import moment, plural

if TYPE_CHECKING:
    from longjudge.rubric import Rubric
    from longjudge.settings import Settings
    from longjudge.store import PastJudgment
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.trials import Wanted


class Recalling(HeldBatches):
    """The part of the bench that shows judgments of the past.

    `carried` is what that set, for the sessions that are opened later.
    """

    def __init__(self) -> None:
        super().__init__()
        self.carried = Carried()

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
        before = ways_of(self.tuning)
        self._go_by(entry, settings, rubric or self.rubric)
        self.carried.note(self.session, before, self.tuning)
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
        self.cut_off = f"run of {moment(entry.created)}: ended by force, what it judged is kept"
        self._remark(self.cut_off)

    async def _stand_again(self, entry: Entry, past: PastJudgment, outlook: Outlook) -> None:
        run = await self._restored(past, outlook)
        if run is None or self.running:
            # Who goes on working meanwhile has no use for it any more.
            return
        changes = changes_since(run, entry)
        self._show(run, " · ".join([_head(entry), *changes]))
        if changes:
            self.notices.append(self.remark)

    async def _restored(self, past: PastJudgment, outlook: Outlook) -> RecalledRun | None:
        """A judgment as it ended; None where another plan stands by then."""
        session = self.session
        if session is None:
            return None
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
        if self.session is not session or _other(self.outlook, outlook):
            return None
        return run

    def _show(self, run: RecalledRun, remark: str) -> None:
        self._stock.show_nothing()
        self.run, self.problem, self.remark = run, "", remark
        self.generation += 1

    async def _judge(self, wanted: Wanted) -> None:
        if not await self._stands_recorded(wanted):
            await super()._judge(wanted)

    async def _stands_recorded(self, wanted: Wanted) -> bool:
        """Show the judgment that has every verdict already, where one of these is recorded.

        That is done where the newest one was cut off under other settings: a new one, that asks
        nothing, would take its place, and what it left would be forgotten.
        """
        outlook = self.outlook
        plain = not (wanted.only or wanted.short or self.forcing.fault is not None)
        if not plain or not self.applies or outlook is None or outlook.totals.to_ask:
            return False
        try:
            entry = await self._recorded()
            past = await whole_judgment(self.store, entry.id) if entry is not None else None
            run = await self._restored(past, outlook) if past is not None else None
        except StoreError:
            # A judgment meets the same fault, and says it.
            return False
        if entry is None or run is None or changes_since(run, entry):
            return False
        said = f"{_head(entry)}: all of it is kept, nothing is asked or recorded anew"
        hint = self.hint.words if self.hint is not None and self.hint.words in self.remark else ""
        self._show(run, " · ".join(filter(None, [hint, said])))
        return True

    async def _recorded(self) -> Entry | None:
        """The newest whole judgment by what stands, behind one that left something otherwise."""
        session = self.session
        if session is None:
            return None
        path = real_path(session.path)
        found = [
            each for each in await broken_off(self.store) if each.session == (path, session.id)
        ]
        async for page in pages_of_session(self.store, path, session.id):
            found += of_one_session((Entry.of(each, {}) for each in page), path, session.id)
        entries = sorted(found, key=lambda each: -each.created)
        newest = entries[0] if entries else None
        if newest is None or newest.complete or self._is_by_what_stands(newest):
            return None
        whole = (each for each in entries if each.complete and not each.fault)
        return next(filter(self._is_by_what_stands, whole), None)

    def _is_by_what_stands(self, entry: Entry) -> bool:
        setting, settings = entry.setting, self.settings
        tokens = settings.chunk_tokens
        size = (settings.chunk_chars, "chars") if tokens is None else (tokens, "tokens")
        by = (self.rubric.version, self.judge.model, settings.redact, size)
        cut = (setting.size, setting.unit) if setting is not None else None
        return by == (entry.version, entry.model, entry.redacted, cut)

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
