"""What a row of the library says about the quotes of the newest result."""

from __future__ import annotations

from longjudge.store import PastJudgment
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.library.last import By, Last
from longjudge_tui.library.words import last_words, whole_last

NOW = By(30_000, Unit.CHARACTERS, "offline", "chunks", "aaaa1111")
HOUR = 3_600.0


def past(*findings: dict[str, object], status: str = "complete") -> Last:
    result: dict[str, object] = {
        "score": 0.5,
        "judged_chunks": 2,
        "chunks": 2,
        "findings": list(findings),
        "settings": {"chunk_chars": 30_000},
    }
    return Last.of_past(
        PastJudgment(
            "j_1", "a", "/a", "s", "chunks", "aaaa1111", "offline", status, 0.0, result, ()
        )
    )


def test_quotes_count_as_they_were_recorded_and_are_said_with_the_age() -> None:
    found = past(
        {"verified": True, "corrected": True}, {"verified": False}, {"verified": "yes"}, {}
    )
    assert (found.findings, found.verified) == (4, 1)
    words = last_words(found, HOUR, NOW)
    assert words[0] == "⚑ complete 0.50 · 2/2 · 4 findings, quotes 1/4 verified · 1 h"
    assert not any("quotes" in each for each in words[1:])


def test_without_findings_nothing_is_said_about_quotes() -> None:
    assert not any("quotes" in each for each in last_words(past(), HOUR, NOW))


def test_a_complete_result_before_a_cancelled_one_keeps_its_quotes() -> None:
    cancelled = past(status="cancelled").after(past({"verified": True}))
    assert whole_last(cancelled, HOUR, NOW, 0).endswith(", 1 finding, quotes 1/1 verified, 1 h")
