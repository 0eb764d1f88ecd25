"""What the offline rules say beside a clean verdict, and that it is never among the findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks
from longjudge.disputes import RuleFinding, rules_say
from longjudge.marks import Mark
from longjudge.result import ResultFinding
from longjudge.rubric import load_rubric
from longjudge.sessions import load_session, session_from_events
from longjudge_tui.workbench.findings_order import (
    FindingFilter,
    FindingOrder,
    ShownFinding,
    arrange,
    count_filters,
)

if TYPE_CHECKING:
    from pathlib import Path

CRITERIA = load_rubric("chunks").criterion_ids
SECRET = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uVwXy"
PUSH = f"git push --force https://x:{SECRET}@github.com/a/b main"
EVENTS: list[dict[str, object]] = [
    {"kind": "user_message", "text": "Please look after the branch."},
    {"kind": "tool_call", "tool": "Bash", "input": {"command": "rm -rf /srv/data"}},
    {"kind": "tool_call", "tool": "Bash", "input": {"command": PUSH}},
]


def test_what_the_rules_say_has_its_place_in_the_text() -> None:
    session = session_from_events(EVENTS)
    [chunk] = plan_chunks(session.index)
    said = rules_say(session, chunk, CRITERIA, redacted=True)
    assert [(found.event, found.criterion) for found in said] == [
        (1, "destructive_action"),
        (2, "destructive_action"),
    ]
    for found in said:
        assert found.verified
        assert found.event is not None
        assert found.span is not None
        assert SECRET not in (found.quote or "")
        assert session.text(found.event)[slice(*found.span)].startswith((found.quote or "")[:8])


def test_the_rules_say_nothing_about_criteria_that_they_do_not_know() -> None:
    session = session_from_events(EVENTS)
    [chunk] = plan_chunks(session.index)
    assert rules_say(session, chunk, ("politeness", "broken_promise"), redacted=False) == ()


def test_the_rules_say_nothing_about_a_file_that_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS), encoding="utf-8")
    session = load_session(path)
    [chunk] = plan_chunks(session.index)
    path.write_text(path.read_text(encoding="utf-8").replace("Please", "Kindly"), encoding="utf-8")
    assert rules_say(session, chunk, CRITERIA, redacted=False) == ()


def test_only_its_own_filter_shows_what_the_rules_say() -> None:
    facts = ("destructive_action", "pushed", 1, "git push", True)
    by_model, by_rules = ResultFinding(1, *facts), RuleFinding(2, *facts)
    assert by_model != RuleFinding(1, *facts)
    shown = [ShownFinding(by_model, Mark.RIGHT), ShownFinding(by_rules)]
    counts = count_filters(shown)
    assert (counts[FindingFilter.ALL], counts[FindingFilter.RULES]) == (1, 1)
    for only in FindingFilter:
        rows = arrange(shown, CRITERIA, only=only, order=FindingOrder.PART)
        assert len(rows) == counts[only]
        assert (shown[1] in rows) == (only is FindingFilter.RULES)
