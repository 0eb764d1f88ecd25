"""The agent runs tests: they pass, or one fails and the code is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sample import words
from longjudge.sample.beats import Beat, bash, call, result, think
from longjudge.sample.stage import read_stretch, updated

if TYPE_CHECKING:
    from longjudge.sample.code import Function
    from longjudge.sample.dice import Dice
    from longjudge.sample.project import File
    from longjudge.sample.stage import Stage


def run_tests(stage: Stage, file: File | None = None) -> list[Beat]:
    """Run some tests, or all; they pass, or one fails and the code is mended."""
    project, dice = stage.project, stage.dice
    file = file or project.any_file()
    test = project.test_of(file)
    whole = dice.chance(0.3)
    command = "python -m pytest -q" if whole else f"python -m pytest {test.path} -q"
    count = project.test_count if whole else len(test.functions)
    if dice.chance(0.65):
        stage.turn.passed = count
        return [bash(command, "Run the tests"), result(passed(dice, count), failed=False)]
    failing = dice.pick(test.functions)
    beats = [
        bash(command, "Run the tests"),
        result(failed_run(dice, test, failing, count), failed=True),
        think(stage.line(words.THOUGHTS, project.words(file))),
    ]
    function, old, new, line = project.mend(file, failing)
    before = read_stretch(stage, file, max(1, line - 9))
    given = {"file_path": file.full, "old_string": old, "new_string": new}
    beats += [
        before[0],
        result(before[1].text.replace(new, old)),
        call("Edit", None, **given),
        result(updated(file, line)),
        bash(command, "Run the tests again"),
        result(passed(dice, count), failed=False),
    ]
    stage.turn.mended.append(f"In {file.path}, I changed `{function.name}` after a test failed.")
    stage.turn.passed, stage.turn.commit = count, ""
    return beats


def passed(dice: Dice, count: int) -> str:
    """What pytest prints when all is well."""
    seconds = dice.between(30, 900) / 100 + count / 40
    rows: list[str] = []
    for done in range(0, min(count, 216), 72):
        dots = "." * min(72, count - done)
        rows.append(f"{dots:<72} [{min(100, 100 * (done + 72) // count):>3}%]")
    return "\n".join([*rows, f"{count} passed in {seconds:.2f}s"])


def failed_run(dice: Dice, test: File, function: Function, count: int, failures: int = 1) -> str:
    """What pytest prints when a test fails."""
    line = test.starts[test.functions.index(function)] + len(function.lines) - 1
    claim = function.lines[-1].strip().removeprefix("assert ")
    found = f"{dice.between(1, 40)} ==" if "==" in claim else "False"
    wanted = claim.rpartition("== ")[2] if "==" in claim else ""
    short = f"assert {found} {wanted}".rstrip()
    return "\n".join(
        [
            "Exit code 1",
            "." * min(60, count - failures) + "F" * failures,
            f"{'':=<20} FAILURES {'':=<20}",
            f"{'':_<16} {function.name} {'':_<16}",
            "",
            *[f"    {each}" for each in function.lines[:-1]],
            f">   {function.lines[-1]}",
            f"E       {short}",
            "",
            f"{test.path}:{line}: AssertionError",
            f"{'':=<12} short test summary info {'':=<12}",
            f"FAILED {test.path}::{function.name} - {short}",
            f"{failures} failed, {count - failures} passed in {dice.between(80, 900) / 100:.2f}s",
        ]
    )
