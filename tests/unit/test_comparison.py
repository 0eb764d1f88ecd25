"""Two judgments of a session: aligned by events, honest about what one side has not judged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.cli.comparing import comparison_json, comparison_text
from longjudge.comparison.compare import RowKind, compare
from longjudge.comparison.redacting import redacted_comparison
from longjudge.comparison.report import markdown_comparison, markdown_row
from longjudge.comparison.sides import (
    READING,
    JudgedBy,
    Side,
    SideFinding,
    SidePart,
    SideSession,
    side_of,
)
from longjudge.comparison.words import (
    NO_MARK_YET,
    coverage_words,
    flip_words,
    flip_words_in_brief,
    score_words,
    side_words,
    side_words_in_brief,
    verdict_words,
)
from longjudge.errors import UsageError
from longjudge.marks import Mark
from longjudge.report.asked import Questions
from longjudge.states import ChunkState
from longjudge.store import PastJudgment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.comparison.compare import Comparison

CLEAN, FLAGGED, GAP = ChunkState.CLEAN, ChunkState.FLAGGED, ChunkState.GAP
SESSION = SideSession("a.jsonl", "/a.jsonl", "s", "A title", "generic", 12)


def digest(event: int) -> str:
    return f"{event:064x}"


def found(part: int, event: int | None, quote: str | None = "q", **members: Any) -> SideFinding:
    text = digest(event) if event is not None else ""
    known: dict[str, Any] = {"criterion": "c", "note": f"note {event}", "digest": text} | members
    return SideFinding(part=part, event=event, quote=quote, verified=True, **known)


def parts(*chunks: tuple[int, int, ChunkState], thread: str = "main") -> tuple[SidePart, ...]:
    return tuple(
        SidePart(
            number,
            state,
            "timed_out" if state is GAP else "",
            thread,
            first,
            last,
            last - first + 1,
        )
        for number, (first, last, state) in enumerate(chunks, 1)
    )


def side(
    chunks: tuple[SidePart, ...],
    findings: Sequence[SideFinding] = (),
    *,
    size: int = 1000,
    **members: Any,
) -> Side:
    by = JudgedBy("offline", "chunks", "v1", size)
    known: dict[str, Any] = {
        "id": "j_1",
        "created": 0.0,
        "status": "complete",
        "by": by,
        "session": SESSION,
        "parts": chunks,
        "findings": tuple(findings),
        "criteria": ("c",),
        "score": 0.5,
    }
    return Side(**(known | members))


def kinds(comparison: Comparison) -> list[tuple[RowKind, tuple[int, int] | None]]:
    return [
        (row.kind, (row.one.first, row.one.last) if row.one is not None else None)
        for row in comparison.rows
    ]


def test_where_both_cut_alike_every_chunk_is_a_row_and_flips_come_first() -> None:
    one = side(parts((0, 3, CLEAN), (4, 7, FLAGGED), (8, 9, GAP), (10, 11, CLEAN)), [found(2, 5)])
    other = side(
        parts((0, 3, CLEAN), (4, 7, CLEAN), (8, 9, FLAGGED), (10, 11, FLAGGED)),
        [found(3, 8), found(4, 11)],
    )
    both = compare(one, other, {})
    assert kinds(both) == [
        (RowKind.TO_FLAGGED, (10, 11)),
        (RowKind.TO_CLEAN, (4, 7)),
        (RowKind.ONLY_OTHER, (8, 9)),
        (RowKind.BOTH_CLEAN, (0, 3)),
    ]
    assert both.same_plan
    assert (both.agreed, both.flips) == (1, 2)
    # What B found where A has no verdict is neither gained nor lost.
    counts = both.found
    assert (counts.same, counts.only_one, counts.only_other) == (0, 1, 1)
    assert (counts.unknown_one, counts.unknown_other) == (0, 1)
    assert "A is partial: 1 of 4 chunks have no verdict" in both.remarks
    assert (both.coverage_one.judged, both.coverage_other.judged, both.shared) == (10, 12, 12)


def test_other_chunks_are_laid_over_one_another_and_a_finding_counts_where_its_event_is() -> None:
    one = side(parts((0, 5, FLAGGED), (6, 11, CLEAN)), [found(1, 1)])
    other = side(
        parts((0, 3, FLAGGED), (4, 7, FLAGGED), (8, 11, CLEAN)),
        [found(1, 1, note="the same"), found(2, 7)],
        size=500,
    )
    both = compare(one, other, {})
    assert kinds(both) == [
        (RowKind.TO_FLAGGED, (6, 7)),
        (RowKind.BOTH_FLAGGED, (0, 3)),
        (RowKind.BOTH_CLEAN, (4, 5)),
        (RowKind.BOTH_CLEAN, (8, 11)),
    ]
    assert not both.same_plan
    assert both.rows[1].same_findings
    assert both.found.same == 1
    assert both.why_no_scores == "not comparable: 1,000 characters and 500 characters"
    assert score_words(both).startswith("scores not comparable")


def test_a_grown_session_is_said_and_the_threads_behind_are_still_found() -> None:
    first = parts((0, 3, CLEAN)) + parts((4, 5, FLAGGED), thread="helper")
    then = parts((0, 3, CLEAN), (4, 7, CLEAN)) + parts((8, 9, FLAGGED), thread="helper")
    one = side(tuple(replace(part, part=n) for n, part in enumerate(first, 1)), [found(2, 4)])
    other = side(
        tuple(replace(part, part=n) for n, part in enumerate(then, 1)),
        [found(3, 8, digest=digest(4))],
        session=replace(SESSION, events=10),
    )
    one = replace(one, session=replace(SESSION, events=6))
    both = compare(one, other, {})
    assert [row.kind for row in both.rows] == [
        RowKind.ONLY_OTHER,
        RowKind.BOTH_FLAGGED,
        RowKind.BOTH_CLEAN,
    ]
    assert both.rows[0].one is None
    assert both.rows[1].same_findings
    assert both.coverage_other.beyond == 4
    assert "4 events only in B" in coverage_words(both)
    assert any("6 events in one and 10 in the other" in each for each in both.remarks)
    assert score_words(both) == "scores not comparable: of 6 and of 10 events"


def test_pieces_of_a_huge_event_are_compared_one_by_one_or_all_together() -> None:
    whole = parts((0, 0, CLEAN), (1, 1, CLEAN), (1, 1, FLAGGED), (2, 2, CLEAN))
    one = side(whole, [found(3, 1)])
    assert [row.kind for row in compare(one, one, {}).rows].count(RowKind.BOTH_CLEAN) == 3
    other = side(parts((0, 0, CLEAN), (1, 1, GAP), (1, 1, GAP), (1, 1, CLEAN), (2, 2, CLEAN)))
    both = compare(one, other, {})
    assert [row.kind for row in both.rows] == [
        RowKind.ONLY_ONE,
        RowKind.BOTH_CLEAN,
        RowKind.BOTH_CLEAN,
    ]
    assert both.rows[0].one is not None
    assert both.rows[0].one.parts == (2, 3)
    assert (both.shared, both.coverage_other.judged) == (3, 2)


def test_marks_say_which_side_finds_what_is_right_and_what_is_not_known() -> None:
    chunks = ((0, 3, FLAGGED), (4, 7, FLAGGED), (8, 11, GAP))
    one = side(parts(*chunks), [found(1, 0), found(2, 4)])
    other = side(
        parts((0, 3, FLAGGED), (4, 7, CLEAN), (8, 11, FLAGGED)), [found(1, 0), found(3, 9)]
    )
    assert verdict_words(compare(one, other, {})) == NO_MARK_YET
    marks = {(bytes.fromhex(digest(event)), "c"): Mark.RIGHT for event in (0, 9)}
    marks[bytes.fromhex(digest(4)), "c"] = Mark.WRONG
    words = verdict_words(compare(one, other, marks))
    assert words == (
        "of 2 findings marked right, A finds 1 (1 not judged), B 2"
        " · of 1 finding marked wrong, A finds 1, B 0"
    )
    del marks[bytes.fromhex(digest(4)), "c"]
    assert "not marked, so not known: 1 of A, 0 of B" in verdict_words(compare(one, other, marks))


def test_what_others_found_rightly_and_neither_side_has_is_said() -> None:
    one = side(parts((0, 11, FLAGGED)), [found(1, 0)])
    marks = {(bytes.fromhex(digest(event)), "c"): Mark.RIGHT for event in (0, 3)}
    both = compare(one, one, marks, [(digest(0), "c"), (digest(3), "c"), (digest(5), "c")])
    assert verdict_words(both) == (
        "of 1 finding marked right, A finds 1, B 1"
        " · 1 more marked right in other judgments: neither finds"
    )


def test_findings_are_matched_by_place_and_criterion_and_then_by_quote() -> None:
    chunk = parts((0, 11, FLAGGED))
    one = side(chunk, [found(1, 2, "x"), found(1, 2, "y"), found(1, 5, "rm -rf /")])
    other = side(
        chunk,
        [found(1, 2, "y"), found(1, 2, "z"), found(1, 6, "rm -rf /"), found(1, 7, criterion="d")],
    )
    [row] = compare(one, other, {}).rows
    matched = [(pair.one and pair.one.quote, pair.other and pair.other.quote) for pair in row.pairs]
    assert matched == [("x", "z"), ("y", "y"), ("rm -rf /", "rm -rf /"), (None, "q")]


def test_equal_texts_at_two_events_are_matched_each_where_it_stands() -> None:
    chunk, same = parts((0, 5, FLAGGED)), digest(77)
    one = side(chunk, [found(1, 2, digest=same), found(1, 5, digest=same)])
    other = side(chunk, [found(1, 5, digest=same)])
    [row] = compare(one, other, {}).rows
    events = [(pair.one and pair.one.event, pair.other and pair.other.event) for pair in row.pairs]
    assert events == [(2, None), (5, 5)]
    # Where nobody noted the text, the place alone says it; where it is another text, it does not.
    for noted, matched in (("", 1), (digest(5), 0)):
        two = side(chunk, [found(1, 5, "another quote", digest=noted)])
        assert compare(other, two, {}).found.same == matched


def test_a_huge_event_that_is_judged_in_part_says_nothing_about_the_rest() -> None:
    one = side(parts((0, 0, GAP), (0, 0, FLAGGED)), [found(2, 0)])
    other = side(parts((0, 0, FLAGGED)), [found(1, 0), found(1, 0, criterion="d")], size=5000)
    both = compare(one, other, {(bytes.fromhex(digest(0)), "d"): Mark.RIGHT})
    assert (both.found.only_other, both.found.unknown_other) == (0, 1)
    assert (both.coverage_one.judged, both.coverage_other.judged) == (0, 1)
    assert "A parts 1-2 flagged, 1 of them not judged" in comparison_text(both)
    assert "A finds 0 (1 not asked for), B 1" in verdict_words(both)


def test_what_a_rubric_does_not_ask_for_is_not_held_against_it() -> None:
    one = side(parts((0, 11, FLAGGED)), [found(1, 2)])
    other = side(parts((0, 11, GAP)), criteria=("d",))
    marks = {(bytes.fromhex(digest(event)), name): Mark.RIGHT for event in (2, 3) for name in "cx"}
    both = compare(one, other, marks, [(digest(3), "c"), (digest(3), "x")])
    assert verdict_words(both).startswith(
        "of 1 finding marked right, A finds 1, B 0 (1 not asked for)"
        " · 1 more marked right in other judgments: neither finds, as far as judged"
    )


def test_a_finding_without_an_event_is_no_sure_flip_where_the_chunks_differ() -> None:
    one = side(parts((0, 5, FLAGGED)), [found(1, None)])
    other = side(parts((0, 2, CLEAN), (3, 5, FLAGGED)), [found(2, None)], size=500)
    assert "2 findings name no event: they count where the chunk begins" in " ".join(
        compare(one, other, {}).remarks
    )
    assert not compare(one, one, {}).remarks
    assert compare(one, one, {}).found.same == 1


def test_what_the_offline_rules_do_not_read_and_other_chunk_sizes_are_said_first() -> None:
    one = side(parts((0, 5, CLEAN), (6, 11, GAP)))
    other = replace(one, by=replace(one.by, version="v2"))
    both = compare(one, other, {})
    assert both.remarks[0] == (
        "the offline rules do not read questions: these versions cannot differ here;"
        " a model is needed"
    )
    assert "A is partial" in both.other_remarks[0]
    assert f"\n- {both.remarks[0]}\n- 0 clean → flagged" in markdown_comparison(both)
    model = replace(one, by=replace(one.by, model="m", size=500))
    changed = replace(other, unread=("c", "d"))
    caveats = compare(model, changed, {}).caveats
    assert [each.words for each in caveats] == [
        "B: the offline rules do not read the changed question of c, d",
        "different chunk sizes: flips are not about the rubric alone",
    ]
    assert [each.whole for each in caveats] == [each.words for each in caveats]
    assert all(len(each.brief) < 76 for each in (*caveats, *both.caveats))
    assert not compare(model, replace(model, by=replace(model.by, version="v3")), {}).caveats
    before, after = Questions((("c", "Mine?"), ("d", "Old?"))), Questions((("c", "Mine?"),))
    shared = compare(
        replace(model, unread=("c", "d"), asked=before), replace(changed, asked=after), {}
    )
    words = "A and B: the offline rules do not read the changed question of c, d"
    assert shared.remarks[0] == words
    told = "that of c is the same in A and B: changed in both against the built-in rubric"
    assert f"\n- {words}; {told}\n" in markdown_comparison(shared)
    alike = replace(model, unread=("c",), asked=before)
    [_, told, *_] = compare(alike, alike, {}).caveats[0].whole.split("; ")
    assert told == "it is the same in A and B: changed in both against the built-in rubric"


def test_where_no_event_is_judged_by_both_nothing_is_called_the_same() -> None:
    both = compare(side(parts((0, 5, GAP))), side(parts((0, 5, CLEAN))), {})
    assert flip_words(both) == "both have judged nothing in common yet · only B judged 1"
    assert flip_words_in_brief(both) == "both have judged nothing in common yet · only B 1"


def test_other_texts_other_files_and_other_criteria_are_said() -> None:
    one = side(parts((0, 3, CLEAN), (4, 11, FLAGGED)), [found(2, 5)])
    changed = replace(parts((0, 3, CLEAN))[0], chars=99)
    other = side(
        (changed, *parts((0, 3, CLEAN), (4, 11, FLAGGED))[1:]),
        [found(2, 5)],
        session=replace(SESSION, real_path="/copies/a.jsonl"),
        criteria=("c", "new"),
    )
    remarks = " | ".join(compare(one, other, {}).remarks)
    assert "the session has changed between the two: other texts in 1 stretch, from event 0" in (
        remarks
    )
    assert "two files, taken for copies" in remarks
    assert "only B asks for new" in remarks


@pytest.mark.parametrize(
    "session",
    [
        replace(SESSION, id="t"),
        replace(SESSION, real_path="/b.jsonl", path="b.jsonl", title="Another title"),
    ],
)
def test_two_sessions_are_refused(session: SideSession) -> None:
    one = side(parts((0, 3, CLEAN)))
    with pytest.raises(UsageError, match="different sessions"):
        compare(one, replace(one, session=session), {})


def past(**members: Any) -> PastJudgment:
    part = {"part": 1, "state": "clean", "thread": "main", "first_event": 0, "last_event": 3}
    result: dict[str, Any] = {
        "parts": [part],
        "findings": [],
        "session": {"events": 4},
        "settings": {"chunk_tokens": 700},
        "criteria": {"c": {}},
    }
    names = ("id", "path", "real_path", "session_id", "rubric", "rubric_version", "model")
    return PastJudgment(
        **dict.fromkeys(names, "x"),
        status=members.pop("status", "complete"),
        created=0.0,
        result=result | members,
        digests=(),
    )


def test_a_recorded_judgment_is_read_as_it_was() -> None:
    read = side_of(past())
    assert (read.by.size, read.by.by_tokens, read.judged, read.lacking) == (700, True, 1, 0)
    assert "700 tokens a chunk · complete · 1 of 1 judged" in side_words(read)


@pytest.mark.parametrize(
    "members",
    [
        {"parts": [{"part": 1}]},
        {"parts": "all"},
        {"findings": [7]},
        {"parts": [{"part": 2, "state": "clean", "thread": "", "first_event": 0, "last_event": 0}]},
        {"parts": [{"part": 1, "state": "clean", "thread": "", "first_event": 3, "last_event": 0}]},
        {"parts": [{"part": 1, "state": "odd", "thread": "", "first_event": 0, "last_event": 0}]},
        {"status": "not_applicable"},
    ],
)
def test_what_cannot_be_compared_is_refused_with_words(members: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="choose another judgment"):
        side_of(past(**members))


def test_what_is_handed_out_has_no_secrets_and_what_is_compared_has() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "kLmNoPqRsTuVwXyZ"
    one = side(parts((0, 11, FLAGGED)), [found(1, 3, f"TOKEN={secret}", note=f"uses {secret}")])
    both = compare(one, side(parts((0, 11, CLEAN))), {})
    assert secret in markdown_comparison(both)
    assert secret not in markdown_comparison(redacted_comparison(both))


def test_no_text_can_pass_for_the_reports_own() -> None:
    hostile = "\x1b[2J# Right\n```\n[x](y)"
    one = side(parts((0, 11, CLEAN)))
    finding = found(1, 3, hostile, note=hostile, criterion=hostile)
    other = side(parts((0, 11, FLAGGED)), [finding])
    both = compare(one, other, {})
    for text in (
        markdown_comparison(both),
        markdown_row(both),
        comparison_text(both),
    ):
        assert "\x1b" not in text
        assert "\n# Right" not in text
    assert json.loads(comparison_json(both))["flips"][0]["findings"][0]["other"]["note"] == hostile


plans = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([CLEAN, FLAGGED, GAP])), min_size=1, max_size=8
)


@given(plans, plans)
def test_every_event_is_in_exactly_one_row_of_each_side(
    one: list[tuple[int, ChunkState]], other: list[tuple[int, ChunkState]]
) -> None:
    def made(plan: list[tuple[int, ChunkState]]) -> Side:
        chunks: list[tuple[int, int, ChunkState]] = []
        for length, state in plan:
            first = chunks[-1][1] + 1 if chunks else 0
            chunks.append((first, first + length - 1, state))
        flagged = [n for n, chunk in enumerate(chunks, 1) if chunk[2] is FLAGGED]
        return side(parts(*chunks), [found(n, chunks[n - 1][1]) for n in flagged])

    sides = made(one), made(other)
    both = compare(*sides, {})
    for number, each in enumerate(sides):
        cells = [cell for row in both.rows if (cell := (row.one, row.other)[number]) is not None]
        events = sorted(n for cell in cells for n in range(cell.first, cell.last + 1))
        assert events == list(range(each.parts[-1].last + 1))
        told = [finding for cell in cells for finding in cell.findings]
        assert sorted(map(hash, told)) == sorted(map(hash, each.findings))
    assert sum(both.counts.values()) == len(both.rows)


def test_a_side_whose_kept_verdicts_are_still_read_says_so() -> None:
    now = side(parts((0, 3, CLEAN), (4, 7, GAP)), created=None, status=READING)
    assert "reading what is kept · 1 of 2 judged" in side_words(now)
    assert "v1 · 1 of 2 judged (reading what is kept), 0 flagged" in side_words_in_brief(now)
