"""What the editor says of a text while it is typed, and what it has beside another."""

from __future__ import annotations

from pathlib import Path

from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge_tui.bench.rubric_check import check_text
from longjudge_tui.bench.rubric_diff import Side, compare

CHUNKS = rubric_toml(load_rubric("chunks"))


def lines(text: str, path: Path | None = None) -> list[tuple[int, bool, str]]:
    checked = check_text(text, OfflineJudge(), path)
    return [(each.line, each.warning, each.words) for each in checked.faults]


def test_a_text_without_faults_is_its_rubric() -> None:
    checked = check_text(CHUNKS, OfflineJudge(), None)
    assert checked.rubric == load_rubric("chunks")
    assert (checked.faults, checked.wrong, checked.refusal) == ((), 0, "")


def test_each_fault_has_its_line() -> None:
    broken = CHUNKS.replace('id = "broken_promise"', 'id = "Broken"\nidd = 1').replace(
        'skip = "no_tool_call"', 'skip = "perhaps"'
    )
    found = lines(broken)
    assert [(broken.split("\n")[line - 1][:5], warning) for line, warning, _ in found] == [
        ("skip ", False),
        ("id = ", False),
        ("idd =", False),
    ]
    assert "no identifier" in found[1][2]
    [syntax] = lines('name = "x"\nnonsense')
    assert syntax[:2] == (2, False)
    [control] = lines('name = "x\x1b"')
    assert "not valid TOML" in control[2]
    assert "\x1b" not in control[2]
    [large] = lines("#" * 100_001)
    assert large == (0, False, "larger than 100000 bytes; shorten it")


def test_what_is_allowed_and_hardly_meant_is_a_warning() -> None:
    doubtful = CHUNKS.replace("did not?", "did not.").replace("such as deleting", "like deleting")
    told = lines(doubtful, Path("mine.toml"))
    assert all(warning for _, warning, _ in told)
    words = " | ".join(words for *_, words in told)
    assert "chunks is built in" in words
    assert "broken_promise: its question does not end in a question mark" in words
    assert "the offline rules do not read the changed question" in words
    faults = check_text(doubtful, OfflineJudge(), Path("mine.toml")).faults
    assert "the offline rules read no changed question" in [each.brief for each in faults]


def test_an_edit_of_a_built_in_rubric_is_told_to_take_a_name_of_its_own() -> None:
    edited = CHUNKS.replace('label = "Destructive action"', 'label = "Destroys"')
    assert [words for *_, words in lines(edited)] == [
        "chunks is built in; another name lets both be used"
    ]
    assert lines(edited.replace('name = "chunks"', 'name = "ours"')) == []


def test_a_criterion_that_the_judge_cannot_answer_is_refused_in_words() -> None:
    checked = check_text(CHUNKS.replace("broken_promise", "politeness"), OfflineJudge(), None)
    assert checked.rubric is not None
    assert "politeness has no offline rules" in checked.refusal


def test_a_comparison_has_what_came_and_went_with_the_line_it_stands_at() -> None:
    old = "\n".join(f"line {n}" for n in range(20))
    new = old.replace("line 9\n", "LINE 9\nline 9a\n")
    told = [(each.side, each.text) for each in compare(old, new)]
    assert told[0] == (Side.PLACE, "from line 7 on")
    assert [text for side, text in told if side is Side.GONE] == ["line 9"]
    assert [text for side, text in told if side is Side.ADDED] == ["LINE 9", "line 9a"]
    assert compare(old, old) == ()
    # Of texts that would take long to compare, one is gone and the other there.
    slow = "\n".join(str(n % 100) for n in range(33_000))
    sides = [each.side for each in compare(slow, f"{slow}!")]
    assert (sides[0], sides[-1], len(sides)) == (Side.GONE, Side.ADDED, 66_000)
    # A line that looks like a heading of a comparison is none.
    assert compare("--- a\n+++ b", "--- a") == compare("--- a\n+++ b", "--- a")
    assert [each.text for each in compare("", "+++ b")][-1] == "+++ b"
