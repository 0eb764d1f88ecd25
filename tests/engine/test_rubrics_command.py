"""`longjudge rubrics`, and rubrics that the configuration makes known by name."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from longjudge.cli.main import run
from longjudge.errors import RubricError
from longjudge.rubric import load_rubric, parse_rubric

if TYPE_CHECKING:
    from pathlib import Path

ONE = 'name = "mine"\n\n[[criteria]]\nid = "x"\nquestion = "Is it?"\n'


@pytest.fixture
def longjudge(capsys):
    def call(*words: object) -> tuple[int, list[str], list[str]]:
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out.splitlines(), said.err.splitlines()

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A folder of rubrics that the configuration names."""
    path = tmp_path / "rubrics"
    path.mkdir()
    config = tmp_path / "config.toml"
    config.write_text('rubrics = ["rubrics"]')
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    return path


def test_list_names_version_criteria_and_origin(longjudge, folder: Path) -> None:
    (folder / "a.toml").write_text(ONE)
    (folder / "notes.txt").write_text("no rubric")
    code, out, err = longjudge("rubrics", "list")
    assert (code, err) == (0, [])
    assert out == [
        f"chunks  {load_rubric('chunks').version}  destructive_action, invented_reference,"
        " broken_promise  (built in)",
        f"mine  {parse_rubric(ONE, '').version}  x  ({folder / 'a.toml'})",
    ]
    _, out, _ = longjudge("rubrics", "list", "--json")
    assert [json.loads(line) for line in out][1] == {
        "name": "mine",
        "version": parse_rubric(ONE, "").version,
        "criteria": ["x"],
        "from": str(folder / "a.toml"),
    }


def test_list_goes_on_past_what_is_no_rubric_and_ends_with_2(longjudge, folder: Path) -> None:
    (folder / "a.toml").write_text("\nnmae = 3")
    (folder / "b.toml").write_text(ONE)
    (folder / "c.toml").mkdir()
    code, out, err = longjudge("rubrics", "list")
    assert code == 2
    assert [row.split()[0] for row in out] == ["chunks", "mine"]
    assert err[0].startswith(f"longjudge: {folder / 'a.toml'}:")
    assert err[1] == f"longjudge: {folder / 'c.toml'}: not a file; name a TOML file"


def test_a_folder_that_is_missing_is_said(longjudge, folder: Path) -> None:
    folder.rmdir()
    code, out, err = longjudge("rubrics", "list")
    assert (code, len(out)) == (2, 1)
    assert err == [f"longjudge: {folder}: No such file or directory; mend `rubrics`"]
    assert load_rubric("chunks", (folder,)).name == "chunks"


def test_a_name_that_two_rubrics_have_is_an_error_that_names_both(longjudge, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.toml").write_text(ONE)
    (folder / "c.toml").write_text(ONE.replace("mine", "chunks"))
    code, out, err = longjudge("rubrics", "list")
    assert (code, len(out)) == (2, 4)
    assert f"{folder / 'b.toml'}: rubric mine is in {folder / 'a.toml'} too" in err[0]
    assert f"{folder / 'c.toml'}: rubric chunks is built in too" in err[1]
    assert "reserved" in err[1]
    for name in ("mine", "chunks"):
        assert longjudge("rubrics", "show", name)[0] == 2
    # A file by its path is never in doubt.
    assert longjudge("rubrics", "show", folder / "c.toml")[0] == 0


def test_a_file_that_is_named_twice_is_one_rubric(folder: Path) -> None:
    path = folder / "a.toml"
    path.write_text(ONE)
    (folder / "link.toml").symlink_to(path)
    assert load_rubric("mine", (folder, path, folder)).name == "mine"


def test_show_prints_what_a_file_with_the_same_version_holds(
    longjudge, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.toml").write_text(ONE)
    for name in ("chunks", "mine"):
        code, out, err = longjudge("rubrics", "show", name)
        assert (code, err) == (0, [])
        copy = tmp_path / "copy.toml"
        copy.write_text("\n".join(out))
        rubric = load_rubric(name, (folder,))
        assert load_rubric(str(copy)).version == rubric.version
    code, out, err = longjudge("rubrics", "show", "nothing")
    assert (code, out) == (2, [])
    assert err == [
        "longjudge: nothing: no such rubric (No such file or directory); known: chunks, mine; or"
        " name a TOML file"
    ]


def test_the_reason_why_a_name_is_unknown_may_be_a_fault_in_its_file(folder: Path) -> None:
    (folder / "a.toml").write_text(ONE.replace("Is it?", ""))
    with pytest.raises(RubricError, match=r"1 not read: .*a\.toml:5: criteria\.0\.question"):
        load_rubric("mine", (folder,))


def test_check_says_the_version_and_what_is_probably_not_meant(longjudge, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(
        'name = "r"\n[[criteria]]\nid = "destructive_action"\nquestion = "Is it?"\n'
        '[[criteria]]\nid = "x"\nquestion = "is  it?"\n[[criteria]]\nid = "y"\nquestion = "Say."\n'
    )
    code, out, err = longjudge("rubrics", "check", path)
    version = load_rubric(str(path)).version
    assert code == 0
    assert out == [f"{path}: ok, r, version {version}: destructive_action, x, y"]
    assert err == [
        f"longjudge: {path}:4: warning: destructive_action: the offline rules go by its id and"
        " read no question",
        f"longjudge: {path}:7: warning: x: asks the same as destructive_action",
        f"longjudge: {path}:6: warning: x has no offline rules; `--model offline` will refuse it",
        f"longjudge: {path}:10: warning: y: its question does not end in a question mark",
        f"longjudge: {path}:9: warning: y has no offline rules; `--model offline` will refuse it",
    ]


def test_check_says_every_fault_with_its_line_and_ends_with_2(longjudge, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('name = "a b"\nskip = "no"\n[[criteria]]\nid = "X"\nquestion = 3\nlabl = ""\n')
    code, out, err = longjudge("rubrics", "check", path)
    assert (code, out) == (2, [])
    assert [row.removeprefix(f"longjudge: {path}:").partition(";")[0] for row in err] == [
        "1: name: no name of a rubric",
        "2: skip: unknown",
        "4: criteria.0.id: no identifier",
        "5: criteria.0.question: no text",
        "6: criteria.0.labl: unknown key",
    ]


@pytest.mark.parametrize("words", [["check", "none.toml"], ["check", "."], [], ["show"], ["x"]])
def test_wrong_use_is_one_line_and_exit_2(longjudge, monkeypatch, tmp_path: Path, words) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = longjudge("rubrics", *words)
    assert (code, out, len(err)) == (2, [], 1)


def test_a_rubric_of_the_configuration_is_judged_by_under_its_name(
    longjudge, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.toml").write_text(ONE.replace('"x"', '"destructive_action"'))
    session = tmp_path / "s.json"
    session.write_text(json.dumps([{"kind": "tool_call", "tool": "Bash", "input": "ls"}]))
    code, out, _ = longjudge("judge", session, "--model", "offline", "--rubric", "mine", "--json")
    assert code == 0
    assert json.loads(out[0])["rubric"]["name"] == "mine"


def test_a_file_name_that_is_no_text_is_listed_as_json(longjudge, folder: Path) -> None:
    (folder / os.fsdecode(b"n\xff.toml")).write_text(ONE)
    code, out, err = longjudge("rubrics", "list", "--json")
    assert (code, err) == (0, [])
    assert json.loads(out[1])["from"] == str(folder / "n\ufffd.toml")


def test_a_folder_whose_name_is_too_long_for_any_is_said(
    longjudge, folder: Path, monkeypatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(folder.parent / "long.toml"))
    (folder.parent / "long.toml").write_text(f'rubrics = ["{"a" * 300}"]')
    code, out, err = longjudge("rubrics", "list")
    assert (code, len(out), len(err)) == (2, 1, 1)
    assert "File name too long" in err[0] or "aaa…" in err[0]
    assert longjudge("rubrics", "show", "chunks")[0] == 0
