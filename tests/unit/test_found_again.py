"""Quotes are found again at their offsets once a session is closed and loaded again."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from corpus import CORPUS, corpus_files, needs_corpus
from longjudge.board import Board
from longjudge.chunks import plan_chunks
from longjudge.errors import NotASessionError
from longjudge.judges.rules import criteria_with_rules, find_problems
from longjudge.prompt import build_question, sent_event
from longjudge.quotes import fold
from longjudge.rubric import load_rubric
from longjudge.sessions import load_sessions
from longjudge.store import KeptVerdict
from longjudge.updates import ignore_updates
from longjudge.verdict import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longjudge.judges.base import QuestionEvent
    from longjudge.result import ResultFinding
    from longjudge.sessions import Session

SAMPLES = sorted((Path(__file__).parents[2] / "sample_sessions").iterdir())
CRITERIA = criteria_with_rules()
RULES = "by the rules"
COPIED = "copied badly"

_FILES = [CORPUS / path for path in corpus_files()]
_SOME = [path for path in _FILES if zlib.crc32(path.name.encode()) % 12 == 0]
_SMALL = [path for path in _SOME if path.stat().st_size < 1_000_000]


def found_in(
    session: Session, chunk_chars: int, chance: random.Random, *, redact: bool
) -> Iterator[ResultFinding]:
    """What the rules find in every chunk and what was copied badly out of it, in its place."""
    plan = plan_chunks(session.index, chunk_chars)
    board = Board(session, plan, ignore_updates, redacted=redact)
    rubric = load_rubric("chunks")
    for position in range(len(plan)):
        events = build_question(session, plan, position, rubric, redact=redact).events
        by_rules = find_problems(events, CRITERIA)
        findings = [each for name in CRITERIA for each in by_rules[name]]
        verdict = Verdict(CRITERIA, (*findings, *copied_badly(events, chance)))
        board.judged(position, KeptVerdict(verdict, "", False), from_cache=True)
    return (finding for record in board.chunks for finding in record.findings)


def copied_badly(events: Sequence[QuestionEvent], chance: random.Random) -> Iterator[Finding]:
    """A stretch of some events, with another case and other white space."""
    for event in chance.sample(events, min(3, len(events))):
        start = chance.randrange(len(event.text) + 1)
        quote = event.text[start : start + 60].swapcase().replace(" ", " \n ")
        if len(fold(quote).replace(" ", "")) >= 8:
            yield Finding(COPIED, "", chance.choice([event.number, len(events) + 1]), quote)


def check(path: Path, chunk_chars: int, *, redact: bool) -> int:
    """How many quotes were found by rules; all are where they are said to be."""
    try:
        sessions = load_sessions(path)
    except NotASessionError:
        return 0
    chance = random.Random(path.name)
    found = [list(found_in(each, chunk_chars, chance, redact=redact)) for each in sessions]
    for session in sessions:
        session.close()
    for session, findings in zip(load_sessions(path), found, strict=True):
        for each in findings:
            assert each.verified, each
            assert each.event is not None
            assert each.span is not None
            assert each.quote is not None
            assert each.criterion == COPIED or not each.corrected, each
            sent = sent_event(session, each.event, redact=redact)
            start, end = sent.from_original(*each.span)
            assert fold(each.quote) in fold(sent.text[start:end]), each
            assert end - start <= len(each.quote) + 200
        session.close()
    return sum(each.criterion != COPIED for findings in found for each in findings)


@pytest.mark.parametrize(("chunk_chars", "redact"), [(30_000, True), (1_000, False)])
def test_every_quote_of_the_samples_is_found_again(chunk_chars: int, redact: bool) -> None:
    assert sum(check(path, chunk_chars, redact=redact) for path in SAMPLES)


@needs_corpus
def test_every_quote_of_some_real_sessions_is_found_again() -> None:
    for path in _SMALL:
        check(path, 30_000, redact=True)


@needs_corpus
@pytest.mark.thorough
@pytest.mark.parametrize("redact", [True, False])
@pytest.mark.parametrize("chunk_chars", [30_000, 2_000])
def test_every_quote_of_all_real_sessions_is_found_again(chunk_chars: int, redact: bool) -> None:
    assert sum(check(path, chunk_chars, redact=redact) for path in _FILES)
