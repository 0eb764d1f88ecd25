"""Ticks of a conversation by voice as messages: chunks of one speaker joined until it falls silent.

Both sides may speak in one tick. A turn stands where it began, and ends with the first tick in
which its speaker says nothing and the other one does, or in which a tool is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Message = dict[str, object]

_SPEAKERS = (("user", "user_chunk"), ("assistant", "agent_chunk"))
_CALLS = (("assistant", "agent_tool_calls"), ("user", "user_tool_calls"))
_RESULTS = (("assistant", "agent_tool_results"), ("user", "user_tool_results"))


def messages_of_ticks(ticks: Sequence[object]) -> Iterator[Message]:
    """The messages that the ticks of a run make up, in the order in which they began."""
    turns: dict[str, Message] = {}
    for tick in ticks:
        if not is_object(tick):
            continue
        time = text_or_none(tick.get("timestamp"))
        words = {role: _words(tick.get(key)) for role, key in _SPEAKERS}
        if any(words.values()) and (silent := [r for r in turns if not words.get(r)]):
            yield from _ended(turns, silent)
        for role, text in words.items():
            if not text:
                continue
            turn = turns.setdefault(role, {"role": role, "content": [], "timestamp": time})
            pieces = turn["content"]
            if is_array(pieces):
                pieces.append(text)
        done = [*_called(tick, time), *_answered(tick, time)]
        if done:
            yield from _ended(turns, list(turns))
            yield from done
    yield from _ended(turns, list(turns))


def _ended(turns: dict[str, Message], roles: Sequence[str]) -> Iterator[Message]:
    for role in [role for role in turns if role in roles]:
        turn = turns.pop(role)
        pieces = turn["content"]
        yield {**turn, "content": "".join(map(str, pieces)) if is_array(pieces) else ""}


def _words(chunk: object) -> str:
    """What is said in a chunk; of sound, the script that was spoken, where it is there."""
    if not is_object(chunk):
        return ""
    content = chunk.get("audio_script_gold" if chunk.get("is_audio") is True else "content")
    return content if isinstance(content, str) else ""


def _called(tick: Message, time: str | None) -> Iterator[Message]:
    for role, key in _CALLS:
        calls = tick.get(key)
        if is_array(calls) and calls:
            yield {"role": role, "content": None, "tool_calls": calls, "timestamp": time}


def _answered(tick: Message, time: str | None) -> Iterator[Message]:
    for role, key in _RESULTS:
        results = tick.get(key)
        for result in results if is_array(results) else ():
            if is_object(result):
                yield {"timestamp": time, **result, "role": "tool", "requestor": role}
