"""One module per format, and the tables of those that are read.

A new format is a class with `RetoldFormat` as its base and a line in `retold_table.py` (or with
`Format`, where each record stands on its own, and a line here). The order of the tables is the
order of recognition, the more particular one first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from longjudge.sessions.formats.anthropic_messages import AnthropicMessages
from longjudge.sessions.formats.claude_code import ClaudeCode
from longjudge.sessions.formats.cline import Cline
from longjudge.sessions.formats.codex import Codex
from longjudge.sessions.formats.generic import GenericEvents
from longjudge.sessions.formats.openai_chat import OpenAIChat
from longjudge.sessions.formats.openai_responses import OpenAIResponses

if TYPE_CHECKING:
    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.formats.retold import RetoldFormat

CLAUDE_CODE = ClaudeCode()
CODEX = Codex()
GENERIC = GenericEvents()

ENVELOPED: tuple[SessionFormat, ...] = (CODEX, CLAUDE_CODE)
"""Formats whose records say by their envelope what they are."""

MESSAGE_LISTS: tuple[SessionFormat, ...] = (
    Cline(),
    AnthropicMessages(),
    OpenAIResponses(),
    OpenAIChat(),
)
"""Lists of messages as the models' interfaces take them: whatever has no envelope of its own."""

FORMATS: tuple[SessionFormat, ...] = (*ENVELOPED, *MESSAGE_LISTS, GENERIC)
"""Every format that is read."""


def retold_formats() -> tuple[RetoldFormat, ...]:
    """Formats whose records need one another; loaded when a file is none of the others."""
    table = import_module("longjudge.sessions.formats.retold_table")
    return cast("tuple[RetoldFormat, ...]", table.RETOLD)
