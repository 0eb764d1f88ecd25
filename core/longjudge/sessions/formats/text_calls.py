"""Calls that are written out as text, for models without an interface for tools.

    <function=bash>
    <parameter=command>ls</parameter>
    </function>

The harness answers in the user's name. Only complete calls outside of code fences count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CALL = re.compile(r"^[ \t]*<function=([^<>\n]{1,200})>(.*?)(?:</function>|\Z)", re.S | re.M)
_PARAMETER = re.compile(r"\s*<parameter=([^<>\n]{1,200})>")
_PARAMETER_END = "</parameter>"
_RESULT = re.compile(r"EXECUTION RESULT of \[([^\]\n]{1,200})\]:[ \n]?|OBSERVATION:[ \n]?")
_RESULT_AFTER_CALL = re.compile(r"Observation:[ \n]?")
_SILENT = "Your command ran successfully and did not produce any output."


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call with its parameters."""

    tool: str
    input: dict[str, object]


@dataclass(frozen=True, slots=True)
class TextResult:
    """An output, and the tool where it is named."""

    body: str
    tool: str | None


def split_text_calls(text: str) -> list[str | TextCall]:
    """A text as its calls and what stands between them; the text alone where it holds none."""
    if "<function=" not in text:
        return [text]
    pieces: list[str | TextCall] = []
    position, counted, fences = 0, 0, 0
    for match in _CALL.finditer(text):
        fences += text.count("```", counted, match.start())
        counted = match.start()
        inputs = _inputs(match[2])
        if inputs is None or fences % 2:
            continue
        before = text[position : match.start()]
        # Blanks alone are what an agent says that only calls; between calls they are layout.
        if before.strip() or (before and not position):
            pieces.append(before.rstrip() or before)
        pieces.append(TextCall(match[1].strip(), inputs))
        position = match.end()
    rest = text[position:]
    if rest.strip() or not pieces:
        pieces.append(rest)
    return pieces


def read_text_result(text: str, after_call: bool) -> TextResult | None:
    """The output that a user's message is; some words mean one only directly after a call."""
    match = _RESULT.match(text)
    if match is None and after_call:
        if text.strip() == _SILENT:
            return TextResult(text, None)
        match = _RESULT_AFTER_CALL.match(text)
    if match is None:
        return None
    return TextResult(text[match.end() :], match[1] if match.re is _RESULT else None)


def _inputs(body: str) -> dict[str, object] | None:
    """The parameters of a call, None where anything else stands among them."""
    inputs: dict[str, object] = {}
    position = 0
    while match := _PARAMETER.match(body, position):
        end = body.find(_PARAMETER_END, match.end())
        if end < 0:
            return None
        inputs[match[1]] = body[match.end() : end].strip("\n")
        position = end + len(_PARAMETER_END)
    return None if body[position:].strip() else inputs
