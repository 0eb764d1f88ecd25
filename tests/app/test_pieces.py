"""The parts of the app that need no screen, and the rules that every widget keeps."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import longjudge_tui
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.offline import OfflineJudge
from longjudge.text import clean
from longjudge_tui.bench.sizes import next_size
from longjudge_tui.commands import COMMANDS, Scope, works_in
from longjudge_tui.main import choose_judge
from longjudge_tui.widgets.wrapping import PAGE_CHARS, PagedText, drawn, wrap
from longjudge_tui.wording import bar, fit

TEXTS = st.text(
    st.one_of(st.sampled_from(" \n\tab"), st.characters(codec="utf-8")), max_size=400
).map(clean)


@given(TEXTS, st.integers(8, 60))
def test_wrapped_lines_hold_the_whole_text_and_fit(text, width):
    lines = wrap(text, 0, len(text), width)
    shown = "".join(text[a:b] for a, b in lines)
    assert shown == text.replace("\n", "")
    assert all(cell_len(drawn(text[a:b])) <= width for a, b in lines)


@given(st.integers(0, 60_000), st.sampled_from(["x", "word ", "中", "line of text\n"]))
def test_pages_join_without_a_seam(around, unit):
    text = (unit * 60_000)[:60_000]
    paged = PagedText.at(text, 40, around)
    assert paged.origin <= around <= paged.end
    assert len(paged.lines) < 2 * PAGE_CHARS
    paged.add_after()
    paged.add_before()
    spans = paged.lines
    assert spans[0][0] == paged.origin
    for (_, end), (start, _) in pairwise(spans):
        assert start - end in (0, 1)
        assert text[end:start] in ("", "\n")


def test_the_line_of_an_offset_holds_it():
    text = "one two three four five six seven " * 50
    paged = PagedText.at(text, 20)
    offset = text.index("seven", 400)
    start, end = paged.lines[paged.line_of(offset)]
    assert start <= offset < end


@pytest.mark.parametrize("direction", [1, -1])
def test_chunk_sizes_step_through_round_numbers_to_both_ends(direction):
    size, seen = 30_000, []
    while (after := next_size(size, direction, 200, 10_000_000)) != size:
        size = after
        seen.append(size)
    assert seen[0] == (40_000 if direction > 0 else 20_000)
    assert seen[-1] == (10_000_000 if direction > 0 else 200)
    assert seen == sorted(seen, reverse=direction < 0)


def test_a_size_between_the_steps_goes_to_the_next_one():
    assert next_size(33_333, 1, 200, 10_000_000) == 40_000
    assert next_size(33_333, -1, 200, 10_000_000) == 30_000


@given(TEXTS, st.integers(0, 40))
def test_a_cell_is_exactly_as_wide_as_asked(text, width):
    assert cell_len(fit(text.replace("\n", " ").replace("\t", " "), width)) == width


def test_a_bar_grows_with_the_share_and_is_never_empty():
    assert bar(0.0, 10).strip() == "▏"
    assert bar(0.5, 10).strip() == "█" * 5
    assert bar(1.0, 10) == "█" * 10


def test_without_a_credential_the_offline_rules_judge(monkeypatch):
    assert isinstance(choose_judge(None), OfflineJudge)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    assert isinstance(choose_judge(None), AnthropicJudge)
    assert isinstance(choose_judge("offline"), OfflineJudge)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert isinstance(choose_judge("claude-haiku-5-5"), AnthropicJudge)


@pytest.mark.parametrize(
    ("screen", "inside"),
    [(Scope.SCREEN, Scope.LIST), (Scope.SCREEN, Scope.SLIDER), (Scope.LIBRARY, Scope.LIST)],
)
def test_no_key_does_two_things_in_one_place(screen, inside):
    scopes = (screen, inside, Scope.APP)
    here = [each for each in COMMANDS if any(works_in(each, scope) for scope in scopes)]
    for names in ([key for each in here for key in each.keys], [each.id for each in here]):
        assert len(names) == len(set(names))


def _calls():
    for path in sorted(Path(longjudge_tui.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = node.func
                name = getattr(function, "attr", "") or getattr(function, "id", "")
                yield f"{path.name}:{node.lineno}", name, node


def _of_a_collection(call):
    """Whether an `update` is that of a set or dictionary, told apart from a widget by its name."""
    of = getattr(call.func, "value", None)
    return getattr(of, "attr", getattr(of, "id", "")) in {"answered", "files"}


def test_text_reaches_widgets_only_where_it_is_not_read_as_markup():
    seen = set()
    for where, name, node in _calls():
        if name == "notify":
            plain = [k for k in node.keywords if k.arg == "markup" and k.value.value is False]
            assert plain, f"{where}: notify without markup=False"
        elif name in ("Static", "Label", "Button", "update") and not _of_a_collection(node):
            if not node.args:
                # It begins empty.
                continue
            assert isinstance(node.args[0], ast.Call), f"{where}: a plain string in {name}"
            made_by = getattr(node.args[0].func, "id", "")
            assert made_by == "Content", f"{where}: no Content in {name}"
        else:
            continue
        seen.add(name)
    assert {"notify", "Static"} <= seen


def test_markup_is_never_parsed_nor_titles_set_on_borders():
    for path in Path(longjudge_tui.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for word in ("from_markup", "border_title", "border_subtitle", "@work"):
            assert word not in source, f"{path.name}: {word}"
