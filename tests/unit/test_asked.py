"""What was asked, in a report: every question, none that passes for the report's own text."""

from __future__ import annotations

from longjudge.report.asked import NOT_KEPT, Questions, asked_markdown, asked_of_both

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "kLmNoPqRsTuVwXyZ"


def test_every_question_is_told_and_none_passes_for_the_reports_own_text() -> None:
    asked = Questions(
        (("lost", "Is it\n# gone <b>now</b>?\x1b[2J"),), "Be strict.\n```\n# Not a title"
    )
    lines = asked_markdown("mine", "0123abcd", asked)
    assert lines[2] == "Rubric: mine, version 0123abcd. Of each part it asks:"
    assert "- **lost**: Is it⏎\\# gone \\<b\\>now\\</b\\>?␛\\[2J" in lines
    fence = lines.index("````text")
    assert lines[fence:] == ["````text", "Be strict.", "```", "# Not a title", "````"]
    long = Questions((("lost", "x" * 4_000),))
    assert asked_markdown("mine", "v", long)[-1] == f"- **lost**: {'x' * 4_000}"


def test_a_text_that_is_not_kept_is_said_to_be_and_secrets_stay_here() -> None:
    [said] = asked_markdown("mine", "v", None)[2:]
    assert said == f"Rubric: mine, version v; {NOT_KEPT}."
    asked = Questions((("lost", f"Is {SECRET} lost?"),), SECRET).redacted()
    assert SECRET not in "".join(asked_markdown("mine", "v", asked))


def test_two_sides_say_which_questions_differ() -> None:
    was = Questions((("lost", "Lost?"), ("same", "The same?")), "Be strict.")
    now = Questions((("lost", "Gone?"), ("same", "The same?"), ("new", "New?")))
    lines = asked_of_both(("mine", "v1", was), ("mine", "v2", now))
    assert lines[2:5] == ["- A: mine, version v1", "- B: mine, version v2", ""]
    assert lines[5] == "What differs: lost, new, the instructions."
    assert lines[7:14] == [
        "- **lost**, which differs",
        "  - A: Lost?",
        "  - B: Gone?",
        "- **same**: The same?",
        "- **new**, which differs",
        "  - A: not asked",
        "  - B: New?",
    ]
    assert lines[-3:] == ["Instructions of B:", "", "None."]
    same = asked_of_both(("mine", "v1", was), ("mine", "v1", was))
    assert same[5] == "Both were asked the same:"
    assert same[-2] == "Be strict."
    half = asked_of_both(("mine", "v0", None), ("mine", "v1", was))
    assert half[2] == f"- A: mine, version v0; {NOT_KEPT}"
    assert "B was asked:" in half
    assert "- **lost**: Lost?" in half
