"""A rubric written as TOML is read again as the same rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from longjudge.rubric import Criterion, Rubric, Skip, load_rubric, parse_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

NASTY = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="\"\\?#\n\r\t\x00\x1b\x7f\x9b\u202e\ufeff\U000e0041 ab'[]=", max_size=60),
)


@st.composite
def rubrics(draw: Callable[[st.SearchStrategy[object]], object]) -> Rubric:
    criteria = [
        Criterion(
            id=f"c{number}",
            question=draw(NASTY.filter(bool)),
            label=draw(NASTY),
            severity=draw(NASTY),
        )
        for number in range(draw(st.integers(1, 3)))
    ]
    return Rubric(
        name=draw(st.text(alphabet="abzAZ09_.-é", min_size=1, max_size=20)),
        instructions=draw(NASTY),
        skip=draw(st.sampled_from(Skip)),
        criteria=tuple(criteria),
    )


def with_instructions(text: str) -> Rubric:
    return Rubric(name="r", instructions=text, criteria=(Criterion(id="c", question="Is it?"),))


@given(rubrics())
@example(with_instructions('"""'))
@example(with_instructions('""""'))
@example(with_instructions('\n"\n'))
@example(with_instructions("\\"))
@example(with_instructions("\\u003F really?\r\n"))
@example(with_instructions(" \n \\\n "))
def test_it_is_the_same_rubric_and_acts_on_no_terminal(rubric: Rubric) -> None:
    text = rubric_toml(rubric)
    again = parse_rubric(text, "again.toml")
    assert again == rubric
    assert again.version == rubric.version
    assert clean(text) == text
    before, _, _ = text.partition("[[criteria]]")
    assert "?" not in before.replace(rubric.name, "")


def test_the_built_in_rubric_is_shown_without_comment_label_or_early_question() -> None:
    rubric = load_rubric("chunks")
    text = rubric_toml(rubric)
    before, *criteria = text.split("[[criteria]]")
    assert "?" not in before
    assert "label" not in before
    assert "#" not in text
    for criterion in criteria:
        question = next(row for row in criterion.splitlines() if row.startswith("question"))
        assert question.endswith('?"')
    assert parse_rubric(text, "again.toml") == rubric
