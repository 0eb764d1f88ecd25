"""One module per format, and the table of those that are read.

A new format is a class with `Format` as its base and a line in `FORMATS`; the order is the order
of recognition, the more particular one first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.claude_code import ClaudeCode
from longjudge.sessions.formats.generic import GenericEvents

if TYPE_CHECKING:
    from longjudge.sessions.formats.base import SessionFormat

CLAUDE_CODE = ClaudeCode()
GENERIC = GenericEvents()
FORMATS: tuple[SessionFormat, ...] = (CLAUDE_CODE, GENERIC)
