"""Codex rollouts of the corpus load with the counts that were made independently of this code."""

from __future__ import annotations

import pytest

from corpus import CORPUS, check_row, needs_corpus, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_session

pytestmark = needs_corpus

_ROWS = rows(lambda row: row["format"] == "codex")


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_corpus_file_loads_with_the_right_counts(row: dict[str, str]) -> None:
    check_row(row)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_corpus_file_is_known_for_what_it_is(row: dict[str, str]) -> None:
    try:
        session = load_session(CORPUS / row["path"])
    except NotASessionError as error:
        refusal = str(error)
    else:
        refusal = "session_meta records"
        assert session.format == "codex"
        assert all(note.severity == "info" for note in session.diagnostics)
        session.close()
    assert "session_meta records" in refusal
