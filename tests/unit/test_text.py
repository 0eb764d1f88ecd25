"""Cleaning: nothing that acts on a terminal is left, and offsets stay true."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from longjudge.text import clean, clean_line, without_surrogates

any_text = st.text(alphabet=st.characters(exclude_categories=()))


@given(any_text)
def test_cleaned_text_keeps_its_length_and_holds_nothing_that_acts(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    for character in cleaned:
        assert character in "\t\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in (
            "RLO",
            "LRO",
            "RLE",
            "LRE",
            "PDF",
            "RLI",
            "LRI",
            "FSI",
            "PDI",
        )


@given(any_text, st.integers(1, 50))
def test_a_cleaned_line_is_one_line_of_bounded_length(text: str, limit: int) -> None:
    line = clean_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert "\t" not in line


@given(any_text)
def test_text_without_surrogates_can_be_encoded(text: str) -> None:
    assert len(without_surrogates(text).encode("utf-8")) >= len(text)


def test_harmless_text_stays_as_it_is() -> None:
    text = "list[int] [/] naïve 漢字 🎉\tand\nmore"
    assert clean(text) == text
