"""The fields of Claude Code's records that decide events and threads, decoded in one go."""

from __future__ import annotations

import msgspec

from longjudge.sessions.render import render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

_NOTHING = msgspec.Raw(b"")


class Message(msgspec.Struct, gc=False):
    """The message inside a record."""

    id: str | None = None
    model: str | None = None
    content: str | list[dict[str, object]] | None = None


class AgentOfResult(msgspec.Struct, rename="camel", gc=False):
    """What a result's second copy, or a progress record, says about a subagent."""

    type: str | None = None
    agent_id: str | None = None


class ClaudeRecord(msgspec.Struct, rename="camel", gc=False):
    """One record. What is `Raw` is looked into only where a subagent may be named in it."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    attachment: dict[str, object] | None = None
    content: object = None
    error: object = None
    api_refusal_explanation: str | None = None
    summary: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    name: str | None = None
    input: object = None
    output: object = None
    tool_use_result: msgspec.Raw = _NOTHING
    data: msgspec.Raw = _NOTHING
    parent_tool_use_id: str | None = msgspec.field(name="parentToolUseID", default=None)


decode = msgspec.json.Decoder(ClaudeRecord).decode


def convert(value: dict[str, object]) -> ClaudeRecord:
    """Make a record of any JSON object, leaving out what does not fit."""
    attachment = value.get("attachment")
    return ClaudeRecord(
        type=text_or_none(value.get("type")) or "",
        subtype=text_or_none(value.get("subtype")),
        uuid=text_or_none(value.get("uuid")),
        parent_uuid=text_or_none(value.get("parentUuid")),
        session_id=text_or_none(value.get("sessionId")),
        agent_id=text_or_none(value.get("agentId")),
        timestamp=text_or_none(value.get("timestamp")),
        is_sidechain=bool_or_none(value.get("isSidechain")),
        is_meta=bool_or_none(value.get("isMeta")),
        is_compact_summary=bool_or_none(value.get("isCompactSummary")),
        is_api_error_message=bool_or_none(value.get("isApiErrorMessage")),
        message=_message(value.get("message")),
        attachment=attachment if is_object(attachment) else None,
        content=value.get("content"),
        error=value.get("error"),
        api_refusal_explanation=text_or_none(value.get("apiRefusalExplanation")),
        summary=text_or_none(value.get("summary")),
        custom_title=text_or_none(value.get("customTitle")),
        ai_title=text_or_none(value.get("aiTitle")),
        name=text_or_none(value.get("name")),
        input=value.get("input"),
        output=value.get("output"),
        tool_use_result=_agent(value.get("toolUseResult")),
        data=_agent(value.get("data")),
        parent_tool_use_id=text_or_none(value.get("parentToolUseID")),
    )


def convert_streamed(value: dict[str, object], *, sidechain: bool, meta: bool) -> ClaudeRecord:
    """Make a record of what a stream writes: it has none of a transcript's further entries."""
    return ClaudeRecord(
        type=text_or_none(value.get("type")) or "",
        subtype=text_or_none(value.get("subtype")),
        timestamp=text_or_none(value.get("timestamp")),
        is_sidechain=sidechain or bool_or_none(value.get("isSidechain")),
        is_meta=meta or bool_or_none(value.get("isMeta")),
        is_compact_summary=bool_or_none(value.get("isCompactSummary")),
        is_api_error_message=bool_or_none(value.get("isApiErrorMessage")),
        message=_message(value.get("message")),
        content=value.get("content"),
        error=value.get("error"),
        api_refusal_explanation=text_or_none(value.get("apiRefusalExplanation")),
    )


def _agent(value: object) -> msgspec.Raw:
    if not is_object(value):
        return _NOTHING
    named = {key: text_or_none(value.get(key)) for key in ("type", "agentId")}
    return msgspec.Raw(msgspec.json.encode(named))


def _message(value: object) -> Message | None:
    if not is_object(value):
        return None
    content = value.get("content")
    blocks: str | list[dict[str, object]] | None = None
    if isinstance(content, str):
        blocks = content
    elif is_array(content):
        blocks = [
            block if is_object(block) else {"type": "text", "text": render_value(block)}
            for block in content
        ]
    elif is_object(content):
        blocks = [content]
    return Message(text_or_none(value.get("id")), text_or_none(value.get("model")), blocks)
