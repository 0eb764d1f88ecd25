"""What started a thread, in a few words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge_tui.bench.texts import Texts

FIRST_KEY = re.compile(r"\A\w{1,30}: ")
"""The name of a call's first input: what it is given says more in little room."""

_FIRST_CHARS = 600


def call_words(texts: Texts, call: int) -> str:
    """A call in one line, by its number: `← 148 Task: look for usages`."""
    index = texts.session.index
    words = f"← {call} {line(index.tool(call), 40)}".rstrip()
    if texts.is_slow(call):
        return words
    try:
        body = texts.session.event(call).body[:_FIRST_CHARS].lstrip()
    except SessionError:
        # The event's own row says what is wrong with the file.
        return words
    first = FIRST_KEY.sub("", body, count=1).partition("\n")[0]
    return f"{words}: {line(first)}" if first else words
