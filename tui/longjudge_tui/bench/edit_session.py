"""One rubric that is being edited: its text, what it is worth, and where it goes.

It knows no widget. The screen tells it what was typed and calls `follow` about ten times a second;
whatever takes longer than a frame runs beside the event loop, and what was overtaken is dropped.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError, RubricError, UsageError
from longjudge.rubric import check_rubric_text
from longjudge.rubric_toml import rubric_toml
from longjudge.text import clean
from longjudge_tui.bench.drafts import Draft, DraftKeeper, text_mark
from longjudge_tui.bench.prompt_text import FullText, prompt_text
from longjudge_tui.bench.rubric_check import Checked, EditPrice, check_text
from longjudge_tui.bench.rubric_source import RubricSource, editable, save_text
from longjudge_tui.chores import Chores
from longjudge_tui.commands import command
from longjudge_tui.wording import line, moment, plural

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.rubric import Rubric
    from longjudge.store import RubricVersion
    from longjudge_tui.bench.attempt import Attempt
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.editing import Opened

PAUSE_SECONDS = 0.25
"""So long nothing is typed until the text is checked."""

LATEST_SECONDS = 1.0
"""After so long it is checked although something is."""


@dataclass(frozen=True, slots=True)
class Past:
    """A text that can be compared and taken back: what it is, and its version where it has one."""

    name: str
    text: str
    version: str
    facts: str


class EditSession:
    """The text in the editor. `position` is the chunk beside it, from 0; `said` what to tell.

    `checked` is about the text it holds, which may be older than `text`.
    """

    def __init__(self, bench: Bench, opened: Opened, position: int) -> None:
        self.bench = bench
        self.source = opened.source
        self.in_use = opened.text
        self.position = position
        self.checked: Checked | None = None
        self.price: EditPrice | None = None
        self.prompt: FullText | None = None
        self.prompt_at = position
        self.past: tuple[Past, ...] = ()
        self.said: list[str] = []
        self.text = opened.restored.text if opened.restored is not None else opened.text
        self._drafts = opened.drafts
        self._chores = Chores()
        self._keeper = self._keeper_of(self.source)
        self._keepers: list[DraftKeeper] = []
        self._names: set[str] = set()
        self._typed = self._unchecked_since = 0.0
        self._checked_by: object = None
        self._checking = self._pricing = False
        self._tried: Attempt | None = None
        # Until the text is one, and a draft may never have been, what is in use stands for it.
        self._rubric = bench.rubric
        self._price_of: object = None
        self._prompt_of: object = None
        self._say_what_was_opened(opened)
        for draft in opened.drafts:
            if not draft.elsewhere and draft.text == self.text:
                self._keeper.take_over(draft)
        self._chores.start(self._read_past())

    def _say_what_was_opened(self, opened: Opened) -> None:
        if self.source.notice:
            self.said.append(self.source.notice)
        if opened.restored is not None:
            when = moment(opened.restored.written)
            said = f"restored: the draft of {when}, which was not saved"
            if opened.restored.over not in ("", text_mark(self.source.text)):
                # Saving it would put it over what somebody else has written there.
                said += f"; {self.source.origin_words} has changed since, and is among the versions"
            pane = command("next_pane").bar_key
            said += (
                f" ({pane} {pane} shows the versions, enter takes the first back: as it is saved)"
            )
            self.said.append(said)
        elsewhere = [each for each in self._drafts if each.elsewhere]
        if elsewhere:
            when = moment(elsewhere[0].written)
            self.said.append(
                f"another window edits this rubric too (typed {when}): its text is among the"
                " versions, and neither overwrites the other"
            )

    def _keeper_of(self, source: RubricSource) -> DraftKeeper:
        folder, over = self.bench.editing.folder, text_mark(source.text)
        return DraftKeeper(folder, source.key, source.name, over)

    @property
    def rubric(self) -> Rubric:
        """The last rubric that the text was: price and prompt stay its own while it is none."""
        return self._rubric

    @property
    def is_checked(self) -> bool:
        """Whether what is said of the text is said of all of it."""
        return self.checked is not None and self.checked.text == self.text

    @property
    def unsaved(self) -> bool:
        """Whether the text is another one than where it is from."""
        return self.text != self.source.text

    @property
    def parts(self) -> int:
        """How many chunks there are to look at."""
        return len(self.bench.outlook.plan) if self.bench.outlook is not None else 0

    @property
    def draft_problem(self) -> str:
        """Why no draft is kept, in words; empty while one is."""
        return self._keeper.problem

    def type(self, text: str) -> None:
        """Take what the editor holds now."""
        if text == self.text:
            return
        self.text, self._typed = text, time.monotonic()
        if not self._unchecked_since:
            self._unchecked_since = self._typed

    def look_at(self, position: int) -> None:
        """Look at another chunk."""
        self.position = max(0, min(position, self.parts - 1))

    def follow(self) -> None:
        """Begin what is due: a draft, a check, a price, a prompt."""
        self._chores.raise_failure()
        self._keeper.raise_failure()
        self._keeper.follow(self.text if self.unsaved else None)
        for saved in self._keepers:
            saved.follow(None)
        if self.bench.editing.attempt is not self._tried:
            # What is tried is a version from that moment on.
            self._tried = self.bench.editing.attempt
            self.read_past()
        if self._check_is_due():
            self._chores.start(self._check())
        rubric, outlook = self.rubric, self.bench.outlook
        if outlook is None:
            return
        # A judgment may keep verdicts all the time.
        counted = 0 if self.bench.running else self.bench.editing.kept
        price_of = (outlook.plan, rubric.version, self.bench.judge, counted)
        if not self._pricing and self._price_of != price_of:
            self._chores.start(self._estimate(rubric, price_of))
        secrets = self.bench.secrets.words
        prompt_of = (outlook.plan, rubric.version, self.position, self.bench.judge, secrets)
        if self._prompt_of != prompt_of:
            self._prompt_of = prompt_of
            self._chores.start(self._build_prompt(rubric, prompt_of))

    def _check_is_due(self) -> bool:
        if self._checking or (self.is_checked and self._checked_by is self.bench.judge):
            return False
        now = time.monotonic()
        waited = now - self._typed >= PAUSE_SECONDS
        return waited or now - self._unchecked_since >= LATEST_SECONDS

    async def _check(self) -> None:
        self._checking = True
        try:
            await self._check_once()
        finally:
            self._checking = False

    async def check_now(self) -> Checked:
        """What the text is, all of it."""
        while not self.is_checked or self.checked is None:
            await self._check_once()
        return self.checked

    async def _check_once(self) -> None:
        text, judge, path = self.text, self.bench.judge, self.source.path
        checked = await asyncio.to_thread(check_text, text, judge, path)
        self.checked, self._checked_by, self._unchecked_since = checked, judge, 0.0
        self._rubric = checked.rubric or self._rubric

    async def _estimate(self, rubric: Rubric, price_of: object) -> None:
        self._pricing = True
        try:
            bench, outlook = self.bench, self.bench.outlook
            if outlook is not None:
                self.price = await asyncio.to_thread(
                    bench.editing.price, outlook, rubric, bench.judge, bench.settings.redactor
                )
                self._price_of = price_of
        finally:
            self._pricing = False

    async def _build_prompt(self, rubric: Rubric, prompt_of: object) -> None:
        position = self.position
        prompt = await prompt_text(self.bench, position, rubric)
        if self._prompt_of == prompt_of:
            self.prompt, self.prompt_at = prompt, position

    async def _read_past(self) -> None:
        """What can be taken back: the text as it stands, other windows', and every version."""
        source = self.source
        # One that was named anew has its versions under both names.
        self._names |= {source.name, self.rubric.name}
        found = [await self.bench.editing.versions(name) for name in sorted(self._names)]
        versions = sorted(
            (each for some in found for each in some), key=lambda each: -each.last_used
        )
        standing, _ = await asyncio.to_thread(check_rubric_text, source.text, "standing")
        version = standing.version if standing is not None else ""
        rows = [Past(source.name, source.text, version, f"as it is: {source.origin_words}")]
        rows += [
            Past(source.name, each.text, "", f"typed {moment(each.written)}, {_whose(each)}")
            for each in self._drafts
            if each.elsewhere or each.text != self.text
        ]
        texts = await asyncio.to_thread(lambda: [_safe(each) for each in versions])
        rows += [
            Past(each.name, text, each.version, _facts(each))
            for each, text in zip(versions, texts, strict=True)
        ]
        self.past = tuple(rows)

    def read_past(self) -> None:
        """Read the versions again, in the background."""
        self._chores.start(self._read_past())

    async def give_up(self, restored: Past) -> None:
        """Keep what is in the editor among the versions, since another text takes its place."""
        checked = await self.check_now()
        if checked.rubric is not None and self.unsaved and self.text != restored.text:
            await self.bench.editing.note(checked.rubric, self.text)
            await self._read_past()

    async def use(self) -> str:
        """Judge by the text from the next run on; what to say of it.

        Raises:
            LongjudgeError: it is no rubric, the judge cannot answer it, or not now.
        """
        rubric = await self._valid("used")
        self.bench.editing.use(self.bench, rubric, self.text, self.source)
        await self.bench.editing.note(rubric, self.text)
        self.in_use = self.text
        where = f" ({self.source.origin_words})" if not self.unsaved else ", not saved to a file"
        return f"judges by {rubric.name} {rubric.version} from the next run on{where}"

    async def save(self, path: Path | None = None) -> str:
        """Put the text into its file, or into a new one at `path`; what to say of it.

        Raises:
            LongjudgeError: it is no rubric, or the file cannot be written, or has changed.
        """
        rubric, text = await self._valid("saved"), self.text
        target = path or self.source.path
        if target is None:
            raise UsageError("it has no file yet: name one")
        stood = self.source.stood if target == self.source.path else None
        if stood is not None:
            await self._note_what_stood()
            if path is not None and not await asyncio.to_thread(os.path.lexists, target):
                # Somebody has removed it, and it was named anew: nothing of it is overwritten.
                stood = None
        stood = await asyncio.to_thread(save_text, target, text, stood)
        source = RubricSource(rubric.name, str(target), text, target, stood)
        if source.key != self.source.key:
            self._keeper.follow(None)
            self._keepers.append(self._keeper)
            self._keeper = self._keeper_of(source)
        self._keeper.over = text_mark(text)
        self.source = source
        self.bench.editing.saved(self.bench, rubric, target)
        await self.bench.editing.note(rubric, text)
        await self._read_past()
        said = f"saved: {line(str(target), 200)}"
        if path is not None and self.bench.rubric != rubric:
            said += "; ctrl+r judges by it now, longjudge --rubric FILE another time"
        return said

    async def _note_what_stood(self) -> None:
        """Keep what the file holds among the versions, since nobody may have judged by it."""
        text = self.source.text
        rubric, _ = await asyncio.to_thread(check_rubric_text, text, "stood")
        if rubric is not None and text != self.text:
            await self.bench.editing.note(rubric, text)

    async def _valid(self, to_be: str) -> Rubric:
        checked = await self.check_now()
        if checked.rubric is None:
            faults = plural(checked.wrong, "fault")
            kept = "" if self.draft_problem else "; the draft is kept"
            raise RubricError(f"it has {faults} and cannot be {to_be}{kept}")
        return checked.rubric

    async def try_on(self) -> str:
        """Ask about the chunk; why not, in words, empty where it is being asked."""
        position = self.position
        try:
            rubric, text = await self._valid("tried"), self.text
            if self.checked is not None and self.checked.refusal:
                return self.checked.refusal
            outlook = self.bench.outlook
            if outlook is None or not self.parts:
                return "the session is still being read"
            price = await asyncio.to_thread(
                self.bench.editing.price,
                outlook,
                rubric,
                self.bench.judge,
                self.bench.settings.redactor,
            )
            if self.bench.outlook is not outlook or position >= len(price.keys):
                return "the session has been read again meanwhile: try once more"
            key = price.keys[position]
            said = self.bench.editing.try_on(self.bench, rubric, position, key)
        except LongjudgeError as error:
            return line(str(error), 500)
        if not said:
            # A store that is busy holds no question up.
            self._chores.start(self._note_tried(rubric, text))
        return said

    async def _note_tried(self, rubric: Rubric, text: str) -> None:
        await self.bench.editing.note(rubric, text)
        await self._read_past()

    async def aclose(self) -> None:
        """Write the draft, and end what is still being found out."""
        mind, keeper, key = self.bench.editing.in_mind, self._keeper, self.source.key
        if self.unsaved:
            # For whoever opens it again before it is written, or where it cannot be.
            mind[key] = Draft(keeper.path, self.text, time.time(), False, keeper.over)
        for saved in self._keepers:
            await saved.flush()
        keeper.follow(self.text if self.unsaved else None)
        await keeper.flush()
        if keeper.is_written and key in mind and mind[key].path == keeper.path:
            del mind[key]
        await self._chores.end()


def _whose(draft: Draft) -> str:
    return "in another window" if draft.elsewhere else "not saved"


def _safe(version: RubricVersion) -> str:
    """The text of a version as an editor may hold it."""
    text = editable(version.toml)
    if clean(text) == text:
        return text
    rubric, _ = check_rubric_text(text, version.name)
    return rubric_toml(rubric) if rubric is not None else clean(text)


def _facts(version: RubricVersion) -> str:
    judged = "no judgment yet"
    if version.judgments:
        sessions, judgments = plural(version.sessions, "session"), version.judgments
        judged = f"{sessions} in {plural(judgments, 'judgment')}"
    return f"{moment(version.last_used)} · {judged}"
