"""Real lists of messages load with the counts that were made independently of this code.

No other file of the corpus may be taken for one of them.
"""

from __future__ import annotations

import pytest

from corpus import CORPUS, check_row, corpus_files, needs_corpus, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions
from longjudge.sessions.formats.tau_bench import UNRECORDED

pytestmark = needs_corpus

_NAMES = ("openai-chat", "openai-responses", "anthropic-messages", "cline")
_ROWS = rows(lambda row: row["format"] in _NAMES)

# Few-shot examples of tau-bench: conversations that are written out as text, without their calls.
_WRITTEN_OUT = "openai-chat/tau_airline_few_shot.jsonl"
_READ_AS = {_WRITTEN_OUT: "tau-bench"}
_WARNINGS = {_WRITTEN_OUT: {UNRECORDED: 98}}


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_message_list_loads_with_the_right_counts(row: dict[str, str]) -> None:
    check_row(row)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_message_list_is_known_for_what_it_is(row: dict[str, str]) -> None:
    try:
        sessions = load_sessions(CORPUS / row["path"])
    except NotASessionError:
        assert "not_a_session" in row["expect"].split("|")
        return
    formats = {session.format for session in sessions}
    warnings = [
        {note.reason: note.count for note in session.diagnostics if note.severity != "info"}
        for session in sessions
    ]
    for session in sessions:
        session.close()
    assert formats == {_READ_AS.get(row["path"], row["format"])}
    assert all(each == _WARNINGS.get(row["path"], {}) for each in warnings)


@pytest.mark.parametrize(
    "path", [path for path in corpus_files() if path.partition("/")[0] not in _NAMES]
)
def test_no_other_file_is_taken_for_a_message_list(path: str) -> None:
    try:
        sessions = load_sessions(CORPUS / path)
    except NotASessionError:
        return
    for session in sessions:
        assert session.format not in _NAMES
        session.close()
