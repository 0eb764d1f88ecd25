"""Folding, and the forms in which a quote is looked for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.quotes import Quote, fold, fold_marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İstanbul", "i̇stanbul"),
        ("STRASSE", "straße"),
        ("ﬁle", "FILE"),
        ("caf\u00e9", "cafe\u0301"),
        ("“so” – it’s", '"so" - it\'s'),
        ("a\u00a0b\u2003c\r\n\td", "a b c d"),
        ("wait…", "wait..."),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\x1b[31mred", "␛[31mred"),
        ("⚠\ufe0f careful", "⚠ careful"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("ＦＵＬＬ", "full"),
        ("ΟΔΟΣ", "οδος"),
        ("‹/chunk-00", "</chunk-00"),
        ("⟦[00", "[[00"),
    ],
)
def test_what_copying_changes_makes_no_difference(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("x-1", "x 1"), ("é", "e")])
def test_what_means_something_else_stays_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text(), st.text())
def test_a_text_folds_character_by_character(one: str, other: str) -> None:
    both = fold(one + other)
    assert both.replace(" ", "") == (fold(one) + fold(other)).replace(" ", "")
    assert fold_marks(one) + fold_marks(other) == fold_marks(one + other)
    assert both == both.strip()
    assert "  " not in both
    assert not {"\n", "\t", "\r"} & set(both)


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs"))))
def test_case_and_unicode_form_make_no_difference(text: str) -> None:
    for other in (
        text.upper(),
        text.lower(),
        unicodedata.normalize("NFC", text),
        unicodedata.normalize("NFD", text),
    ):
        assert fold(other) == fold(text)


def test_dots_part_a_quote_only_where_enough_is_left_of_it() -> None:
    assert Quote.of("the first part … the last one").parts == ("the first part", "the last one")
    assert Quote.of("Ran the tests [...] all green...").parts == ("ran the tests", "all green")
    assert Quote.of("no dots at all").parts == ()
    assert Quote.of("a … b … c").parts == ()
    assert Quote.of("…").parts == ()
