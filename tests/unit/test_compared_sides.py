"""What a comparison leads to: an event of the session as it is now, and terms to judge by again."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from longjudge.api import open_session
from longjudge.board import Board
from longjudge.comparison.alignment import Cell
from longjudge.comparison.compare import Row, RowKind
from longjudge.comparison.pairing import Pair
from longjudge.comparison.sides import READING, JudgedBy, SideFinding
from longjudge.errors import LongjudgeError, UsageError
from longjudge.estimate import Estimator
from longjudge.history import ChunkSetting, Entry
from longjudge.judges.make import make_judge
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store, note_rubric
from longjudge.updates import ignore_updates
from longjudge_tui.bench.compared_lines import Line
from longjudge_tui.bench.planned_side import PlannedSide
from longjudge_tui.bench.preview import Preview
from longjudge_tui.bench.records import Records
from longjudge_tui.bench.reporting import report_of_past
from longjudge_tui.bench.side_offers import Offer, Offers
from longjudge_tui.bench.side_terms import Terms, terms_of
from longjudge_tui.bench.sought import sought_of
from longjudge_tui.bench.tuning import Tuning
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.comparison.sides import Side
    from longjudge_tui.bench.bench import Bench


def cell(first: int, last: int, *findings: SideFinding) -> Cell:
    return Cell((1,), ChunkState.FLAGGED, "", first, last, findings)


async def test_an_event_is_found_by_its_text_where_it_has_another_number_by_now(
    tmp_path: Path,
) -> None:
    session = await open_session(write_session(tmp_path / "s.jsonl", 8))
    assert len(session.index) > 4
    digest = session.index.digest(4).hex()
    finding = SideFinding(1, "c", "", 2, "q", verified=True, digest=digest, span=(0, 1))
    row = Row(RowKind.BOTH_FLAGGED, "main", cell(1, 2, finding), cell(3, 5), ())
    line = Line(row, Pair(finding, None), 0)
    assert sought_of(line, session, live=(False, True)).event == 4
    # Where nothing says so, it is the number that was noted, in the session in any case.
    assert sought_of(line, session, live=(False, False)).event == 2
    far = replace(finding, event=9_999)
    assert sought_of(replace(line, pair=Pair(far, None)), session, live=(False, False)).event == 0
    session.close()


async def test_a_judgment_is_asked_on_by_what_it_was_judged_by_or_it_is_said_why_not(
    tmp_path: Path,
) -> None:
    chunks = load_rubric("chunks")
    other = chunks.model_copy(update={"instructions": "Be strict."})
    store = await Store.open(tmp_path / "s.sqlite")
    await note_rubric(store, other)
    tuning = Tuning(
        Settings(),
        OfflineJudge(),
        chunks,
        make_judge=make_judge,
        model_name=None,
        refuse=lambda: None,
        changed=lambda: None,
        calls_changed=lambda _: None,
    )
    by = JudgedBy("offline", "chunks", other.version, 700, by_tokens=True)
    terms = await terms_of(by, tuning, store)
    assert (terms.rubric.version, terms.settings.chunk_tokens) == (other.version, 700)
    assert not terms.same_as(Terms.standing(tuning))
    terms.use(tuning)
    assert terms.same_as(Terms.standing(tuning))
    assert (tuning.rubric.instructions, tuning.size) == ("Be strict.", 700)
    refused = {
        "not known any more": replace(by, version="00000000"),
        "not noted": replace(by, size=None),
        "out of range": replace(by, size=1),
    }
    for words, each in refused.items():
        with pytest.raises(LongjudgeError, match=words):
            await terms_of(each, tuning, store)
    await tuning.aclose()
    await store.aclose()


async def test_what_is_kept_stands_while_a_run_is_still_finding_it(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", 12)
    settings, rubric = Settings(chunk_chars=1000), load_rubric("chunks")
    store = await Store.open(tmp_path / "s.sqlite")
    session = await open_session(path)
    tuning = Tuning(
        settings,
        OfflineJudge(),
        rubric,
        make_judge=make_judge,
        model_name=None,
        refuse=lambda: None,
        changed=lambda: None,
        calls_changed=lambda _: None,
    )
    judge = tuning.judge
    await Judgment(session, rubric=rubric, judge=judge, store=store, settings=settings).run()
    terms = Terms.standing(tuning)
    measured = Estimator.of(session, rubric, tuning.judge.model, tuning.judge.price)
    outlook = terms.outlook(session, measured, frozenset[str]())
    preview = Preview(session, outlook, set(outlook.keys), store)
    bench = SimpleNamespace(tuning=tuning, outlook=outlook, records=preview, generation=0)
    side = PlannedSide(cast("Bench", bench), terms)
    assert side.state
    before = side.side(session)
    assert before is not None
    assert (before.judged, before.status) == (0, READING)
    await preview.fill()
    assert side.state
    board = Board(session, outlook.plan, ignore_updates, redacted=True)
    bench.records = Records(board)
    now = side.side(session)
    assert now is not None
    assert (now.judged, now.lacking, now.status) == (len(outlook.plan), 0, "")
    session.close()
    await tuning.aclose()
    await store.aclose()


async def test_a_report_says_first_which_changed_questions_the_offline_rules_did_not_read(
    tmp_path: Path,
) -> None:
    chunks = load_rubric("chunks")
    first = chunks.criteria[0].model_copy(update={"question": "Is anything lost?"})
    rubric = chunks.model_copy(update={"criteria": (first, *chunks.criteria[1:])})
    store = await Store.open(tmp_path / "s.sqlite")
    session = await open_session(write_session(tmp_path / "s.jsonl", 4))
    judged = await Judgment(session, rubric=rubric, judge=OfflineJudge(), store=store).run()
    report = await report_of_past(store, judged.id, session=None, redact=True)
    assert report is not None
    words = "**the offline rules do not read the changed question of destructive_action**"
    assert words.replace("_", "") in report.text.split("\n")[2].replace("_", "")
    assert "Rubric: an edited version of chunks, version" in report.text
    assert "- **destructive_action**: Is anything lost?" in report.text
    session.close()
    await store.aclose()


async def test_the_side_before_is_the_one_that_says_most_beside_what_stands(tmp_path: Path) -> None:
    def entry(id: str, version: str, size: int, status: str = "complete", judged: int = 2) -> Entry:
        facts = ("/a", "s", "", "", 4, "chunks", version, "offline", ChunkSetting(size, "chars"))
        return Entry(id, "a", *facts, True, status, 0.0, chunks=2, judged=judged)

    offers = Offers(cast("Bench", SimpleNamespace()))
    by = JudgedBy("offline", "chunks", "v2", 1000)
    ranked = [
        entry("same chunks", "v1", 1000),
        entry("same chunks, partial", "v1", 1000, "partial", 1),
        entry("other chunks", "v2", 500),
        entry("other chunks, partial", "v1", 500, "partial", 1),
    ]
    tried: list[str] = []

    async def recorded(id: str) -> Side:
        tried.append(id)
        raise UsageError(id)

    offers.recorded = recorded  # pyright: ignore[reportAttributeAccessIssue]
    nothing = entry("nothing judged", "v1", 1000, "cancelled", 0)
    offers.offers = [Offer(each) for each in (*reversed(ranked), nothing, entry("h", "v2", 1000))]
    assert await offers.before("h", by) is None
    assert tried[:3] == [each.id for each in ranked[:3]]
    assert set(tried[3:]) == {"other chunks, partial", "nothing judged"}
