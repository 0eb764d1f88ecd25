"""Takes an answer as a stream of events; what comes of it is the message a plain call would give.

Local servers end a call that nobody waits for only when it streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from longjudge.judges.anthropic_errors import broken_stream, malformed_reply, no_stream

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message, MessageParam, OutputConfigParam

EVENT_STREAM = "text/event-stream"


class Request(TypedDict):
    """What is asked, streamed or not."""

    model: str
    max_tokens: int
    system: str
    messages: list[MessageParam]
    output_config: OutputConfigParam


async def streamed_message(client: AsyncAnthropic, request: Request) -> Message:
    """Ask, and collect the stream to its end.

    Raises:
        AskError: what came is no stream, or one that ended before the message did.
    """
    async with client.messages.stream(**request) as stream:
        kind = stream.response.headers.get("content-type", "")
        if not kind.startswith(EVENT_STREAM):
            raise no_stream() if kind.startswith("application/json") else malformed_reply()
        begun = ended = False
        async for event in stream:
            begun = begun or event.type == "message_start"
            ended = ended or event.type == "message_stop"
        # The SDK takes a stream that just ends for a whole one.
        if not (begun and ended):
            raise broken_stream()
        return stream.current_message_snapshot
