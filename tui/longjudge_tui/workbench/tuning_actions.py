"""What the workbench does with a run: what it goes by, its begin and end, one chunk of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from longjudge.errors import UsageError
from longjudge.prices import Usage, cost_usd
from longjudge.rubric import known_rubrics, load_rubric
from longjudge.settings import DEFAULT_MODEL
from longjudge_tui.bench.live import banner
from longjudge_tui.bench.prompt_text import FullText, prompt_text
from longjudge_tui.commands import command
from longjudge_tui.held.holds_list import HoldsList
from longjudge_tui.widgets.asking import ask
from longjudge_tui.widgets.dialogs import ConfirmDialog
from longjudge_tui.wording import line, moment
from longjudge_tui.workbench.choices import (
    ChoiceDialog,
    Offer,
    cost_column,
    model_choices,
    rubric_choices,
)
from longjudge_tui.workbench.chunk_list import ChunkList
from longjudge_tui.workbench.full_text import reply_text
from longjudge_tui.workbench.oddities import oddities_text
from longjudge_tui.workbench.size_slider import SizeSlider
from longjudge_tui.workbench.text_screen import TextScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import App

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.chores import Chores
    from longjudge_tui.clipboard import Clipboard
    from longjudge_tui.workbench.settings_panel import SettingsPanel

SHORT_LIMIT = 0.5


class TuningActions(Screen[None]):
    """The part of the workbench that tunes and runs; its widgets are the workbench's own."""

    bench: Bench
    chunks: ChunkList
    settings: SettingsPanel
    _clipboard: Clipboard
    _chores: Chores

    def on_mount(self) -> None:
        """Say what was left unsaved."""
        self._chores.start(self._say_what_waits())

    async def _say_what_waits(self) -> None:
        draft = await self.bench.editing.left_before(self.bench)
        if draft is not None:
            key, typed = command("edit_rubric").bar_key, moment(draft.written)
            said = f"an edit of the rubric waits in {key}: typed {typed}, not saved, not in use"
            self.notify(said, markup=False)

    @property
    def _host(self) -> App[object]:
        return self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    @property
    def part_meant(self) -> int:
        """The chunk that a key is about."""
        raise NotImplementedError

    def tick(self) -> None:
        """Paint what changed."""
        raise NotImplementedError

    def tick_of_drag(self) -> None:
        """Paint what follows the mouse."""
        raise NotImplementedError

    def leave_field(self) -> bool:
        """Take what is typed in a field; False where it was refused."""
        raise NotImplementedError

    def action_smaller(self) -> None:
        """Smaller chunks."""
        self._tune(lambda: self.bench.tuning.step_size(-1))

    def action_larger(self) -> None:
        """Larger chunks."""
        self._tune(lambda: self.bench.tuning.step_size(1))

    def action_fit_size(self) -> None:
        """Use the chunk size that is offered where parts were too large."""
        fit = self.bench.fit
        if fit is None:
            self.notify("no part was too large", markup=False)
            return
        self._tune(lambda: self.bench.tuning.set_size(fit.size))
        unit, runs = self.bench.tuning.unit.value, command("run").shown
        self.notify(f"chunks of {fit.size:,} {unit}: {runs} asks", markup=False)

    def action_switch_unit(self) -> None:
        """Cut by the other unit."""
        self._tune(self.bench.tuning.switch_unit)

    def action_edit_size(self) -> None:
        """Type a chunk size."""
        self.settings.edit("size")

    def action_edit_limit(self) -> None:
        """Type a time limit."""
        self.settings.edit("limit")

    def action_edit_concurrency(self) -> None:
        """Type how many calls are in flight."""
        self.settings.edit("flight")

    @on(SizeSlider.Moved)
    def slider_moved(self, event: SizeSlider.Moved) -> None:
        """The slider was dragged, and the plan with its price follows on the next frame."""
        self._tune(lambda: self.bench.tuning.set_size(event.size), self.tick_of_drag)

    @on(SizeSlider.Turned)
    def slider_turned(self, event: SizeSlider.Turned) -> None:
        """The wheel was turned."""
        self._tune(lambda: self.bench.tuning.step_size(event.direction))

    def _tune(self, change: Callable[[], None], paint: Callable[[], None] | None = None) -> None:
        try:
            change()
        except UsageError as error:
            self.notify(line(str(error), 200), markup=False)
        (paint or self.tick)()

    def action_choose_model(self) -> None:
        """Choose the model."""
        if self._may_choose():
            self._offer_models()

    def _offer_models(self) -> None:
        bench = self.bench
        title = "MODEL · what judging this session would cost, cheapest first"
        offer = Offer(title, "a model's name", banner(bench))
        choices = model_choices(bench.config, bench.tuning.model_name)
        costs = bench.costs([each.name for each in choices])
        if costs is None:
            self._host.push_screen(ChoiceDialog(offer, choices, self._use_model), self._chosen)
            return
        self._chores.start(costs.fill())

        def closed(changed: bool | None) -> None:
            costs.stop()
            self._chosen(changed)

        column = cost_column(costs, bench.observed_of, applies=bench.applies)
        dialog = ChoiceDialog(offer, choices, self._use_model, column)
        self._host.push_screen(dialog, closed)

    async def _use_model(self, name: str) -> None:
        # The price table is imported here, in a thread, and not by the first frame.
        await asyncio.to_thread(cost_usd, DEFAULT_MODEL, Usage())
        self.bench.tuning.use_model(name)
        if notice := self.bench.model_notice:
            self.notify(line(notice.text, 200), severity="warning", markup=False)

    def action_choose_rubric(self) -> None:
        """Choose the rubric."""
        if self._may_choose():
            self._chores.start(self._offer_rubrics())

    async def _offer_rubrics(self) -> None:
        known = await asyncio.to_thread(known_rubrics, self.bench.config.rubrics)
        offer = Offer(
            "RUBRIC · another version asks everything again",
            "the path of a TOML file",
            banner(self.bench),
            (*known.faults, *known.clashes()),
        )
        choices = rubric_choices(known, self.bench.rubric, self.bench.tuning.rubric_name)
        self._host.push_screen(ChoiceDialog(offer, choices, self._use_rubric), self._chosen)

    def action_edit_rubric(self) -> None:
        """Edit the rubric beside the chunk under the cursor."""
        # Textual's text area takes as long to load as all else: not before it is wanted.
        from longjudge_tui.editor.screen import RubricEditor

        self.leave_field()
        bench = self.bench
        editor = RubricEditor(bench, lambda: banner(bench), self.chunks.position)
        self._host.push_screen(editor, lambda _: self.tick())

    def _chosen(self, changed: bool | None) -> None:
        if changed:
            self.tick()

    async def _use_rubric(self, name: str) -> None:
        if name == self.bench.tuning.rubric_name and self.bench.editing.is_as_edited(
            self.bench.rubric
        ):
            # It stands in no place that it could be read from again.
            return
        rubric = await asyncio.to_thread(load_rubric, name, self.bench.config.rubrics)
        self.bench.tuning.use_rubric(rubric)
        self.bench.tuning.rubric_name = name

    def _may_choose(self) -> bool:
        self.leave_field()
        if self.bench.running:
            self.notify("a judgment is in flight: cancel it (x) first", markup=False)
        return not self.bench.running

    def action_failure_lab(self) -> None:
        """Pick a failure to force."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.lab.opening import failure_lab

        self.leave_field()
        self._host.push_screen(failure_lab(self.bench, self.part_meant), self._chosen)

    def action_show_prompt(self) -> None:
        """Show what is sent about the chunk."""
        self._show_text(prompt_text)

    def action_show_reply(self) -> None:
        """Show what came back about the chunk."""
        self._show_text(reply_text)

    def _show_text(self, read: Callable[[Bench, int], Awaitable[FullText]]) -> None:
        self.leave_field()
        bench, position = self.bench, self.part_meant
        if bench.outlook is None or position >= len(bench.outlook.plan):
            self.notify("no chunk is under the cursor", markup=False)
            return
        self._open_text(lambda bench: read(bench, position))

    def _open_text(self, read: Callable[[Bench], Awaitable[FullText]]) -> None:
        bench, copy = self.bench, self._clipboard.copy
        self._host.push_screen(
            TextScreen(banner(bench), lambda: read(bench), lambda text: copy(self._host, text))
        )

    def action_show_oddities(self) -> None:
        """Show what was odd in the file."""
        self.leave_field()
        self._open_text(oddities_text)

    def action_run(self) -> None:
        """Judge what is not kept."""
        self.bench.start()

    def action_batch(self) -> None:
        """Put what is to be asked into a batch, or take it out again, once that is agreed to."""
        self.leave_field()
        ask(self, self.bench.offer_batch(), banner(self.bench), self.tick)
        self.tick()

    def action_run_short(self) -> None:
        """Judge with a limit of half a second."""
        self.bench.start(SHORT_LIMIT)

    def action_cancel_run(self) -> None:
        """Cancel the judgment."""
        self.bench.cancel()

    def action_pause(self) -> None:
        """Pause the judgment, or let it go on."""
        self.bench.pause_or_go_on()
        self.tick()

    def action_follow(self) -> None:
        """Go to the chunk that was asked about last, and keep those in flight in sight."""
        run = self.bench.run
        if run is None or not self.bench.running:
            self.notify("nothing is being judged", markup=False)
            return
        newest = run.newest
        if newest is not None:
            self.chunks.lead_to(newest)
        self.chunks.following = True
        self.set_focus(self.chunks)

    def action_cancel_part(self) -> None:
        """Cancel the chunk under the cursor; where a run has led away from it, its newest.

        Among the holds it is the batch under the cursor that is cancelled.
        """
        if isinstance(self.focused, HoldsList):
            ask(self, self.bench.offer_cancel(self.focused.here), banner(self.bench), self.tick)
            self.tick()
            return
        chunks = self.chunks
        seen = chunks.is_on_screen and chunks.cursor_in_sight
        led_to = self._led_to(seen=seen)
        if led_to is None and self._on_thread():
            return
        position = chunks.position if led_to is None else led_to
        leading = chunks.following and chunks.leading
        if self.bench.cancel_part(position) and (leading or not seen):
            # The cursor goes on, or was elsewhere: the row says so, but nobody looks at it.
            self.notify(f"part {position + 1} cancelled", markup=False)
        if led_to is not None:
            chunks.show_led(led_to)
        elif not leading:
            chunks.stay()
        self.tick()

    def _led_to(self, *, seen: bool) -> int | None:
        """The newest chunk in flight, where the list follows the run away from its cursor.

        None where the cursor says which chunk is meant.
        """
        run, chunks = self.bench.run, self.chunks
        if run is None or run.result is not None or not chunks.following:
            return None
        gone = chunks.leading and run.record(chunks.position).state.ended
        return run.newest if gone or not seen else None

    def action_ask_again(self) -> None:
        """Ask again about the chunk under the cursor."""
        self.leave_field()
        if self._on_thread():
            return
        self._ask_again(self.part_meant)
        self.chunks.stay()
        self.tick()

    def _on_thread(self) -> bool:
        """Whether a key means a thread; what is done to a chunk needs one, and says so."""
        among_gaps = self.focused is not None and self.focused.id == "gaps"
        if among_gaps or not self.chunks.on_thread:
            return False
        self.notify("this is a thread: choose one of its chunks", markup=False)
        return True

    def _ask_again(self, position: int) -> None:
        """Ask again; about a judged chunk once that is agreed to."""
        bench, anew = self.bench, self.bench.ask_again(position)
        if anew is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                bench.ask_anew(anew)

        dialog = ConfirmDialog(anew.question, lambda: "", banner(bench), title="Ask anew?")
        self._host.push_screen(dialog, answered)

    @on(ChunkList.CancelPart)
    def cancel_clicked(self, event: ChunkList.CancelPart) -> None:
        """A row's cancel was clicked."""
        self.bench.cancel_part(event.position)
        self.chunks.following = self.chunks.following and self.chunks.leading
        self.tick()

    @on(ChunkList.AskAgain)
    def ask_again_clicked(self, event: ChunkList.AskAgain) -> None:
        """A row's `ask again` was clicked."""
        self._ask_again(event.position)
        self.chunks.following = False
        self.tick()
