"""Sessions of Cline and Roo Code: Anthropic blocks, each message with the time it was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.messages import Dialect, MessageList, survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Cline(MessageList):
    """Reads `*.messages.json` of Cline and `api_conversation_history.json` of Roo Code."""

    name = "cline"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of messages, provided that they have times and no other interface's calls."""
        found = survey(head, around)
        timed = [isinstance(message.get("ts"), int) for message in found.messages]
        foreign = found.dialects & {Dialect.CHAT, Dialect.ITEMS}
        return found.share if timed and all(timed) and not foreign else 0.0
