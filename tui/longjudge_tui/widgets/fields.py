"""A field whose keys act in the order they were typed, also when they come in one burst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

if TYPE_CHECKING:
    from textual import events


class Field(Input):
    """An input that runs its own editing keys itself.

    A key that is a binding goes through the whole app before it acts, and letters typed after a
    backspace would overtake it.
    """

    async def on_key(self, event: events.Key) -> None:
        """Run an editing key at once."""
        if event.is_printable or event.key == "enter":
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            event.stop()
            event.prevent_default()
            await self.run_action(binding.action)
            return
