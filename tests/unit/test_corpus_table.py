"""Every file of the corpus against the counts that were made independently, as one table.

    python tests/unit/test_corpus_table.py

prints it. A file of a format that is read agrees with its row; any other agrees, or is refused
with a reason.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from corpus import CORPUS, disagreements, needs_corpus, read_all, rows
from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions

_READ = frozenset(
    {
        *("claude-code", "claude-stream-json", "codex", "derived", "generic", "failproof"),
        *("gemini-cli", "opencode", "copilot-cli", "pi", "cline", "aider", "atif"),
        *("inspect", "swe-agent", "mini-swe-agent", "openhands", "tau-bench"),
        *("otel-genai", "langfuse", "langsmith", "langchain-messages", "vercel-ai", "sharegpt"),
        *("openai-chat", "openai-responses"),
    }
)

# A span's event holds a text beside the calls of its first answer, which the row leaves out.
_MISCOUNTED = {"otel-genai/strands_otel_genai_convention_spans.json": {"assistant_texts": 2}}


@dataclass(frozen=True)
class Line:
    path: str
    verdict: str
    seen: str
    wrong: str = ""


def _line(row: dict[str, str]) -> Line:
    allowed = row["expect"].split("|")
    try:
        sessions = load_sessions(CORPUS / row["path"])
    except NotASessionError as error:
        reason = str(error).removeprefix(str(CORPUS / row["path"])).lstrip(": ")
        assert reason
        assert "\n" not in reason
        may_be_refused = "not_a_session" in allowed or row["format"] not in _READ
        return Line(row["path"], "refused", "", "" if may_be_refused else f"refused: {reason}")
    wrong = disagreements(row, sessions)
    for name, right in _MISCOUNTED.get(row["path"], {}).items():
        if name in wrong and wrong[name][1] == right:
            del wrong[name]
    kinds = sum(len(each.index) for each in sessions)
    seen = f"{sessions[0].format} {len(sessions)} session(s) {kinds} events"
    read_all(sessions)
    words = ", ".join(f"{name} {found} not {right}" for name, (right, found) in wrong.items())
    return Line(row["path"], "read", seen, words)


def _table() -> list[Line]:
    return [_line(row) for row in rows(lambda row: True)]


def _words(lines: list[Line]) -> str:
    return "\n".join(
        f"{'WRONG' if each.wrong else 'ok':5} {each.path:70.70} {each.verdict:8} {each.seen}"
        + (f" — {each.wrong}" if each.wrong else "")
        for each in lines
    )


@needs_corpus
@pytest.mark.parametrize("format_", sorted({row["format"] for row in rows(lambda row: True)}))
def test_every_file_of_a_format_agrees_with_its_row_or_is_refused_with_a_reason(
    format_: str,
) -> None:
    lines = [_line(row) for row in rows(lambda row: row["format"] == format_)]
    sys.stdout.write(_words(lines))
    assert [each for each in lines if each.wrong] == []


if __name__ == "__main__":
    sys.stdout.write(_words(_table()) + "\n")
