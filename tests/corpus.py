"""The corpus of real and damaged sessions, and the counts that it should load with.

It stands beside the repository (`../shared/corpus`) or where LONGJUDGE_CORPUS says. The counts were
made independently of this code.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions import Session

Row = dict[str, str]

_BESIDE = Path(__file__).parents[2] / "shared" / "corpus"
# Read here: no test sees the environment that the tests were started in.
CORPUS = Path(os.environ.get("LONGJUDGE_CORPUS") or _BESIDE)
EXPECTED = CORPUS / "EXPECTED.tsv"

needs_corpus = pytest.mark.skipif(
    not EXPECTED.is_file(), reason=f"no corpus at {CORPUS}; set LONGJUDGE_CORPUS to its folder"
)


def rows(wanted: Callable[[Row], bool]) -> list[Row]:
    """The rows of the files that are wanted; none where there is no corpus."""
    if not EXPECTED.is_file():
        return []
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        return list(filter(wanted, csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)))


def corpus_files() -> list[str]:
    """Every file of the corpus; none where there is no corpus."""
    if not EXPECTED.is_file():
        return []
    return sorted(str(p.relative_to(CORPUS)) for p in CORPUS.glob("*/**/*") if p.is_file())


def sessions_or_none(row: Row) -> list[Session] | None:
    """The sessions of a row's file, None where it is refused."""
    try:
        return load_sessions(CORPUS / row["path"])
    except NotASessionError:
        return None


def disagreements(row: Row, sessions: Sequence[Session]) -> dict[str, tuple[str, object]]:
    """What differs from the row: its word, and what was found."""
    kinds = [each.index.kind(n) for each in sessions for n in range(len(each.index))]
    counts = {
        "sessions": len(sessions),
        "tool_calls": kinds.count(EventKind.TOOL_CALL),
        "tool_results": kinds.count(EventKind.TOOL_RESULT),
        "user_messages": kinds.count(EventKind.USER_MESSAGE),
        "assistant_texts": kinds.count(EventKind.ASSISTANT_MESSAGE),
        "bad_lines": sessions[0].skipped_lines,
    }
    wrong: dict[str, tuple[str, object]] = {
        name: (row[name], n) for name, n in counts.items() if not _matches(row[name], n)
    }
    if row["expect"] == "not_a_session":
        wrong["expect"] = (row["expect"], "session")
    tools = [tool for each in sessions for tool in _tools(each)]
    for name, tool in (("first_tool", tools[:1]), ("last_tool", tools[-1:])):
        # A blank beside calls says that none can be named for sure.
        if tools and row[name] and tool[0] not in row[name].split("|"):
            wrong[name] = (row[name], tool[0])
    return wrong


def read_all(sessions: Sequence[Session]) -> None:
    """Read the text of every event again, and let go of the file."""
    for session in sessions:
        for number in range(len(session.index)):
            session.text(number)
        session.close()


def check_row(row: Row) -> None:
    """A row's file loads with its counts, or is refused where that is right too."""
    sessions = sessions_or_none(row)
    if sessions is None:
        assert "not_a_session" in row["expect"].split("|")
        return
    assert not disagreements(row, sessions)
    read_all(sessions)


def _tools(session: Session) -> list[str]:
    """The tools that were called, in the order of the file."""
    index = session.index
    calls = [n for n in range(len(index)) if index.kind(n) is EventKind.TOOL_CALL]
    if len(index.threads) > 1 and session.file(0) == session.file(len(index) - 1):
        # The counts go by the order of the file, the events thread by thread.
        calls.sort(key=lambda n: (index.records[n], n))
    return [index.tool(n) for n in calls]


def _matches(expected: str, found: int) -> bool:
    if not expected:
        return True
    for choice in expected.split("|"):
        low, _, high = choice.partition("-")
        if int(low) <= found <= int(high or low):
            return True
    return False
