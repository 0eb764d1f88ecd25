"""The invented project as it stands at a moment of the session: files that grow as they are edited.

Its size is bounded, however long the session is: a file that has grown too long is followed by a
new one, and the oldest one leaves when there are too many.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.sample.code import Function, head, write_function, write_test
from longjudge.sample.words import AREAS, FIELDS, NOUNS, PEOPLE, REASONS, ROOT, VERBED, VERBS

if TYPE_CHECKING:
    from longjudge.sample.dice import Dice

FILES_AT_MOST = 48
LINES_AT_MOST = 700


@dataclass(slots=True)
class File:
    """A module of the project, or the test of one."""

    path: str
    area: str
    noun: str
    lines: list[str]
    functions: list[Function] = field(default_factory=list[Function])
    starts: list[int] = field(default_factory=list[int])

    @property
    def full(self) -> str:
        """The absolute path."""
        return f"{ROOT}/{self.path}"

    def append(self, function: Function) -> int:
        """Add a function behind the others; the number of its first line, from 1."""
        self.lines += ("", "", *function.lines)
        self.functions.append(function)
        self.starts.append(len(self.lines) - len(function.lines) + 1)
        return self.starts[-1]

    def lines_with(self, name: str) -> list[tuple[int, str]]:
        """The lines, from 1, in which a name stands as a word of its own."""
        found = re.compile(rf"\b{name}\b").search
        numbered = enumerate(self.lines, 1)
        return [(number, line) for number, line in numbered if name in line and found(line)]

    def numbered(self, first: int, count: int) -> str:
        """Some lines with their numbers, as the tool shows them; `first` is from 1."""
        shown = self.lines[first - 1 : first - 1 + count]
        return "\n".join([f"{n:>6}→{line}" for n, line in enumerate(shown, first)])


class Project:
    """The files, what was changed since the last commit, and words that fit them."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._made = 0
        self.focus: File | None = None
        self.files: list[File] = []
        self.tests: dict[str, File] = {}
        self.changed: dict[str, int] = {}
        self.commits: list[str] = []
        self.test_count = dice.between(180, 420)
        for _ in range(10):
            self._new_file()

    def any_file(self) -> File:
        """The module that is worked on, or another; a long one more often."""
        if self.focus is not None and self._dice.chance(0.6):
            return self.focus
        one, other = self._dice.two(self.files)
        return one if len(one.lines) >= len(other.lines) else other

    def test_of(self, file: File) -> File:
        """The tests of a module."""
        return self.tests[file.path]

    def grow(self, file: File, tested: Function | None = None) -> tuple[Function, Function, int]:
        """Add a function, or a test of one; the one before it, the new one, its first line."""
        before = file.functions[-1]
        added = write_test(tested) if tested else write_function(self._dice, file.noun)
        line = file.append(added)
        self._changes(file, len(added.lines) + 2)
        if tested is not None:
            self.test_count += 1
        return before, added, line

    def mend(self, file: File, failing: Function) -> tuple[Function, str, str, int]:
        """Change the function that a test is about: which one, the line before and after, where."""
        tested = (n for n, each in enumerate(file.functions) if each.name in failing.name)
        place = next(tested, len(file.functions) - 1)
        function = file.functions[place]
        number = str(function.number)
        numbered = [n for n, line in enumerate(function.lines) if number in line]
        at = numbered[-1] if numbered else len(function.lines) - 1
        old = function.lines[at]
        changed = function.number + 1 if numbered else function.number
        head_, _, tail = old.rpartition(number)
        new = f"{head_}{changed}{tail}" if numbered else f"{old}  # {function.field} may be missing"
        lines = (*function.lines[:at], new, *function.lines[at + 1 :])
        file.functions[place] = replace(function, number=changed, lines=lines)
        line = file.starts[place] + at
        file.lines[line - 1] = new
        self._changes(file, 1)
        return function, old, new, line

    def _changes(self, file: File, lines: int) -> None:
        self.changed[file.path] = self.changed.get(file.path, 0) + lines

    def room_in(self, file: File) -> File:
        """The file itself, or a new one where it has grown too long."""
        if len(file.lines) <= LINES_AT_MOST:
            return file
        self.focus = self._new_file()
        return self.focus

    def words(self, file: File, function: Function | None = None) -> dict[str, object]:
        """Words for a sentence about a file."""
        dice = self._dice
        known = function or dice.pick(file.functions)
        noun, other, verb = file.noun, dice.pick(NOUNS), dice.pick(VERBS)
        words: dict[str, object] = {
            "path": file.path,
            "name": known.name,
            "area": file.area,
            "noun": noun,
            "other": other if other != noun else "account",
            "field": known.field,
            "n": known.number,
            "verb": verb,
            "verbed": VERBED.get(verb) or f"{verb.removesuffix('e')}ed",
            "person": dice.pick(PEOPLE),
            "root": ROOT,
        }
        words["reason"] = dice.pick(REASONS).format_map(words)
        return words

    def commit(self, message: str) -> str:
        """Commit what was changed; the commit's short name."""
        name = self._dice.hex(7)
        self.commits = [f"{name} {message}", *self.commits[:11]]
        self.changed = {}
        return name

    def _new_file(self) -> File:
        dice = self._dice
        self._made += 1
        noun, area = dice.pick(NOUNS), dice.pick(AREAS)
        module = f"{noun}_{dice.pick(FIELDS)}"
        if any(file.path == f"src/depot/{area}/{module}.py" for file in self.files):
            module = f"{module}_{self._made}"
        title = f"What {area} does with {noun}s"
        file = File(
            f"src/depot/{area}/{module}.py", area, noun, head(title, area, module, noun, False)
        )
        test = File(
            f"tests/{area}/test_{module}.py", area, noun, head(title, area, module, noun, True)
        )
        for _ in range(dice.between(2, 9)):
            file.append(write_function(dice, noun))
        for function in file.functions[: dice.between(1, 3)]:
            test.append(write_test(function))
        self.files.append(file)
        self.tests[file.path] = test
        if len(self.files) > FILES_AT_MOST:
            gone = self.files.pop(0)
            del self.tests[gone.path]
            if self.focus is gone:
                self.focus = None
            self.changed.pop(gone.path, None)
        return file
