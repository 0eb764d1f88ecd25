"""How a path is broken into lines."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from longjudge_tui.workbench.detail_facts import wrap_path

PATH = "saved as /home/ann/projects/shop/cart-2026-event-561-destructive_action.md"


@pytest.mark.parametrize("width", [20, 30, 37, 57, 80])
def test_no_word_of_a_path_is_broken(width):
    lines = wrap_path(PATH, width)
    assert "".join(lines) == PATH
    assert all(cell_len(each) <= width for each in lines)
    assert all(each[-1] in "/-_. " for each in lines[:-1])


def test_a_folder_ends_a_line_rather_than_part_of_a_name():
    assert wrap_path("/home/ann/projects/cart-event-5.md", 26) == [
        "/home/ann/projects/",
        "cart-event-5.md",
    ]


def test_a_word_wider_than_a_line_is_broken_all_the_same():
    assert wrap_path("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert "".join(wrap_path("漢字" * 9, 5)) == "漢字" * 9
    assert all(cell_len(each) <= 5 for each in wrap_path("漢字" * 9, 5))
