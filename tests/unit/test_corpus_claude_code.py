"""Real and damaged transcripts load with the counts that were made independently of this code.

The corpus stands beside the repository (`../shared/corpus`) or where LONGJUDGE_CORPUS says.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from claude_code_records import load_or_refusal
from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_session

_BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
# Read here: no test sees the environment that the tests were started in.
CORPUS = Path(os.environ.get("LONGJUDGE_CORPUS") or _BESIDE)
EXPECTED = CORPUS / "EXPECTED.tsv"

pytestmark = pytest.mark.skipif(
    not EXPECTED.is_file(), reason=f"no corpus at {CORPUS}; set LONGJUDGE_CORPUS to its folder"
)

_PACKED = ("derived/cc_gzip.jsonl.gz", "derived/inspect_zstd_method93.eval")


def _rows() -> list[dict[str, str]]:
    if not EXPECTED.is_file():
        return []
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        row
        for row in rows
        if (folder := row["path"].partition("/")[0]) in ("claude-code", "derived")
        and row["path"] not in _PACKED
    ]


def _matches(expected: str, found: int) -> bool:
    if not expected:
        return True
    for choice in expected.split("|"):
        low, _, high = choice.partition("-")
        if int(low) <= found <= int(high or low):
            return True
    return False


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["path"])
def test_a_corpus_file_loads_with_the_right_counts(row: dict[str, str]) -> None:
    try:
        session = load_session(CORPUS / row["path"])
    except NotASessionError:
        assert "not_a_session" in row["expect"].split("|")
        return
    index = session.index
    kinds = [index.kind(number) for number in range(len(index))]
    found = {
        "sessions": 1,
        "tool_calls": index.tool_calls,
        "tool_results": kinds.count(EventKind.TOOL_RESULT),
        "user_messages": kinds.count(EventKind.USER_MESSAGE),
        "assistant_texts": kinds.count(EventKind.ASSISTANT_MESSAGE),
        "bad_lines": session.skipped_lines,
    }
    wrong = {name: (row[name], n) for name, n in found.items() if not _matches(row[name], n)}
    assert not wrong
    calls = [n for n, kind in enumerate(kinds) if kind is EventKind.TOOL_CALL]
    if len(index.threads) > 1 and session.file(0) == session.file(len(index) - 1):
        # The counts go by the order of the file, the events thread by thread.
        calls.sort(key=lambda n: (session.line(n), n))
    tools = [index.tool(n) for n in calls]
    for name, tool in (("first_tool", tools[:1]), ("last_tool", tools[-1:])):
        # A blank beside calls says that none can be named for sure.
        if row[name] or not tools:
            assert not tools or tool[0] in row[name].split("|")
    for number in range(len(index)):
        session.text(number)
    session.close()


@pytest.mark.parametrize("path", _PACKED)
def test_packed_files_say_what_to_unpack(path: str) -> None:
    with pytest.raises(NotASessionError, match="unpack it first"):
        load_session(CORPUS / path)


def _files() -> list[str]:
    if not EXPECTED.is_file():
        return []
    return sorted(str(p.relative_to(CORPUS)) for p in CORPUS.glob("*/**/*") if p.is_file())


@pytest.mark.parametrize("path", _files())
def test_every_other_corpus_file_loads_or_is_refused_in_one_line(path: str) -> None:
    session = load_or_refusal(CORPUS / path)
    if isinstance(session, str):
        assert "\n" not in session
        return
    for number in range(len(session.index)):
        session.text(number)
    session.close()
