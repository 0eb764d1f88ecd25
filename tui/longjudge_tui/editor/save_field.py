"""The field for the name of a new file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from longjudge_tui.widgets.fields import Field

if TYPE_CHECKING:
    from textual import events

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
