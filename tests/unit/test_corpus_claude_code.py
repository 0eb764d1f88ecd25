"""Real and damaged transcripts load with the counts that were made independently of this code."""

from __future__ import annotations

import pytest

from corpus import CORPUS, check_row, corpus_files, needs_corpus, read_all, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions

pytestmark = needs_corpus

_ROWS = rows(lambda row: row["path"].partition("/")[0] in ("claude-code", "derived"))


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_corpus_file_loads_with_the_right_counts(row: dict[str, str]) -> None:
    check_row(row)


@pytest.mark.parametrize("path", corpus_files())
def test_every_other_corpus_file_loads_or_is_refused_in_one_line(path: str) -> None:
    try:
        sessions = load_sessions(CORPUS / path)
    except NotASessionError as refusal:
        words = str(refusal)
    else:
        words = ""
        read_all(sessions)
    assert "\n" not in words
