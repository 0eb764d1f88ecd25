"""Where an edited rubric is from, and how it gets into a file: whole, or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import RubricError
from longjudge.rubric import load_rubric, parse_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge_tui.bench.rubric_source import BUILT_IN, save_text, source_of

if TYPE_CHECKING:
    from pathlib import Path

TOML = """# Mine.
name = "mine"
[[criteria]]
id = "a"
question = "Is it?"
"""


def test_a_built_in_rubric_has_no_file_and_is_shown_as_it_is_printed() -> None:
    chunks = load_rubric("chunks")
    source = source_of(chunks, "chunks")
    assert (source.origin, source.path, source.text) == (BUILT_IN, None, rubric_toml(chunks))


@pytest.mark.parametrize("by_folder", [True, False])
def test_a_rubric_from_a_file_is_the_file_s_own_text(tmp_path: Path, by_folder: bool) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    rubric = parse_rubric(TOML, "mine")
    folders = (tmp_path,) if by_folder else ()
    source = source_of(rubric, "mine" if by_folder else str(path), folders)
    assert (source.path, source.text, source.stood, source.notice) == (path, TOML, TOML, "")
    path.write_text(TOML.replace("Is it?", "Is it not?"))
    later = source_of(rubric, str(path))
    assert "Is it not?" in later.text
    assert "has changed since it was chosen" in later.notice
    path.unlink()
    gone = source_of(rubric, str(path))
    assert (gone.path, gone.text) == (None, rubric_toml(rubric))


def test_a_file_with_acting_characters_is_shown_with_escapes_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.toml"
    hostile = TOML.replace("Is it?", "Is \u202eit?")
    path.write_text(hostile)
    source = source_of(parse_rubric(hostile, "mine"), str(path))
    assert source.path is None
    assert "mine.toml:5 holds U+202E" in source.notice
    assert "\\u202E" in source.text
    assert "\u202e" not in source.text
    assert path.read_text() == hostile


def test_what_is_saved_stands_in_the_file_with_its_line_ends_and_its_mode(tmp_path: Path) -> None:
    path, link = tmp_path / "mine.toml", tmp_path / "link.toml"
    path.write_bytes(TOML.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    link.symlink_to(path)
    source = source_of(parse_rubric(TOML, "mine"), str(link))
    assert source.path == path
    stood = save_text(path, source.text.replace("Is it?", "Was it?"), source.stood)
    assert path.read_bytes().decode() == stood == TOML.replace("\n", "\r\n").replace("Is", "Was")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.toml", "mine.toml"]


def test_a_file_that_has_changed_or_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    path.write_text(changed := TOML + "# Somebody's.\n")
    with pytest.raises(RubricError, match=r"mine.toml: has changed on disk"):
        save_text(path, "name = 1", TOML)
    with pytest.raises(RubricError, match="is there already; choose another name"):
        save_text(path, "name = 1", None)
    assert path.read_text() == changed
    with pytest.raises(RubricError, match=r"No such file.*nothing was saved"):
        save_text(tmp_path / "none" / "mine.toml", TOML, None)
    assert os.listdir(tmp_path) == ["mine.toml"]
    assert save_text(tmp_path / "new.toml", TOML, None) == TOML
    assert (tmp_path / "new.toml").read_text() == TOML
