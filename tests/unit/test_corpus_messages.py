"""Real lists of messages load with the counts that were made independently of this code.

No other file of the corpus may be taken for one of them.
"""

from __future__ import annotations

import pytest

from corpus import CORPUS, check_row, corpus_files, needs_corpus, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions

pytestmark = needs_corpus

_NAMES = ("openai-chat", "openai-responses", "anthropic-messages", "cline")
_ROWS = rows(lambda row: row["format"] in _NAMES)


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
    for session in sessions:
        assert session.format == row["format"]
        assert all(note.severity == "info" for note in session.diagnostics)
        session.close()


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
