"""Messages of the Anthropic interface: content blocks, with calls and results among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.messages import Dialect, MessageList, survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class AnthropicMessages(MessageList):
    """Reads messages of content blocks; the system prompt stands beside them."""

    name = "anthropic-messages"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of messages, provided that some hold its blocks and none has other calls."""
        found = survey(head, around)
        own = Dialect.BLOCKS in found.dialects
        mixed = found.dialects & {Dialect.CHAT, Dialect.ITEMS}
        return found.share if own and not mixed else 0.0
