"""Sessions of Pi and of what is made of it (OpenClaw): a tree of entries in one file.

Whoever goes back to an earlier entry and goes on from there leaves a branch behind. The branch
that ends in the last entry is the main thread; what was left behind happened too and becomes a
thread of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events, read_arguments
from longjudge.sessions.formats.one_by_one import SessionKeys
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.pi_tree import EntryTree
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_block, render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

BRANCHES = "branches that were left behind, each a thread of its own"

_REDACTED = "[redacted]"
_ENTRIES = frozenset(
    {
        *("session", "message", "model_change", "thinking_level_change", "compaction"),
        *("branch_summary", "custom", "custom_message", "label", "session_info", "leaf"),
        *("ephemeral", "context_transform", "service_tier_change", "message_end"),
    }
)
_STREAM = frozenset(
    {
        *("agent_start", "agent_end", "turn_start", "turn_end", "message_start"),
        *("message_update", "message_end", "tool_execution_start", "tool_execution_update"),
        *("tool_execution_end",),
    }
)
_SUMMARIES = frozenset({"compaction", "branch_summary", "compactionSummary", "branchSummary"})
_FAILED = frozenset({"error", "aborted"})


class Pi(RetoldFormat):
    """Reads Pi's sessions: a header, and entries with messages inside."""

    name = "pi"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of its entries, where a header begins them or messages are in its blocks."""
        if not any(map(_is_surely, head)):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Two passes: the trees, and then their entries in the order of the file."""
        trees: dict[str, EntryTree] = {}
        for session, given in _by_session(records):
            if given.value.get("type") != "session":
                trees.setdefault(session, EntryTree()).add(given.value)
        threads = {session: iter(tree.threads()) for session, tree in trees.items()}
        left: set[tuple[str, str]] = set()
        headed: set[str] = set()
        for session, given in _by_session(records):
            entry = given.value
            if entry.get("type") == "session":
                if session not in headed:
                    _tell_header(entry, session, telling)
                headed.add(session)
                continue
            thread = next(threads[session])
            with passing_over(telling, given.number):
                events = entry_events(entry)
                for event in events:
                    telling.event(event, given.number, session=session, thread=thread)
                if not events:
                    _tell_nothing(entry, given.number, session, telling)
                elif thread != MAIN_THREAD:
                    left.add((session, thread))
        if left:
            telling.note(BRANCHES, None, count=len(left))


def _by_session(records: Records) -> Iterator[tuple[str, Given]]:
    """Every entry with the key of its session: files that were put together have several headers.

    One that repeats the header goes on with its session.
    """
    keys = SessionKeys()
    for given in records:
        begins = given.value.get("type") == "session"
        yield keys.of(text_or_none(given.value.get("id")) if begins else None), given


def _is_surely(record: dict[str, object]) -> bool:
    type_ = record.get("type")
    if type_ == "session":
        return isinstance(record.get("id"), str) and ("cwd" in record or "version" in record)
    message = record.get("message")
    if type_ != "message" or not is_object(message):
        return False
    if message.get("role") in ("toolResult", "bashExecution"):
        return True
    content = message.get("content")
    return is_array(content) and any(
        is_object(block) and block.get("type") == "toolCall" for block in content
    )


def _fits(record: dict[str, object]) -> bool:
    type_ = word(record.get("type"))
    if type_ == "message":
        return is_object(record.get("message"))
    if not type_ or "payload" in record or "message" in record:
        return type_ in _STREAM
    return type_ in _ENTRIES or type_ in _STREAM or "parentId" in record


def _tell_header(entry: dict[str, object], session: str, telling: Telling) -> None:
    telling.facts(
        session=session,
        id=text_or_none(entry.get("id")),
        title=text_or_none(entry.get("title")),
        started=text_or_none(entry.get("timestamp")),
    )
    if entry.get("branchedFrom") or entry.get("parentSession"):
        telling.note("the session goes on from another file", None)


def _tell_nothing(entry: dict[str, object], number: int, session: str, telling: Telling) -> None:
    type_ = entry.get("type")
    if type_ == "session_info":
        telling.facts(session=session, title=text_or_none(entry.get("name")))
    elif type_ == "message":
        telling.note("messages without content", number)
    else:
        telling.note(f"{kind_name(type_)} records, no events", number)


def entry_events(entry: dict[str, object]) -> list[Event]:
    """The events of one entry."""
    type_ = word(entry.get("type"))
    time = text_or_none(entry.get("timestamp"))
    message = entry.get("message")
    if type_ in ("message", "message_end") and is_object(message):
        return _message_events(message, time or iso_time(message.get("timestamp"), "ms"))
    if type_ in _SUMMARIES:
        return _system(type_, entry.get("summary"), time)
    if type_ == "custom_message":
        return _system(word(entry.get("customType")) or type_, entry.get("content"), time)
    return []


def _message_events(message: dict[str, object], time: str | None) -> list[Event]:
    role = word(message.get("role"))
    if role == "assistant":
        return _answer(message, time)
    if role == "toolResult":
        tool, call_id = text_or_none(message.get("toolName")), message.get("toolCallId")
        failed = bool_or_none(message.get("isError"))
        body = render_content(message.get("content"))
        return [
            Event(EventKind.TOOL_RESULT, body, tool, text_or_none(call_id), failed, time),
        ]
    if role == "bashExecution":
        # Typed by the user behind a `!`; no call of the agent.
        said = {"command": message.get("command")}
        for key in ("exitCode", "cancelled", "output"):
            value = message.get(key)
            if value is not None and value is not False and value != "":
                said[key] = value
        return _system("bash", render_input(said), time)
    if role in _SUMMARIES:
        return _system(role, message.get("summary"), time)
    if role in ("custom", "hookMessage"):
        return _system(word(message.get("customType")) or role, message.get("content"), time)
    return message_events({**message, "timestamp": time}, time)


def _system(label: str, content: object, time: str | None) -> list[Event]:
    body = render_content(content) if content else ""
    return [Event(EventKind.SYSTEM, f"{label}\n{body}", timestamp=time)] if body else []


def _answer(message: dict[str, object], time: str | None) -> list[Event]:
    content = message.get("content")
    blocks = content if is_array(content) else [content] if content else []
    events: list[Event] = []
    for block in blocks:
        events += _block_events(block, time)
    if (reason := word(message.get("stopReason"))) in _FAILED:
        said = text_or_none(message.get("errorMessage")) or reason
        events.append(Event(EventKind.ERROR, render_value(said), timestamp=time))
    return events


def _block_events(block: object, time: str | None) -> list[Event]:
    type_ = block.get("type") if is_object(block) else None
    if is_object(block) and type_ == "toolCall":
        given = render_input(read_arguments(block.get("arguments")))
        tool, call_id = text_or_none(block.get("name")), text_or_none(block.get("id"))
        return [Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)]
    if is_object(block) and type_ == "thinking":
        hidden = block.get("redacted") is True or block.get("thinkingSignature")
        body = render_value(block.get("thinking")) or (_REDACTED if hidden else "")
        return [Event(EventKind.THINKING, body, timestamp=time)] if body else []
    body = render_block(block)
    return [Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=time)] if body else []
