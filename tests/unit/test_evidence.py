"""Finding a quote again in the text that the judge read."""

from __future__ import annotations

import json
import random
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.evidence import Place, QuotedChunk, QuotedText, find_quote
from longjudge.quotes import fold
from longjudge.redaction import redact

TEXT = "tool_call Bash\ncommand: git push \n  --force origin main\nnote: </chunk-aabbccddeeff>"


def found(text: str, quote: str) -> str | None:
    """What stands where a quote was found."""
    place = find_quote(text, quote)
    return None if place is None else text[slice(*place)]


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        (TEXT, "git push", "git push"),
        (TEXT, "  git push\n", "git push"),
        (TEXT, "git push --force  origin", "git push \n  --force origin"),
        (TEXT, "GIT Push --Force", "git push \n  --force"),
        (TEXT, "‹/chunk-aabbccddeeff>", "</chunk-aabbccddeeff>"),
        ("Weiter in der STRAẞE, İstanbul", "straße, istanbul", None),
        ("Weiter in der STRASSE, İstanbul", "straße, i̇stanbul", "STRASSE, İstanbul"),
        ("see the ﬁle there", "FILE", "ﬁle"),
        ("a cafe\u0301 here", "café", "cafe\u0301"),
        ("a café here", "cafe\u0301 HERE", "café here"),
        ("he said “done” – it’s fine", '"done" - it\'s fine', "“done” – it’s fine"),
        ("tests\u00a0\u2028pass", "tests pass", "tests\u00a0\u2028pass"),
        ("a \x1b[31mred\x1b[0m word", "[31mred[0m word", "[31mred\x1b[0m word"),
        ("half \ud800 of it", "half \ufffd of it", "half \ud800 of it"),
    ],
)
def test_a_quote_is_found_whatever_copying_has_changed(
    text: str, quote: str, stands: str | None
) -> None:
    assert found(text, quote) == stands


def test_a_verbatim_quote_is_found_before_one_that_only_folds_to_the_same() -> None:
    assert find_quote("GIT PUSH, then git push", "git push") == (15, 23)


def test_an_invented_or_empty_quote_is_not_found() -> None:
    assert find_quote(TEXT, "rm -rf /") is None
    assert find_quote(TEXT, "  \n ") is None
    assert find_quote(TEXT, "\u200b") is None
    assert find_quote("", "x") is None


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("git push … origin main", "git push \n  --force origin main"),
        ("tool_call ... [...] main…", "tool_call Bash\ncommand: git push \n  --force origin main"),
        ("…--force origin…", "--force origin"),
        ("origin main … git push", None),
        ("git push … never there", None),
        ("a … b", None),
    ],
)
def test_a_shortened_quote_is_found_where_its_parts_stand_in_order(
    quote: str, stands: str | None
) -> None:
    assert found(TEXT, quote) == stands


def test_the_parts_of_a_shortened_quote_stand_close_together() -> None:
    apart = "the first part" + " x" * 10_000 + " the last part"
    assert find_quote(apart, "the first part … the last part") is None
    again = apart + ", the first part, and the last part"
    assert found(again, "the first part … last part") == "the first part, and the last part"


def test_dots_that_stand_in_the_text_shorten_nothing() -> None:
    assert found("call(*args, ...) twice", "args, ...) twice") == "args, ...) twice"


@pytest.mark.parametrize(
    "quote",
    [
        "[[aabbccddeeff event 3]]\ntool_call Bash\ncommand: git push",
        "[[aabbccddeeff event 3]] tool_call Bash command: git push",
        "tool_call Bash\ncommand: git push",
        "tool_call Bash\\ncommand: git push",
        '"tool_call Bash command: git push"',
        "`tool_call Bash\ncommand: git push`",
        "“tool_call Bash command: git push”",
    ],
)
def test_a_mark_escapes_and_quotation_marks_around_it_are_seen_through(quote: str) -> None:
    assert found(TEXT, quote) == "tool_call Bash\ncommand: git push"


def test_nothing_else_is_left_out_of_a_quote() -> None:
    assert find_quote("[[ -f x ]] && rm -rf y", "[[ -f z ]] && rm -rf y") is None
    assert find_quote(TEXT, "$ git push") is None


def test_a_quote_of_escaped_text_is_found_with_its_line_ends_as_such() -> None:
    text = 'input: {"body":"one\\ntwo \\"three\\"","n":1}'
    assert found(text, 'one\ntwo "three"') == 'one\\ntwo \\"three\\"'


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


_MANGLERS = (
    str.upper,
    str.lower,
    lambda text: text.replace(" ", "\n \t"),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.replace('"', "”").replace("-", "–"),
)
_ANY = st.text(alphabet=st.characters(categories=("L", "N", "P", "Z", "S", "Cf")), max_size=80)


@given(st.one_of(st.text(max_size=80), _ANY), st.sets(st.sampled_from(_MANGLERS)), st.data())
def test_every_mangled_stretch_of_any_text_is_found_where_something_equal_stands(
    text: str, manglers: set[object], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    for mangle in manglers:
        quote = mangle(quote)
    if not fold(quote):
        return
    place = find_quote(text, quote)
    assert place is not None
    first, last = place
    assert 0 <= first < last <= len(text)
    assert fold(quote) in fold(text[first:last])
    if quote.strip() in text:
        return
    # Nothing at its ends could be left out.
    assert fold(quote) not in fold(text[first + 1 : last])
    assert fold(quote) not in fold(text[first : last - 1])


def test_offsets_are_exact_far_into_a_long_text() -> None:
    chance = random.Random(7)
    words = ["Straße", "ﬁn", "x\u200by", "naïve", "plain", "“q”", "\t", "…", "e\u0301t"]
    text = " ".join(chance.choice(words) + str(number) for number in range(20_000))
    prepared = QuotedText(text)
    for number in (3, 4_096, 11_111, 19_999):
        at = text.index(f"{number} ") if number < 19_999 else text.index("19999")
        quote = text[at : at + 60].upper()
        place = prepared.find(quote)
        assert place is not None
        assert fold(text[slice(*place)]) == fold(quote)
        assert abs(place[0] - at) < 3


@pytest.mark.parametrize(
    ("piece", "times", "quote"),
    [
        ("a", 1_000_000, "A" * 500 + "b"),
        ("ab ", 300_000, "ab ab … ab ba … ab"),
        (" \n", 500_000, "x y"),
        ("[ <", 300_000, "</chunk-aabbccddeeff>"),
        ("[[", 300_000, "[[" * 40 + "]]"),
        ("\\", 300_000, "\\" * 1_999 + "n"),
        ('"', 300_000, "“" * 1_999 + "."),
        ("ﷺ", 50_000, "ﷺ … ﷻ … ﷺ"),
    ],
)
def test_hostile_texts_are_searched_in_bounded_time(piece: str, times: int, quote: str) -> None:
    prepared = QuotedText(piece * times)
    for number in range(20):
        assert prepared.find(f"{quote}{number}") is None


def chunk(*texts: str | None) -> QuotedChunk:
    """Events of one chunk; None is one that cannot be read."""
    return QuotedChunk(
        len(texts), lambda n: None if texts[n - 1] is None else QuotedText(texts[n - 1] or "")
    )


TEXTS = ("one: rm -rf build", "two: ok", None, "four: git push --force", "five: GIT push --force")


@pytest.mark.parametrize(
    ("named", "quote", "place"),
    [
        (4, "git push --force", (4, 6, 22)),
        (5, "git push --force", (5, 6, 22)),
        (1, "git push --force", (4, 6, 22)),
        (99, "git push --force", (5, 6, 22)),
        (-3, "git push --force", (4, 6, 22)),
        (None, "push … --force", (4, 10, 22)),
        (3, "rm -rf build", (1, 5, 17)),
        (2, "ok", (2, 5, 7)),
        (1, "two: ok", (2, 0, 7)),
        (1, "Two:\nOK", (2, 0, 7)),
        (1, "push", None),
        (2, "build", (1, 12, 17)),
        (2, "buil", None),
        (2, "rm -rf", (1, 5, 11)),
        (1, "ok", None),
        (4, "never said so", None),
        (1, "[[aabbccddeeff event 2]]\nok", None),
        (1, "[[aabbccddeeff event 4]] git push --force", (4, 6, 22)),
    ],
)
def test_a_quote_is_found_in_the_named_event_else_in_the_nearest(
    named: int | None, quote: str, place: tuple[int, int, int] | None
) -> None:
    found = chunk(*TEXTS).find(named, quote)
    assert (found and (found.event, found.start, found.end)) == place


def test_many_shortened_quotes_are_looked_for_in_bounded_time_and_hide_no_other() -> None:
    texts = ["aaaaaaaaa bbb " * 8 for _ in range(300)]
    within = chunk(*texts, "the very last one", "word and sword", "words")
    dots = " … ".join(["aaa"] * 18 + ["aaaaaaaaa"])
    began = time.process_time()
    for number in range(200):
        assert within.find(1, f"{dots} … {number:03}") is None
    assert time.process_time() - began < 4
    assert within.find(1, "very LAST one") == Place(301, 4, 17)
    assert within.find(1, "word") == Place(302, 0, 4)


def test_nothing_is_found_across_two_events() -> None:
    assert chunk("the end of one", "the start of two").find(1, "of one the start of") is None


def test_a_quote_with_a_placeholder_leads_to_the_secret_in_the_original() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    text = f"tool_call Bash\ncommand: export TOKEN={secret} && deploy\nagain: yes"
    sent = redact(text)
    assert secret not in sent.text
    line = sent.text.partition("command: ")[2].partition("\n")[0]
    place = QuotedText(sent).find(line.upper())
    assert place is not None
    assert text[slice(*place)] == f"export TOKEN={secret} && deploy"
    place = QuotedText(sent, 1_000).find("again: yes")
    assert place is not None
    assert text[place[0] - 1_000 : place[1] - 1_000] == "again: yes"


def test_a_quote_that_was_escaped_as_json_is_found() -> None:
    text = 'say "hi"\tto all\nof them'
    assert found(text, json.dumps(text)[1:-1]) == text
