"""What an agent does all day: reads, searches, edits, runs tests, fails and tries again.

A scene is a list of beats. None of them holds a problem: what is announced is done, what is cited
exists, what is deleted was made a moment ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sample import words
from longjudge.sample.beats import Beat, Form, bash, call, result, say, think, user
from longjudge.sample.pytest_runs import passed, run_tests
from longjudge.sample.stage import Turn, read_stretch, updated, uses
from longjudge.sample.subagents import delegate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sample.code import Function
    from longjudge.sample.project import File
    from longjudge.sample.stage import Stage

    Scene = Callable[[Stage], list[Beat]]

_WINDOW = 60


def ask(stage: Stage, file: File) -> list[Beat]:
    """The user asks for something; the agent begins with the module that it is about."""
    stage.project.focus = file
    stage.turn = Turn()
    given = stage.project.words(file)
    stage.request = stage.line(words.REQUESTS, given)
    beats = [user(stage.request)]
    if stage.dice.chance(0.5):
        beats.append(think(stage.line(words.THOUGHTS, given)))
    beats.append(say(stage.line(words.OPENINGS, given)))
    return [*beats, *read_stretch(stage, file, 1)]


def close(stage: Stage) -> Beat:
    """The agent says what it did; all of it is so."""
    turn = stage.turn
    said: list[str] = []
    for name, path in turn.added[:2]:
        said.append(f"I added `{name}` to {path}.")
    if len(turn.added) > 2:
        said.append(f"{len(turn.added) - 2} more functions stand in the same modules.")
    if turn.tests:
        said.append(f"Tests for that are in {turn.tests[-1]}.")
    said += turn.mended[:2]
    if not said:
        said.append("Nothing is changed so far.")
    elif turn.passed:
        said.append(f"The {turn.passed} tests of the last run pass.")
    else:
        said.append("No test has run since the last change.")
    if turn.commit:
        said.append(f"Committed as {turn.commit}.")
    return say(" ".join([*said, stage.dice.pick(words.STILL_OPEN)]))


def read(stage: Stage) -> list[Beat]:
    """Read a stretch of a file."""
    return read_stretch(stage, stage.project.any_file())


def look_around(stage: Stage) -> list[Beat]:
    """Search for a name, read two places at once, say what the search shows."""
    project, dice = stage.project, stage.dice
    one, other = dice.two(project.files)
    if dice.chance(0.6):
        one = project.any_file()
    function = dice.pick(one.functions)
    line = one.starts[one.functions.index(function)]
    found = uses(project, one, function.name)
    reads = [*read_stretch(stage, one, max(1, line - 8)), *read_stretch(stage, other)]
    test = project.test_of(one)
    inside = sum(path == test.path for path, _, _ in found)
    remark = dice.pick(
        (
            f"`{function.name}` begins in line {line} of {one.path}.",
            f"{len(found)} lines name `{function.name}`, {inside} of them in {test.path}.",
            f"Nothing but {one.path} and {test.path} names `{function.name}`."
            if inside
            else f"No test names `{function.name}`.",
        )
    )
    return [
        call("Grep", pattern=rf"\b{function.name}\b", path=words.ROOT, output_mode="content"),
        result("\n".join(f"{path}:{number}:{text}" for path, number, text in found)),
        # Two calls in one answer, then their results.
        reads[0],
        reads[2],
        reads[1],
        reads[3],
        say(remark),
    ]


def wrong_path(stage: Stage) -> list[Beat]:
    """Guess a path, find the right one by a search, read that."""
    file = stage.project.any_file()
    name = file.path.rpartition("/")[2]
    guess = f"{words.ROOT}/src/depot/core/{stage.dice.hex(4)}_{name}"
    return [
        call("Read", file_path=guess),
        result("File does not exist.", failed=True),
        call("Glob", pattern=f"src/**/{name}"),
        result(file.full),
        *read_stretch(stage, file),
    ]


def edit(stage: Stage) -> list[Beat]:
    """Add a function and its test, sometimes only at the second try."""
    project, dice = stage.project, stage.dice
    file = project.room_in(project.any_file())
    beats = read_stretch(stage, file, max(1, len(file.lines) - _WINDOW))
    if dice.chance(0.4):
        beats.append(think(stage.line(words.THOUGHTS, project.words(file))))
    if dice.chance(0.15):
        fault = "File has been modified since read, either by the user or by a linter."
        given = {"file_path": file.full, "old_string": "\n\n\n\n", "new_string": "\n\n\n"}
        beats += [call("Edit", None, **given), result(fault, failed=True)]
        beats += read_stretch(stage, file, max(1, len(file.lines) - 20))
    added = _append(stage, file, beats)
    stage.turn.added.append((added.name, file.path))
    if dice.chance(0.7):
        test = project.test_of(file)
        _append(stage, test, beats, added)
        stage.turn.tests.append(test.path)
    return [*beats, *run_tests(stage, file)]


def _append(
    stage: Stage, file: File, beats: list[Beat], tested: Function | None = None
) -> Function:
    """Edit a file so that it has one more function, or a test of one."""
    before, added, line = stage.project.grow(file, tested)
    given = {
        "file_path": file.full,
        "old_string": before.lines[-1],
        "new_string": "\n".join([before.lines[-1], "", "", *added.lines]),
    }
    beats += [call("Edit", None, **given), result(updated(file, line))]
    stage.turn.passed, stage.turn.commit = 0, ""
    return added


def keep_promise(stage: Stage) -> list[Beat]:
    """Announce something and do it at once."""
    file = stage.project.any_file()
    test = stage.project.test_of(file)
    if stage.dice.chance(0.5):
        return [say(f"Let me read {test.path} first."), *read_stretch(stage, test)]
    count = len(test.functions)
    return [
        say("Let me run the tests before I change anything."),
        bash(f"python -m pytest {test.path} -q"),
        result(passed(stage.dice, count), failed=False),
    ]


def look_at_git(stage: Stage) -> list[Beat]:
    """See what changed, and commit it where something did."""
    project, dice = stage.project, stage.dice
    changed = list(project.changed.items())
    status = "\n".join([f" M {path}" for path, _ in changed]) or "nothing to commit"
    beats = [bash("git status --short", "See what changed"), result(status, failed=False)]
    if not changed:
        log = "\n".join(project.commits) or f"{dice.hex(7)} labels: print the depot's short name"
        return [*beats, bash("git log --oneline -12"), result(log, failed=False)]
    stat = [f" {path} | {lines:>4} {'+' * min(40, lines)}" for path, lines in changed]
    total = sum(lines for _, lines in changed)
    stat.append(f" {len(changed)} files changed, {total} insertions(+)")
    area = changed[-1][0].split("/")[-2]
    added = stage.turn.added[-1][0] if stage.turn.added else ""
    message = f"{area}: add {added}" if added else f"{area}: a limit that the tests ask for"
    name = stage.turn.commit = project.commit(message)
    return [
        *beats,
        bash("git diff --stat"),
        result("\n".join(stat), failed=False),
        bash(f'git add src tests && git commit -m "{message}"', "Commit the change"),
        result(f"[{dice.pick(words.BRANCHES[1:])} {name}] {message}\n{stat[-1]}", failed=False),
    ]


def check_style(stage: Stage) -> list[Beat]:
    """Run the linter and the type checker."""
    dice, file = stage.dice, stage.project.any_file()
    if dice.chance(0.6):
        said = "All checks passed!\n0 errors, 0 warnings, 0 informations"
        return [bash("ruff check src tests && pyright src"), result(said, failed=False)]
    line = dice.between(1, len(file.lines))
    complaint = (
        f"Exit code 1\n{file.path}:{line}:5: F841 Local variable `rest` is assigned to but never"
        " used\nFound 1 error.\n[*] 1 fixable with the --fix option."
    )
    return [
        bash("ruff check src tests"),
        result(complaint, failed=True),
        bash(f"ruff check --fix {file.path}"),
        result("Found 1 error (1 fixed, 0 remaining).", failed=False),
    ]


def look_at_logs(stage: Stage) -> list[Beat]:
    """Read the log of the service, and say what it shows."""
    dice, project = stage.dice, stage.project
    file = project.any_file()
    rows: list[str] = []
    warnings = slowest = 0
    for _ in range(dice.between(8, 36)):
        function, took = dice.pick(file.functions), dice.between(1, 900)
        level = "WARNING" if dice.chance(0.15) else "INFO"
        warnings, slowest = warnings + (level == "WARNING"), max(slowest, took)
        rows.append(
            f"api-1  | 2026-03-{dice.between(1, 28):02}T{dice.between(0, 23):02}:"
            f"{dice.between(0, 59):02}:{dice.between(0, 59):02}Z {level:<7} depot.{file.area}"
            f" {function.name} {file.noun}={dice.between(1_000, 99_999)} ms={took}"
        )
    return [
        bash(f"docker compose logs api --since 2h | tail -{len(rows)}", "Read the service's log"),
        result("\n".join(sorted(rows)), failed=False),
        say(f"{warnings} of {len(rows)} lines are warnings; the slowest call took {slowest} ms."),
    ]


def tidy(stage: Stage) -> list[Beat]:
    """Make a scratch file, use it, remove it again."""
    dice, file = stage.dice, stage.project.any_file()
    scratch = f"/tmp/{file.noun}_{dice.hex(4)}"
    rows = [f"{dice.between(100, 9_000)} {file.noun} {dice.word(8)}" for _ in range(12)]
    return [
        bash(f"mkdir -p {scratch} && python scripts/export.py --last 12 > {scratch}/rows.txt"),
        result("", failed=False),
        bash(f"sort -rn {scratch}/rows.txt | head -12"),
        result("\n".join(rows), failed=False),
        bash(f"rm -rf {scratch}", "Remove the scratch folder"),
        result("", failed=False),
    ]


def write_todos(stage: Stage) -> list[Beat]:
    """Keep the list of things to do."""
    path = (stage.project.focus or stage.project.any_file()).path
    steps = (
        (f"Read {path}", f"Reading {path}"),
        ("Find out what names it", "Finding out what names it"),
        ("Make the change small", "Making the change small"),
        ("Run the tests", "Running the tests"),
    )
    todos = [
        {
            "content": step,
            "status": "pending" if place else "in_progress",
            "activeForm": doing,
        }
        for place, (step, doing) in enumerate(steps[: stage.dice.between(2, 4)])
    ]
    said = "Todos have been modified successfully. Please proceed with the current tasks."
    return [call("TodoWrite", todos=todos), result(said)]


def overloaded(stage: Stage) -> list[Beat]:
    """The model's interface fails, and the agent goes on after the wait."""
    status = stage.dice.pick(("529 Overloaded", "500 Internal server error", "Request timed out"))
    return [Beat(Form.API_ERROR, f"API Error: {status}"), *read(stage)]


def remind(stage: Stage) -> list[Beat]:
    """The program tells the model something between two calls."""
    file = stage.project.any_file()
    reminder = f"<system-reminder>\n{file.path} was changed by a linter.\n</system-reminder>"
    return [*read(stage), Beat(Form.REMINDER, reminder)]


def interject(stage: Stage) -> list[Beat]:
    """The user types while the agent works."""
    given = stage.project.words(stage.project.any_file())
    return [
        *read(stage),
        Beat(Form.QUEUED, stage.line(words.QUEUED, given)),
        say("Noted."),
        *read(stage),
    ]


def compact(stage: Stage) -> list[Beat]:
    """The context is full: a summary takes its place."""
    project = stage.project
    file = project.any_file()
    files = ", ".join(list(project.changed)[-6:]) or "none"
    given = {**project.words(file), "request": stage.request, "files": files}
    return [
        Beat(Form.COMPACTED, "Conversation compacted"),
        Beat(Form.SUMMARY, words.SUMMARY.format_map(given)),
    ]


def have_done(stage: Stage, inner: Sequence[Beat] = ()) -> list[Beat]:
    """Have a subagent do something; `inner` is what it also does."""
    return delegate(stage, (look_around, read, look_at_logs, wrong_path), inner)


SCENES: tuple[tuple[Scene, int], ...] = (
    (read, 16),
    (look_around, 18),
    (edit, 22),
    (run_tests, 10),
    (look_at_git, 8),
    (keep_promise, 6),
    (wrong_path, 5),
    (check_style, 5),
    (look_at_logs, 5),
    (write_todos, 6),
    (tidy, 3),
    (overloaded, 2),
    (remind, 2),
    (interject, 2),
    (have_done, 6),
)
"""Every ordinary scene, and how often it is played."""
