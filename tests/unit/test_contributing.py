"""The example of a new format in CONTRIBUTING.md works as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_session
from longjudge.sessions.formats import retold_table

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLE = "longjudge.sessions.formats.tinytalk"


def blocks(language: str) -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("\n## Add a format\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)


def run(text: str, name: str) -> ModuleType:
    module = ModuleType(name)
    # What a class or a dataclass of it looks up while it is made.
    sys.modules[name] = module
    exec(compile(text, name, "exec"), module.__dict__)
    return module


@pytest.fixture
def example() -> Iterator[ModuleType]:
    yield run(blocks("python")[0], EXAMPLE)
    for name in (EXAMPLE, f"{EXAMPLE}_tests"):
        sys.modules.pop(name, None)


def add_row(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    row = blocks("text")[0].strip().removesuffix(",")
    table = (eval(row, example.__dict__), *retold_table.RETOLD)
    monkeypatch.setattr(retold_table, "RETOLD", table)


def test_the_sample_loads_with_the_module_and_its_row(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_row(example, monkeypatch)
    path = tmp_path / "sample.jsonl"
    path.write_text(blocks("json")[0], encoding="utf-8")
    session = load_session(path)
    assert (session.format, session.id, session.title) == ("tinytalk", "t-1", "The shelf")
    main, helper = session.index.threads
    assert (main.name, main.end) == ("main", 6)
    assert (helper.name, helper.call) == ("helper", 3)
    assert session.event(0).kind is EventKind.USER_MESSAGE
    assert session.text(1) == "tool_call shell\ncommand: ls shelf"
    assert session.started == "2025-10-09T08:53:20Z"
    assert [note.reason for note in session.diagnostics] == ["records of mood, no events"]
    session.close()


def test_the_example_s_tests_pass(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    add_row(example, monkeypatch)
    tests = run(blocks("python")[1], f"{EXAMPLE}_tests")
    names = [name for name in vars(tests) if name.startswith("test_")]
    assert len(names) == 6
    for name in names:
        test = getattr(tests, name)
        marks = getattr(test, "pytestmark", [])
        for values in marks[0].args[1] if marks else [None]:
            test(*([values] if marks else []))


def test_without_its_row_the_sample_is_refused_with_what_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    path.write_text(blocks("json")[0], encoding="utf-8")
    with pytest.raises(NotASessionError, match="tinytalk, id, about"):
        load_session(path)


def test_the_modules_that_contributors_are_sent_to_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Where things are")[2].partition("\n## ")[0]
    named = set(re.findall(r"`((?:core|tui)/[\w/.]+)`", table))
    assert len(named) > 30
    assert [each for each in sorted(named) if not (ROOT / each.rstrip("/")).exists()] == []
