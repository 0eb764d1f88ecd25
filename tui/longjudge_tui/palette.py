"""The command palette, also while its list has no room or is not laid out yet."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette


class Palette(CommandPalette):
    """Textual's palette; a key for its list does nothing while the list has no lines."""

    def _action_command_list(self, action: str) -> None:
        # Textual's page keys look up the line of the highlighted entry, which only a list with
        # some room has.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
