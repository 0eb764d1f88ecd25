"""Real and damaged transcripts load with the counts that were made independently of this code."""

from __future__ import annotations

import pytest

from corpus import CORPUS, check_row, corpus_files, needs_corpus, read_all, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_session, load_sessions

pytestmark = needs_corpus

_PACKED = ("derived/cc_gzip.jsonl.gz", "derived/inspect_zstd_method93.eval")
_ROWS = rows(
    lambda row: (
        row["path"].partition("/")[0] in ("claude-code", "derived") and row["path"] not in _PACKED
    )
)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["path"])
def test_a_corpus_file_loads_with_the_right_counts(row: dict[str, str]) -> None:
    check_row(row)


@pytest.mark.parametrize("path", _PACKED)
def test_packed_files_say_what_to_unpack(path: str) -> None:
    with pytest.raises(NotASessionError, match="unpack it first"):
        load_session(CORPUS / path)


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
