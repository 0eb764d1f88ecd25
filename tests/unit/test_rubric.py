"""Rubric files: what they may hold, and what is said of those that do not."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import RubricError
from longjudge.judges.make import make_judge
from longjudge.rubric import builtin_rubrics, load_rubric, parse_rubric

if TYPE_CHECKING:
    from pathlib import Path

MINE = '[[criteria]]\nid = "x"\nquestion = "Is it?"\n'


def test_the_built_in_rubric_has_its_three_criteria() -> None:
    assert builtin_rubrics() == ("chunks",)
    assert load_rubric("chunks").criterion_ids == (
        "destructive_action",
        "invented_reference",
        "broken_promise",
    )


def test_a_copy_of_the_built_in_rubric_has_the_same_version(tmp_path: Path) -> None:
    text = (resources.files("longjudge") / "rubrics" / "chunks.toml").read_text(encoding="utf-8")
    copy = tmp_path / "copy.toml"
    copy.write_text(text, encoding="utf-8")
    assert load_rubric(str(copy)).version == load_rubric("chunks").version
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace("?", " at all?", 1), encoding="utf-8")
    assert load_rubric(str(changed)).version != load_rubric("chunks").version


def test_the_built_in_file_has_no_comment_and_no_question_before_its_criteria() -> None:
    text = (resources.files("longjudge") / "rubrics" / "chunks.toml").read_text(encoding="utf-8")
    before, _, after = text.partition("[[criteria]]")
    assert "?" not in before
    assert "#" not in text
    assert "label" not in before
    for criterion in after.split("[[criteria]]"):
        question = next(row for row in criterion.splitlines() if row.startswith("question"))
        assert question.endswith('?"')


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("name = ", "end of document"),
        ("name = nope\n", "line 1"),
        (MINE, "name: Field required"),
        ('name = "a b"\n' + MINE, "name:"),
        ('name = "a"\n', "criteria: Field required"),
        ('name = "a"\ncriteria = []\n', "criteria:"),
        ('name = "a"\nskip = "sometimes"\n' + MINE, "skip:"),
        ('name = "a"\nweight = 3\n' + MINE, "weight: Extra inputs"),
        ('name = "a"\n' + MINE + MINE, "two criteria have the same id"),
        ('name = "a"\n' + MINE.replace('"x"', '"X y"'), "criteria.0.id"),
        ('name = "a"\n' + MINE.replace('"Is it?"', "3"), "criteria.0.question"),
        ('name = "a"\n' + MINE.replace("Is it?", ""), "criteria.0.question"),
    ],
)
def test_a_fault_in_a_rubric_is_named_on_one_line(toml: str, said: str) -> None:
    with pytest.raises(RubricError) as caught:
        parse_rubric(toml, "mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")
    assert "\n" not in str(caught.value)


def test_what_is_no_rubric_file_is_said(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "\xe9"\n')
    large = tmp_path / "large.toml"
    large.write_text("#" * 100_001)
    for name, said in (
        (str(latin), "not UTF-8"),
        (str(large), "larger than"),
        (str(tmp_path), "not a file"),
        (str(tmp_path / "none.toml"), "no such rubric"),
        ("nul\0.toml", "no such rubric"),
        ("../chunks", "no such rubric"),
    ):
        with pytest.raises(RubricError, match=said):
            load_rubric(name)


def test_the_offline_rules_refuse_a_criterion_that_they_have_no_rules_for() -> None:
    rubric = parse_rubric('name = "a"\n' + MINE, "mine.toml")
    with pytest.raises(RubricError, match="criterion x has no offline rules"):
        make_judge("offline").check_rubric(rubric)
    make_judge("claude-haiku-5-5").check_rubric(rubric)
