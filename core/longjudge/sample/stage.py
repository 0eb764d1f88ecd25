"""What scenes play on: chance, the project, and what the agent did since the user spoke."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sample.beats import Beat, call, result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sample.dice import Dice
    from longjudge.sample.project import File, Project

_WINDOW = 60


@dataclass(slots=True)
class Turn:
    """What the agent did since the user spoke, as far as it is told at the end."""

    added: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    tests: list[str] = field(default_factory=list[str])
    mended: list[str] = field(default_factory=list[str])
    passed: int = 0
    commit: str = ""


@dataclass(slots=True)
class Stage:
    """What scenes play on."""

    dice: Dice
    project: Project
    request: str = ""
    turn: Turn = field(default_factory=Turn)

    def line(self, choices: Sequence[str], given: Mapping[str, object]) -> str:
        """One of some sentences, with words put in."""
        return sentence(self.dice.pick(choices).format_map(given))


def sentence(text: str) -> str:
    """A text with a capital letter, unless it begins with a path or a name."""
    first = text.partition(" ")[0]
    return text if "/" in first or "_" in first else text[:1].upper() + text[1:]


def read_stretch(stage: Stage, file: File, first: int | None = None) -> list[Beat]:
    """Read a file from a line on, from 1; a short one whole where no line is named."""
    length = len(file.lines)
    if length <= _WINDOW and first is None:
        return [call("Read", file_path=file.full), result(file.numbered(1, length))]
    first = first or stage.dice.between(1, max(1, length - _WINDOW // 2))
    shown = file.numbered(first, _WINDOW)
    return [call("Read", file_path=file.full, offset=first, limit=_WINDOW), result(shown)]


def uses(project: Project, file: File, name: str) -> list[tuple[str, int, str]]:
    """The lines of a module and of its tests that name something: path, number, text."""
    both = (file, project.test_of(file))
    return [(each.path, number, text) for each in both for number, text in each.lines_with(name)]


def updated(file: File, line: int) -> str:
    """What the tool says about an edit: the lines around it as they are now."""
    shown = file.numbered(max(1, line - 3), 12)
    return (
        f"The file {file.full} has been updated. Here's the result of running `cat -n` on a snippet"
        f" of the edited file:\n{shown}"
    )
