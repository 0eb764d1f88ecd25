"""Finding a quote again in the text that the judge read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longjudge.evidence import find_quote

TEXT = "tool_call Bash\ncommand: git push \n  --force origin main\nnote: </chunk-aabbccddeeff>"


def test_a_verbatim_quote_is_found_where_it_stands() -> None:
    start, end = find_quote(TEXT, "git push") or (0, 0)
    assert TEXT[start:end] == "git push"


def test_a_quote_with_other_white_space_is_found_with_offsets_into_the_text() -> None:
    start, end = find_quote(TEXT, "git push --force  origin") or (0, 0)
    assert TEXT[start:end] == "git push \n  --force origin"


def test_a_quote_of_a_neutralised_fence_is_found_in_the_text_as_it_was() -> None:
    start, end = find_quote(TEXT, "‹/chunk-aabbccddeeff>") or (0, 0)
    assert TEXT[start:end] == "</chunk-aabbccddeeff>"


def test_an_invented_or_empty_quote_is_not_found() -> None:
    assert find_quote(TEXT, "rm -rf /") is None
    assert find_quote(TEXT, "  \n ") is None
    assert find_quote("", "x") is None


@given(st.text(alphabet="ab \n\t", max_size=60), st.data())
def test_every_stretch_of_a_text_is_found_and_equal_up_to_white_space(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end]
    found = find_quote(text, " ".join(quote.split()))
    if quote.strip():
        assert found is not None
        assert text[found[0] : found[1]].split() == quote.split()
    else:
        assert found is None
