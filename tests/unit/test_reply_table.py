"""Every reply of the table becomes the verdict or the gap that stands beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.judges.anthropic import read_message
from longjudge.judges.reply import BadReply, read_reply
from longjudge.verdict import Finding, Verdict
from reply_table import ONE, ONE_CRITERION, TWO, TWO_CRITERIA, Gap, Row

if TYPE_CHECKING:
    from longjudge.rubric import Rubric


def message(row: Row) -> Any:
    """The message as the SDK builds it, whose blocks are not validated."""
    blocks = [{"type": "text", "text": row.reply}] if isinstance(row.reply, str) else row.reply
    return SimpleNamespace(
        type="message",
        stop_reason=row.stop,
        content=[SimpleNamespace(**block) for block in blocks],
        usage=None,
    )


def check(row: Row, rubric: Rubric) -> None:
    read = read_reply(read_message(message(row)), rubric)
    if isinstance(row.expect, Gap):
        assert isinstance(read, BadReply)
        assert read.reason.value == row.expect.reason
        assert row.expect.words in read.detail
        assert "\n" not in read.detail
        assert len(read.detail) <= 300
    else:
        findings = tuple(Finding(*found) for found in row.expect)
        assert read == Verdict(rubric.criterion_ids, findings)
        assert Verdict.from_json(read.to_json()) == read


@pytest.mark.parametrize("row", TWO, ids=lambda row: row.name)
def test_a_reply_about_two_criteria(row: Row) -> None:
    check(row, TWO_CRITERIA)


@pytest.mark.parametrize("row", ONE, ids=lambda row: row.name)
def test_a_reply_about_one_plain_question(row: Row) -> None:
    check(row, ONE_CRITERION)
