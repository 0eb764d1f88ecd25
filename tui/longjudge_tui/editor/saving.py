"""Saving the text: to where it is from, or to a file that is named in a line of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on
from textual.widgets import Input

from longjudge.errors import LongjudgeError
from longjudge_tui.commands import command
from longjudge_tui.editor.save_field import SaveField, here, offered_path
from longjudge_tui.editor.versions import VersionActions
from longjudge_tui.widgets.lines import KeyBar
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge_tui.bench.edit_session import EditSession

NAMING: Final = ("save_named", "save_nothing")
"""All that the bar shows while a file is being named."""


class SaveActions(VersionActions):
    """The part of the editor that saves; its widgets are the editor's own."""

    def give_text_the_keys(self) -> None:
        """Let the text have the keys."""
        raise NotImplementedError

    @property
    def _field(self) -> SaveField:
        return self.query_one("#rubric-save-path", SaveField)

    @property
    def naming(self) -> bool:
        """Whether a file is being named: nothing is saved yet, and nothing given up."""
        return self.query_one("#rubric-save").display

    def follow_naming(self) -> None:
        """Let the bar show what the line takes while it has the keys."""
        has_keys = self.naming and self._field.has_focus
        self.query_one(KeyBar).show_names(NAMING if has_keys else (*self.BAR, "close_screen"))

    def is_naming(self, key: str) -> bool:
        """Whether a file is being named, which comes first; then it is said, and has the keys."""
        if self.naming:
            save, leave = (command(name).bar_key for name in NAMING)
            said = f"enter saves it, escape does not; then {key} uses it"
            self.notify(said.replace("enter", save).replace("escape", leave), markup=False)
            self.set_focus(self._field)
        return self.naming

    def action_save_rubric(self) -> None:
        """Save the text where it is from."""
        if self.session is None:
            return
        if self.session.source.path is None:
            self.action_save_rubric_as()
        else:
            self.chores.start(self._save(self.session, None))

    def action_save_rubric_as(self) -> None:
        """Ask for the name of a new file; a name that is being typed stays."""
        if self.session is None:
            return
        field = self._field
        if not self.naming:
            self.query_one("#rubric-save").display = True
            field.value = offered_path(self.session)
            field.cursor_position = len(field.value)
        self.set_focus(field)
        self.follow_naming()

    def action_save_named(self) -> None:
        """Save as the file that is named."""
        typed = self._field.value.strip()
        if self.naming and typed and self.session is not None:
            path = Path(here(), os.path.expanduser(typed))
            self.chores.start(self._save(self.session, Path(os.path.normpath(path))))

    def action_save_nothing(self) -> None:
        """Save nothing, and go back to the text."""
        self.query_one("#rubric-save").display = False
        self.give_text_the_keys()
        self.follow_naming()

    @on(SaveField.Left)
    def save_field_left(self) -> None:
        """Save nothing."""
        self.action_save_nothing()

    @on(Input.Submitted, "#rubric-save-path")
    def save_path_typed(self, event: Input.Submitted) -> None:
        """Save as the file that was typed."""
        event.stop()
        self.action_save_named()

    async def _save(self, session: EditSession, path: Path | None) -> None:
        try:
            said = await session.save(path)
        except LongjudgeError as error:
            key = command("save_rubric_as").bar_key
            said = str(error).replace("save as another file", f"save as another file ({key})")
            self.notify(line(said, 500), severity="error", markup=False)
            return
        self.notify(said, markup=False)
        self.action_save_nothing()

    def action_close_screen(self) -> None:
        """Go back, from naming a file first; what is not saved stays as a draft."""
        if self.naming:
            self.action_save_nothing()
            return
        if self.session is not None and self.session.unsaved:
            key = command("edit_rubric").bar_key
            said = f"not saved: the draft is kept, {key} opens it again"
            if self.session.draft_problem:
                said = f"NOT SAVED: {key} opens it again until you quit; no draft could be written"
            self.notify(said, markup=False)
        self.dismiss(None)
