"""Texts made to make a reader search them over and over are read as fast as any other."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions.formats.agent_chats import AgentChats
from longjudge.sessions.formats.atif import Atif
from longjudge.sessions.formats.cursor import Cursor
from retold_for_tests import retell

if TYPE_CHECKING:
    from longjudge.sessions.formats.retold import RetoldFormat

_MANY = 20_000
_SECONDS = 2.0


def atif(message: str) -> dict[str, object]:
    step = {"step_id": 1, "source": "agent", "message": message}
    return {"schema_version": "ATIF-v1.4", "steps": [step]}


@pytest.mark.parametrize(
    ("format_", "record"),
    [
        (Atif(), atif('"commands"' + "```{" * _MANY)),
        (Atif(), atif("<commands><response>" + "<keystrokes>" * _MANY)),
        (Cursor(), {"role": "user", "message": {"content": "<user_query>a" + " " * _MANY + "b"}}),
        (AgentChats(), {"role": " " * _MANY + "(((", "content": "hi"}),
    ],
    ids=["fences", "keystrokes", "query", "label"],
)
def test_no_text_is_searched_over_and_over(
    format_: RetoldFormat, record: dict[str, object]
) -> None:
    begun = process_time()
    assert retell(format_, [record]).all_events
    assert process_time() - begun < _SECONDS
