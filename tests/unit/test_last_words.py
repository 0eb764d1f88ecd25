"""What a row of the library says about the quotes of the newest result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from longjudge.history import BROKEN_OFF, ChunkSetting, Entry
from longjudge.sessions import SessionFile
from longjudge.store import PastJudgment
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.library.last import By, Last, PastResults
from longjudge_tui.library.looking_back import force_words
from longjudge_tui.library.pricing import Price
from longjudge_tui.library.words import last_words, whole_last, with_nothing_to_ask
from longjudge_tui.wording import widest

THEN = ChunkSetting(2_500, "chars")
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


def broken_off(setting: ChunkSetting = THEN, created: float = 60.0) -> Entry:
    return Entry(
        *("x", "a", "/a", "s", "", "", 9, "chunks", "aaaa1111", "offline"),
        setting,
        redacted=True,
        status=BROKEN_OFF,
        created=created,
        chunks=15,
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


def test_a_run_that_was_ended_by_force_stands_before_the_older_result() -> None:
    a = SessionFile(Path("/a"), False, 1)
    whole = PastJudgment(
        *("j_1", "a", "/a", "s", "chunks", "aaaa1111", "offline", "complete", 0.0),
        {"score": 0.98, "judged_chunks": 2, "chunks": 2, "findings": [{}]},
        (),
    )
    last = PastResults([whole], [broken_off()]).of(a, None)
    assert last is not None
    words = last_words(last, HOUR, NOW)
    assert words[0] == "✗ broken off · ?/15 at 2.5k chars · before: complete 0.98"
    assert widest(words, 42) == "✗ broken off at 2.5k; before: ⚑ 0.98"
    assert widest(words, 34) == "✗ broken off at 2.5k; was ⚑ 0.98"
    assert force_words(last, NOW) == "ended by force · J 1 enter r: goes on at 2.5k"
    here = PastResults([whole], [broken_off(ChunkSetting(30_000, "chars"))]).of(a, None)
    assert here is not None
    assert widest(last_words(here, HOUR, NOW), 34) == "✗ broken off; before: ⚑ 0.98"
    assert widest(last_words(here, HOUR, NOW), 26) == "✗ broken off; was ⚑ 0.98"
    assert force_words(here, NOW) == "ended by force · enter r goes on"
    alone = PastResults([], [broken_off()]).of(a, None)
    assert alone is not None
    said = last_words(alone, HOUR, NOW)
    assert said[0] == "✗ broken off · ?/15 at 2.5k chars · 59 min"
    assert not any("finding" in each or "0/15" in each or "found" in each for each in said)
    # A judgment since says more than what was ended before it.
    since = PastResults([whole], [broken_off(created=-1.0)]).of(a, None)
    assert since is not None
    assert since.complete


def test_a_result_by_another_rubric_than_the_one_that_stands_says_so() -> None:
    other, last = replace(NOW, version="bbbb2222", size=3_000), past({})
    words = last_words(last, HOUR, other)
    assert (
        words[0]
        == "⚑ complete 0.50 · 2/2 at 30k chars, other rubric · 1 finding, quotes 0/1 verified · 1 h"
    )
    rows = [widest(words, room) for room in (42, 34, 24, 18)]
    assert rows == [
        "⚑ complete 0.50 at 30k, other rubric",
        "⚑ 0.50 at 30k, other rubric",
        "⚑ 0.50, other rubric",
        "⚑ 0.50 *rubric",
    ]
    # No shorter way to say it is without it, and a price stands beside it.
    assert all("rubric" in each for each in words)
    said = "last ⚑ complete 0.50 · 2/2 at 30k chars by rubric chunks aaaa1111 · 1 finding, "
    assert whole_last(last, HOUR, other, 0).startswith(said)
    since = past(status="cancelled").after(last)
    assert "before: complete 0.50 by rubric chunks aaaa1111" in whole_last(since, HOUR, other, 0)
    mine = replace(since, by=other)
    assert widest(last_words(mine, HOUR, other), 38).endswith("; was ⚑ 0.50 *rubric")


def test_an_estimate_of_nothing_stands_beside_the_result() -> None:
    last, kept = past({}), Price(chunks=2, kept=2)
    words = with_nothing_to_ask(last_words(last, HOUR, NOW), last, kept)
    assert widest(words, 26) == "⚑ complete 0.50 · 0 to ask"
    assert not with_nothing_to_ask(("",), last, Price(chunks=2, kept=1, to_ask=1))
    assert not with_nothing_to_ask(("",), last, Price(chunks=2, copied=True))
