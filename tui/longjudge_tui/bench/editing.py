"""The rubric editor without its screen: what is checked, priced, tried, kept as a draft and saved.

It belongs to the bench, and so does what it asks for: a try goes on when the editor is closed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.paths import drafts_path
from longjudge.store import note_rubric, rubric_versions
from longjudge.text import clean_line
from longjudge_tui.bench.attempt import Attempt
from longjudge_tui.bench.drafts import any_drafts, read_drafts
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.rubric_check import EditPrice
from longjudge_tui.bench.rubric_source import BUILT_IN, source_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.store import RubricVersion, Store
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.drafts import Draft
    from longjudge_tui.bench.event_log import EventLog
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.rubric_source import RubricSource

CLOSE_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Opened:
    """What the editor begins with: where the rubric is from, its text, and what was typed before.

    `text` is that of the rubric in use; `restored` the draft that is newer, None without one.
    """

    source: RubricSource
    text: str
    drafts: tuple[Draft, ...]
    restored: Draft | None


@dataclass(frozen=True, slots=True)
class _Used:
    """An edited text that is judged by without having been saved, and where it began."""

    rubric: Rubric
    text: str
    source: RubricSource


class Editing:
    """What the editor works on; one try at a time.

    `in_mind` holds drafts by the key of their rubric that are not written, or not yet.
    """

    def __init__(self, store: Store, keys: set[str], notice: Callable[[str], None]) -> None:
        self.attempt: Attempt | None = None
        self.in_mind: dict[str, Draft] = {}
        self._store = store
        self._keys = keys
        self._notice = notice
        self._used: _Used | None = None
        self._looked = False
        self._task: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        """Where drafts are kept."""
        return drafts_path()

    @property
    def kept(self) -> int:
        """How many verdicts the store holds: what there is to ask changes with them."""
        return len(self._keys)

    def price(self, outlook: Outlook, rubric: Rubric, judge: Judge, redactor: str) -> EditPrice:
        """What judging a plan by an edited rubric would ask and cost. Blocks."""
        return EditPrice.of(outlook, rubric, judge, redactor, self._keys)

    def is_kept(self, key: str) -> bool:
        """Whether the store holds a verdict."""
        return key in self._keys

    @property
    def trying(self) -> bool:
        """Whether a chunk is being asked about."""
        return self._task is not None and not self._task.done()

    def is_as_edited(self, rubric: Rubric) -> bool:
        """Whether a rubric is one that was edited here and not saved."""
        return self._used is not None and self._used.rubric == rubric

    async def open(self, bench: Bench) -> Opened:
        """Find the text of the rubric in use, and what was typed of it and not saved."""
        rubric, used = bench.rubric, self._used
        if used is not None and used.rubric == rubric:
            source, text = used.source, used.text
        else:
            name, folders = bench.tuning.rubric_name, bench.config.rubrics
            source = await asyncio.to_thread(source_of, rubric, name, folders)
            text = source.text
        drafts = await asyncio.to_thread(read_drafts, self.folder, source.key)
        if (unwritten := self.in_mind.pop(source.key, None)) is not None:
            drafts = [unwritten, *(each for each in drafts if each.path != unwritten.path)]
        left = [each for each in drafts if not each.elsewhere]
        restored = left[0] if left and left[0].text != text else None
        return Opened(source, text, tuple(drafts), restored)

    async def left_before(self, bench: Bench) -> Draft | None:
        """What was typed of the rubric in use before longjudge was started, and not saved, once."""
        looked, self._looked = self._looked, True
        if looked or not await asyncio.to_thread(any_drafts, self.folder):
            return None
        rubric, name, folders = bench.rubric, bench.tuning.rubric_name, bench.config.rubrics
        source = await asyncio.to_thread(source_of, rubric, name, folders)
        drafts = await asyncio.to_thread(read_drafts, self.folder, source.key)
        left = [each for each in drafts if not each.elsewhere and not each.here]
        return left[0] if left and left[0].text != source.text else None

    def use(self, bench: Bench, rubric: Rubric, text: str, source: RubricSource) -> None:
        """Judge by an edited rubric from the next run on.

        Raises:
            LongjudgeError: the judge cannot answer it, or not now.
        """
        if rubric != bench.rubric:
            bench.tuning.use_rubric(rubric)
        if text == source.text and (source.path is not None or source.origin == BUILT_IN):
            self._used = None
            bench.tuning.rubric_name = str(source.path or rubric.name)
        else:
            self._used = _Used(rubric, text, source)
            bench.tuning.rubric_name = f"{rubric.name} as edited"

    def saved(self, bench: Bench, rubric: Rubric, path: Path) -> None:
        """What is in use is what a file holds by now."""
        if bench.rubric == rubric:
            self._used = None
            bench.tuning.rubric_name = str(path)

    async def versions(self, name: str) -> list[RubricVersion]:
        """What was judged by, tried or saved under a name; empty where the store gives nothing."""
        try:
            return await rubric_versions(self._store, name)
        except StoreError as error:
            self._notice(clean_line(str(error), 500))
            return []

    async def note(self, rubric: Rubric, text: str) -> None:
        """Keep a text among the versions."""
        try:
            await note_rubric(self._store, rubric, text)
        except StoreError as error:
            self._notice(f"this version is not kept: {clean_line(str(error), 400)}")

    def try_on(self, bench: Bench, rubric: Rubric, position: int, key: str) -> str:
        """Ask about one chunk; why not, in words, empty where it is being asked.

        Raises:
            LongjudgeError: the judge cannot answer the rubric.
        """
        if self.trying:
            return "a chunk is being tried already"
        if bench.session is None:
            return "the session is still being read"
        if bench.missing_key and key not in self._keys:
            return f"nobody can be asked: {bench.missing_key}"
        self.attempt = Attempt(
            bench.session,
            position,
            key,
            rubric=rubric,
            judge=bench.judge,
            store=self._store,
            settings=bench.settings,
            fault=bench.forcing.for_a_run(),
        )
        self._task = asyncio.create_task(self._try(self.attempt, bench.log))
        return ""

    async def _try(self, attempt: Attempt, log: EventLog) -> None:
        await attempt.run()
        log.add(LogKind.RUN, f"a try of the rubric: {attempt.words}")
        if attempt.kept:
            self._keys.add(attempt.key)

    def cancel(self) -> None:
        """End the try in flight; safe to call again."""
        if self.attempt is not None and self.trying:
            self.attempt.cancel()

    def in_the_way(self, notices: list[str]) -> bool:
        """Whether the session must stay as it is, and is said to."""
        if self.trying:
            notices.append("a chunk is being tried: wait for it, or cancel it in the rubric editor")
        return self.trying

    def raise_failure(self) -> None:
        """Raise what a try died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    def stop(self) -> set[asyncio.Task[None]]:
        """End the try, and return what to wait for."""
        self.cancel()
        return set() if self._task is None else {self._task}
