"""Which spans hold a conversation: the attributes by which each convention says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.otlp import text_at
from longjudge.sessions.formats.spans import SpanKind

if TYPE_CHECKING:
    from longjudge.sessions.formats.otlp import Attributes, OtelSpan

_MODEL, _TOOL, _AGENT, _OTHER = SpanKind.MODEL, SpanKind.TOOL, SpanKind.AGENT, SpanKind.OTHER

_BY_ATTRIBUTE: tuple[tuple[str, dict[str, SpanKind]], ...] = (
    (
        "gen_ai.operation.name",
        {
            "chat": _MODEL,
            "text_completion": _MODEL,
            "completion": _MODEL,
            "generate_content": _MODEL,
            "responses": _MODEL,
            "execute_tool": _TOOL,
            "invoke_agent": _AGENT,
            "embeddings": _OTHER,
            "create_agent": _OTHER,
        },
    ),
    (
        "openinference.span.kind",
        {
            "llm": _MODEL,
            "tool": _TOOL,
            "retriever": _TOOL,
            "agent": _AGENT,
            "chain": _OTHER,
            "embedding": _OTHER,
            "reranker": _OTHER,
            "guardrail": _OTHER,
            "evaluator": _OTHER,
            "prompt": _OTHER,
        },
    ),
    (
        "ai.operationid",
        {
            "ai.generatetext": _MODEL,
            "ai.streamtext": _MODEL,
            "ai.generateobject": _MODEL,
            "ai.streamobject": _MODEL,
            "ai.generatetext.dogenerate": _MODEL,
            "ai.streamtext.dostream": _MODEL,
            "ai.generateobject.dogenerate": _MODEL,
            "ai.streamobject.dostream": _MODEL,
            "ai.toolcall": _TOOL,
            "ai.embed": _OTHER,
            "ai.embedmany": _OTHER,
        },
    ),
    (
        "traceloop.span.kind",
        {"tool": _TOOL, "agent": _AGENT, "workflow": _OTHER, "task": _OTHER, "session": _OTHER},
    ),
    (
        "langfuse.observation.type",
        {"generation": _MODEL, "tool": _TOOL, "retriever": _TOOL, "agent": _AGENT},
    ),
    (
        "mlflow.spantype",
        {
            "llm": _MODEL,
            "chat_model": _MODEL,
            "tool": _TOOL,
            "retriever": _TOOL,
            "agent": _AGENT,
        },
    ),
    ("llm.request.type", {"chat": _MODEL, "completion": _MODEL}),
    ("langsmith.span.kind", {"llm": _MODEL, "tool": _TOOL, "retriever": _TOOL}),
)
_NAMED = {name for name, _ in _BY_ATTRIBUTE}
_BY_NAME: tuple[tuple[str, SpanKind], ...] = (
    ("gcp.vertex.agent.tool_call_args", _TOOL),
    ("gcp.vertex.agent.llm_request", _MODEL),
    ("tool_arguments", _TOOL),
    ("gen_ai.tool.name", _TOOL),
    ("all_messages_events", _AGENT),
    ("pydantic_ai.all_messages", _AGENT),
    ("gen_ai.request.model", _MODEL),
    ("llm.model_name", _MODEL),
)
_STARTS = (
    ("execute_tool", _TOOL),
    ("call_llm", _MODEL),
    ("invoke_agent", _AGENT),
    ("agent_run", _AGENT),
)
_SAID = ("gen_ai.", "llm.", "ai.prompt", "traceloop.entity.", "openinference.", "gcp.vertex.agent.")
SESSION_KEYS = (
    *("gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id", "langfuse.session.id"),
    *("ai.telemetry.metadata.sessionId", "traceloop.association.properties.session_id"),
    *("copilot_chat.session_id", "langsmith.trace.session_id"),
)
_MAX_NAME = 200
_AGENT_KEYS = ("gen_ai.agent.name", "agent.name", "agent_name", "traceloop.entity.name")


def kind_of(span: OtelSpan) -> SpanKind:
    """What a span stands for; most are plumbing."""
    attributes = span.attributes
    known: dict[str, str] = {}
    for key, value in attributes.items():
        if (lower := key.lower()) in _NAMED and isinstance(value, str):
            known[lower] = value.strip().lower()
    for name, kinds in _BY_ATTRIBUTE:
        kind = kinds.get(known.get(name, ""))
        if kind is not None:
            return kind
    for start, kind in _STARTS:
        if span.name.startswith(start):
            return kind
    for name, kind in _BY_NAME:
        if name in attributes:
            return kind
    return _OTHER


def is_about_models(attributes: Attributes) -> bool:
    """Whether a span's attributes are those of a convention for models and agents."""
    return any(key.startswith(_SAID) or key.lower() in _NAMED for key in attributes)


def agent_of(attributes: Attributes) -> str:
    """The name of a span's agent, empty where it has none."""
    return text_at(attributes, _AGENT_KEYS)[:_MAX_NAME]


def session_of(attributes: Attributes) -> str:
    """The conversation that a span belongs to, empty where it names none."""
    return text_at(attributes, SESSION_KEYS)[:_MAX_NAME]
