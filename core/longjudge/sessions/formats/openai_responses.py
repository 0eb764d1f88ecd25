"""Items of the Responses interface: messages, reasoning, calls and their outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.messages import Dialect, MessageList, survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class OpenAIResponses(MessageList):
    """Reads lists of items, and requests with their response."""

    name = "openai-responses"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of items, provided that one of them is no mere message."""
        found = survey(head, around)
        return found.share if Dialect.ITEMS in found.dialects else 0.0
