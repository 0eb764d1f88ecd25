"""The field for the name of a new file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from longjudge_tui.widgets.fields import Field
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from textual import events

    from longjudge_tui.bench.edit_session import EditSession

_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]{0,1000}"


class SaveField(Field):
    """A path; escape leaves it."""

    class Left(Message):
        """The field was left by a key."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True, restrict=_PRINTABLE, select_on_focus=False)
        self.cursor_blink = False

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Left())


def offered_path(session: EditSession) -> str:
    """A name for a new file: in the first folder of rubrics, else where longjudge was started."""
    name = session.rubric.name
    folders = [each for each in session.bench.config.rubrics if each.suffix != ".toml"]
    folder = folders[0] if folders else Path(here())
    return line(os.fspath(folder / f"{name}.toml"), 1000)


def here() -> str:
    """The folder that longjudge was started in; empty where it is there no more."""
    try:
        return os.getcwd()
    except OSError:
        return ""
