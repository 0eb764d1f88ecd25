"""Each result is paired with the call it answers, whatever the ids are like."""

from __future__ import annotations

import pytest

from longjudge.sessions import Event, EventKind
from longjudge.sessions.index import IndexBuilder, ToolNames


def pairs(*steps: str) -> list[int]:
    """Calls of the events `c:<id>`, `r:<id>` (id may be empty) and `m` (a message)."""
    rows = IndexBuilder(ToolNames())
    kinds = {"c": EventKind.TOOL_CALL, "r": EventKind.TOOL_RESULT, "m": EventKind.USER_MESSAGE}
    for number, step in enumerate(steps):
        kind, _, call_id = step.partition(":")
        rows.add(Event(kinds[kind], "", None, call_id or None), number, 0, bytes(16), 1, 1)
    return list(rows.index.calls)


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        (("c:a", "c:b", "r:a", "r:b"), [0, 1, 0, 1]),
        (("c:0", "r:0", "c:0", "r:0"), [0, 0, 2, 2]),
        (("c:0", "c:0", "r:0", "r:0"), [0, 1, 1, 0]),
        (("c:a", "r:a", "r:a"), [0, 0, 2]),
        (("c:a", "m", "r:x"), [0, 1, 2]),
        (("c:", "r:"), [0, 0]),
        (("c:a", "r:"), [0, 0]),
        (("c:a", "r:", "r:a"), [0, 0, 2]),
        (("c:", "m", "r:"), [0, 1, 2]),
        (("c:", "r:", "r:"), [0, 0, 2]),
        (("r:a", "c:a"), [0, 1]),
    ],
)
def test_a_result_answers_the_latest_open_call_of_its_id(
    steps: tuple[str, ...], calls: list[int]
) -> None:
    assert pairs(*steps) == calls
