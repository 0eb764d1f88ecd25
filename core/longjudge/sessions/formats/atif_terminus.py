"""Answers of the Terminus agent, which writes its commands as JSON or XML into its text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.render import render_value
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMAND = "bash_command"
COMPLETE = "mark_task_complete"

_FENCE = re.compile(r"```(?:json)?\s*+(?=\{)")
_ANALYSIS = ("analysis", "state_analysis", "plan", "explanation")
_DONE = ("task_complete", "is_task_complete")
_KEYSTROKES = re.compile(r"<keystrokes([^>]{0,200})>")
_KEYSTROKES_END = "</keystrokes>"
_ATTRIBUTE = re.compile(r'(\w{1,40})="([^"]{0,100})"')
_decoder = json.JSONDecoder(strict=False, parse_constant=str)


@dataclass(frozen=True, slots=True)
class TerminusAnswer:
    """What the agent says, and its calls in the shape that other agents write."""

    text: str
    calls: list[dict[str, object]]


def read_terminus(message: str) -> TerminusAnswer | None:
    """Take an answer apart; None where the text is not one of Terminus."""
    if '"commands"' in message:
        return _from_json(message)
    if "<commands>" in message and "<response>" in message:
        return _from_xml(message)
    return None


def _from_json(message: str) -> TerminusAnswer | None:
    text = message.strip()
    fenced = None if text.startswith("{") else _FENCE.search(text)
    start = fenced.end() if fenced else text.find("{")
    try:
        answer, _ = _decoder.raw_decode(text, max(start, 0))
    except (ValueError, RecursionError):
        return None
    commands = answer.get("commands") if is_object(answer) else None
    if not is_object(answer) or not is_array(commands):
        return None
    known = any(key in answer for key in (*_ANALYSIS, *_DONE))
    if not known or not all(is_object(each) and "keystrokes" in each for each in commands):
        return None
    said = [(key, answer[key]) for key in _ANALYSIS if answer.get(key)]
    done = any(answer.get(key) is True for key in _DONE)
    return _answer(said, [dict(each) for each in commands if is_object(each)], done)


def _from_xml(message: str) -> TerminusAnswer | None:
    commands: list[dict[str, object]] = [
        {"keystrokes": keys, **dict(_ATTRIBUTE.findall(attributes))}
        for attributes, keys in _keystrokes(message)
    ]
    said = [(key, part) for key in _ANALYSIS if (part := _element(message, key))]
    done = any(_element(message, key).lower() == "true" for key in _DONE)
    return _answer(said, commands, done) if said or commands or done else None


def _keystrokes(message: str) -> Iterator[tuple[str, str]]:
    """The attributes and the text of each element that is closed."""
    match = _KEYSTROKES.search(message)
    while match and (end := message.find(_KEYSTROKES_END, match.end())) >= 0:
        yield match[1], message[match.end() : end]
        match = _KEYSTROKES.search(message, end)


def _element(message: str, name: str) -> str:
    start = message.find(f"<{name}>")
    end = message.find(f"</{name}>", start)
    return message[start + len(name) + 2 : end].strip() if 0 <= start < end else ""


def _answer(
    said: Sequence[tuple[str, object]], commands: list[dict[str, object]], done: bool
) -> TerminusAnswer:
    calls: list[dict[str, object]] = [
        {"function_name": COMMAND, "arguments": command} for command in commands
    ]
    if done:
        calls.append({"function_name": COMPLETE, "arguments": {}})
    return TerminusAnswer("\n".join(f"{key}: {render_value(part)}" for key, part in said), calls)
