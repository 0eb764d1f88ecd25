"""Messages of the chat completions interface, which most providers and data sets use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.messages import MessageList, survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class OpenAIChat(MessageList):
    """Reads chat messages, with their calls beside the content."""

    name = "openai-chat"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of messages: whatever shows no other interface is taken for this one."""
        return survey(head, around).share
