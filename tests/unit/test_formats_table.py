"""The tables of docs/formats.md say what the code says, row by row."""

from __future__ import annotations

import re
from pathlib import Path

from longjudge.sessions.formats import ENVELOPED, GENERIC, MESSAGE_LISTS
from longjudge.sessions.formats.retold_table import RETOLD
from longjudge.sessions.places import PLACES
from longjudge.sessions.unpack import UNPACKERS

ROOT = Path(__file__).parents[2]
SESSIONS = ROOT / "core/longjudge/sessions"
IN_ORDER = (*ENVELOPED, *RETOLD, *MESSAGE_LISTS, GENERIC)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    text = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [cells(line) for line in section.splitlines() if line.startswith("|")][2:]


def in_code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def module_of(thing: object) -> str:
    return type(thing).__module__.rpartition(".")[2] + ".py"


def test_every_format_has_a_row_in_the_order_of_recognition() -> None:
    # A name that several modules give has its row where the last one stands.
    named = list(dict.fromkeys(each.name for each in reversed(IN_ORDER)))
    assert [row[0] for row in table("Formats")] == named[::-1]


def test_a_row_names_the_modules_of_its_format_and_tests_that_are_there() -> None:
    tests = {path.name for path in (ROOT / "tests/unit").rglob("test_*.py")}
    for name, *words, modules, tested in table("Formats"):
        assert all(words), f"{name} has an empty cell"
        own = {module_of(each) for each in IN_ORDER if each.name == name}
        assert set(in_code(modules)) == own
        assert in_code(tested), f"{name} names no test"
        assert set(in_code(tested)) <= tests


def test_every_container_has_a_row_with_its_module() -> None:
    rows = table("Containers")
    assert [row[0] for row in rows] == [each.name for each in UNPACKERS]
    for row, unpacker in zip(rows, UNPACKERS, strict=True):
        (path,) = in_code(row[-1])
        assert Path(path).name == module_of(unpacker)
        assert (SESSIONS / path).is_file()


def test_every_place_has_a_row_with_its_variables() -> None:
    rows = table("Where sessions are found")
    assert [row[0] for row in rows] == [place.program for place in PLACES]
    for (_, where, moved), place in zip(rows, PLACES, strict=True):
        assert set(in_code(where) + in_code(moved)) == set(place.folders)
        assert ("Windows only" in where) is (place.only_on == "win32")


def test_the_example_for_contributors_is_a_row_of_this_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    example = cells(text.partition("```markdown\n")[2].partition("\n")[0])
    assert example[0] == "tinytalk"
    assert len(example) == len(table("Formats")[0])
