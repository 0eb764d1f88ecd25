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
        ("name = ", "1: not valid TOML: Invalid value; mend it"),
        ('name = "a"\n\nskip = nope\n', "3: not valid TOML: Invalid value; mend it"),
        ('name = "a"\nlabel = """\n\n', "2: not valid TOML: Unterminated string; mend it"),
        (MINE, "1: name: missing; add it"),
        ('\nname = "a b"\n' + MINE, "2: name: no name of a rubric; use letters"),
        ('name = "a"\n', "1: criteria: missing; add it"),
        ('name = "a"\n\ncriteria = []\n', "3: criteria: too few; write 1 or more"),
        ('name = "a"\nskip = "no"\n' + MINE, "2: skip: unknown; use 'no_tool_call' or 'never'"),
        ('name = "a"\nweight = 3\n' + MINE, "2: weight: unknown key; known are criteria, ins"),
        ('name = "a"\nlable = "A"\n' + MINE, "2: lable: unknown key; did you mean label?"),
        ('nmae = "a"\n' + MINE, "1: nmae: unknown key; did you mean name?"),
        ('name = "a"\n' + MINE + MINE, "6: criteria.1.id: an earlier criterion has the same id"),
        ('name = "a"\n' + MINE.replace('"x"', '"X y"'), "3: criteria.0.id: no identifier; use"),
        ('name = "a"\n' + MINE.replace('"Is it?"', "3"), "4: criteria.0.question: no text;"),
        ('name = "a"\n' + MINE.replace("Is it?", ""), "4: criteria.0.question: too short;"),
        ('name = "a"\n' + MINE.replace('id = "x"\n', ""), "2: criteria.0.id: missing; add it"),
        ('name = "a"\n' + MINE.replace("Is it?", "Is it?\n"), "4: not valid TOML: Illegal char"),
        ("a = " + "[" * 5000 + "]" * 5000, " nested too deeply; flatten it"),
    ],
)
def test_a_fault_in_a_rubric_is_named_on_one_line(toml: str, said: str) -> None:
    with pytest.raises(RubricError) as caught:
        parse_rubric(toml, "mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"mine.toml:{said[:20]}")
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
