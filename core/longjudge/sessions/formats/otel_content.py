"""What a span says: messages in attributes, in events, and flattened, by every convention's name.

Content stands under the newest convention first; the first place that holds any counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_messages import foreign_message
from longjudge.sessions.formats.held_messages import held_messages, is_structured, text_message
from longjudge.sessions.formats.known_messages import known_message
from longjudge.sessions.formats.otlp import nested, text_at
from longjudge.sessions.formats.spans import Detail
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.render import compact_json
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.sessions.formats.otlp import Attributes, OtelSpan

    Message = dict[str, object]

_REQUESTS = (
    *("gen_ai.input.messages", "gen_ai.request.messages", "gen_ai.prompt", "llm.input_messages"),
    *("ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request"),
    *("pydantic_ai.all_messages", "all_messages_events", "events", "request_data"),
    *("mlflow.spanInputs", "langfuse.observation.input", "traceloop.entity.input", "input.value"),
    *("llm.prompts", "inputs", "input"),
)
_ANSWERS = (
    *("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages"),
    *("gcp.vertex.agent.llm_response", "response_data", "final_result"),
    *("mlflow.spanOutputs", "langfuse.observation.output", "traceloop.entity.output"),
    *("output.value", "llm.completions", "outputs", "output"),
)
_DETAILS = "gen_ai.client.inference.operation.details"
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_PROMPT_EVENT = "gen_ai.content.prompt"
_COMPLETION_EVENT = "gen_ai.content.completion"
_TOOL_INPUTS = (
    *("gen_ai.tool.call.arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args"),
    *("tool_arguments", "tool_call.function.arguments", "input.value", "traceloop.entity.input"),
    *("langfuse.observation.input", "mlflow.spanInputs", "gen_ai.prompt", "tool.parameters"),
    "input",
)
_TOOL_OUTPUTS = (
    *("gen_ai.tool.call.result", "ai.toolCall.result", "gcp.vertex.agent.tool_response"),
    *("tool_response", "output.value", "traceloop.entity.output", "retrieval.documents"),
    *("langfuse.observation.output", "mlflow.spanOutputs", "gen_ai.completion", "output"),
)
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_TOOL_IDS = ("gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id")
_TOOL_PREFIXES = ("execute_tool ", "running tool: ", "running tool ", "tool: ", "tools/call ")
_INPUT_WRAPPERS = ("input", "inputs", "kwargs", "args", "arguments", "tool_input", "input_str")


@dataclass(frozen=True, slots=True)
class Said:
    """Messages, and how they were written."""

    messages: tuple[Message, ...] = ()
    detail: Detail = Detail.NONE


def request_of(span: OtelSpan) -> Said:
    """What was said before the span's answer."""
    found = _from_events(span, answers=False)
    said = found or _from_attributes(span.attributes, _REQUESTS, "user")
    if not said.messages:
        return said
    system = _system(span)
    if system and all(message.get("role") != "system" for message in said.messages):
        return Said((*system, *said.messages), said.detail)
    return said


def answer_of(span: OtelSpan, *, is_agent: bool = False) -> Said:
    """What the span's model answered, or what its agent came to."""
    attributes = span.attributes
    response = {
        "text": attributes.get("ai.response.text"),
        "toolCalls": unpacked(attributes.get("ai.response.toolCalls")),
        "object": attributes.get("ai.response.object"),
    }
    if any(response.values()):
        return _from_response(response, attributes.get("ai.response.reasoning"))
    found = _from_events(span, answers=True)
    if found:
        return found
    said = _from_attributes(attributes, _ANSWERS, "assistant")
    if said.messages or not is_agent:
        return said
    value = unpacked(next((attributes[key] for key in _ANSWERS if attributes.get(key)), None))
    if is_object(value) and value:
        try:
            return Said(tuple(text_message(compact_json(value), "assistant")), Detail.TEXT)
        except RecursionError:
            return said
    return said


def _from_response(response: Message, reasoning: object) -> Said:
    calls = response["toolCalls"]
    message: Message = {
        "role": "assistant",
        "content": response["text"] or ("" if calls else response["object"]),
        "tool_calls": calls if is_array(calls) else [],
        "reasoning_content": reasoning,
    }
    read = foreign_message(message)
    return Said((read,), Detail.MESSAGES) if read else Said()


def _from_attributes(attributes: Attributes, keys: tuple[str, ...], role: str) -> Said:
    text = Said()
    for key in keys:
        value = nested(attributes, key)
        if value is None:
            continue
        if is_array(value := unpacked(value)) and role == "assistant":
            value = _first_choice(value)
        messages = held_messages(value, role)
        if not messages:
            continue
        if is_structured(messages, value):
            return Said(tuple(_with_blocks(messages)), Detail.MESSAGES)
        text = text if text.messages else Said(tuple(messages), Detail.TEXT)
    return text


def _first_choice(values: list[object]) -> list[object]:
    """The first of several answers to one request; the messages of one answer all have it."""
    return [value for value in values if not is_object(value) or value.get("index") in (None, 0)]


def _with_blocks(messages: list[Message]) -> Iterator[Message]:
    """Messages whose content is a list of blocks written as text."""
    for message in messages:
        content = message.get("content")
        blocks = unpacked(content) if isinstance(content, str) else None
        if is_array(blocks) and blocks and all(map(_is_block, blocks)):
            again = foreign_message({**message, "content": blocks})
            if again:
                yield again
                continue
        yield message


def _is_block(value: object) -> bool:
    if not is_object(value):
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return "text" in value or kind in ("tool_use", "tool_result", "tool-call", "tool-result")
    return any(key in value for key in ("text", "toolUse", "toolResult", "reasoningContent"))


def _system(span: OtelSpan) -> tuple[Message, ...]:
    for attributes in _places(span):
        value = unpacked(attributes.get("gen_ai.system_instructions"))
        if isinstance(value, str):
            return tuple(text_message(value, "system"))
        if is_array(value) and value:
            read = foreign_message({"role": "system", "content": value})
            return (read,) if read else ()
    return ()


def _places(span: OtelSpan) -> Iterator[Attributes]:
    yield span.attributes
    for event in span.events:
        if event.name == _DETAILS:
            yield event.attributes


def _from_events(span: OtelSpan, *, answers: bool) -> Said | None:
    found: list[Message] = []
    for event in span.events:
        if event.name == _DETAILS:
            keys = ("gen_ai.output.messages",) if answers else ("gen_ai.input.messages",)
            said = _from_attributes(event.attributes, keys, "assistant" if answers else "user")
            found += said.messages
        elif event.name == (_COMPLETION_EVENT if answers else _PROMPT_EVENT):
            key = "gen_ai.completion" if answers else "gen_ai.prompt"
            found += held_messages(event.attributes.get(key), "assistant" if answers else "user")
        elif answers and event.name == _CHOICE:
            found += _choice(event.attributes)
        elif not answers and (role := _MESSAGE_EVENTS.get(event.name)):
            found += _event_message(event.attributes, role)
    return Said(tuple(_with_blocks(found)), Detail.MESSAGES) if found else None


def _event_message(attributes: Attributes, role: str) -> list[Message]:
    said = nested(attributes, "content")
    content = unpacked(said)
    if not (is_array(content) or is_object(content)):
        content = said
    read = known_message({**attributes, "role": role, "content": content})
    return [read] if read and (content or read.get("tool_calls")) else []


def _choice(attributes: Attributes) -> list[Message]:
    if attributes.get("index") not in (None, 0, "0"):
        return []
    message = unpacked(attributes.get("message"))
    if is_object(message):
        read = foreign_message({"role": "assistant", **message})
        return [read] if read else []
    if message is None:
        message = nested(attributes, "message")
    if is_object(message):
        return held_messages({"role": "assistant", **message}, "assistant")
    content = message if message is not None else unpacked(nested(attributes, "content"))
    read = foreign_message({**attributes, "role": "assistant", "content": content})
    return [read] if read and (content or read.get("tool_calls")) else []


@dataclass(frozen=True, slots=True)
class Tool:
    """What a tool's span says of its call."""

    name: str
    call_id: str | None
    input: object
    output: object


def tool_name(span: OtelSpan) -> str:
    """The tool that a span ran."""
    name = text_at(span.attributes, _TOOL_NAMES) or span.name
    for prefix in _TOOL_PREFIXES:
        name = name.removeprefix(prefix) or name
    return name


def tool_of(span: OtelSpan) -> Tool:
    """The call that a span stands for."""
    attributes = span.attributes
    name = tool_name(span)
    given = _value(attributes, _TOOL_INPUTS)
    output = _value(attributes, _TOOL_OUTPUTS)
    call_id = text_at(attributes, _TOOL_IDS) or None
    for event in span.events:
        if event.name == "gen_ai.tool.message" and given is None:
            given = event.attributes.get("content")
        elif event.name == _CHOICE and output is None:
            output = event.attributes.get("message", event.attributes.get("content"))
        if event.name in ("gen_ai.tool.message", _CHOICE):
            call_id = call_id or text_at(event.attributes, ("id",)) or None
    return Tool(name, call_id, bare_input(given), output)


def bare_input(value: object) -> object:
    """The input of a call without what tracing libraries put around it."""
    value = unpacked(value)
    for _ in range(3):
        if not is_object(value):
            return value
        filled = {key: item for key, item in value.items() if item not in (None, [], {}, "")}
        named = [key for key in filled if key in _INPUT_WRAPPERS]
        rest = set(filled) - {"tags", "metadata", *_INPUT_WRAPPERS}
        if len(named) != 1 or rest or not _is_wrapper(value, named[0]):
            return value
        inner = unpacked(value[named[0]])
        if not is_object(inner):
            return value
        value = inner
    return value


def _is_wrapper(value: Message, key: str) -> bool:
    """An entry that is all there is, or that stands beside what always comes with a wrapper."""
    return len(value) == 1 or key in ("inputs", "kwargs") or "kwargs" in value


def _value(attributes: Attributes, keys: tuple[str, ...]) -> object:
    for key in keys:
        value = nested(attributes, key)
        if value not in (None, ""):
            return value
    return None


def failure_of(span: OtelSpan) -> str | None:
    """What went wrong in a failed span, as far as it says."""
    if not span.failed:
        return None
    for event in span.events:
        if event.name == "exception" and (
            said := text_at(event.attributes, ("exception.message", "message"))
        ):
            return said
    said = text_at(span.attributes, ("error.message", "exception.message", "error.type"))
    return span.message or said or "failed"
