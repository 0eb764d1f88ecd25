"""The agent has others do something: subagents, each with a thread of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sample import words
from longjudge.sample.beats import Beat, Form, by, call, result, say
from longjudge.sample.stage import uses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sample.project import File, Project
    from longjudge.sample.stage import Stage

    Scene = Callable[[Stage], list[Beat]]


def delegate(stage: Stage, steps: Sequence[Scene], inner: Sequence[Beat] = ()) -> list[Beat]:
    """Give a task to a subagent, or two to two at once.

    Each takes some of the `steps` on its way; `inner` is what the first one also does.
    """
    count = 2 if stage.dice.chance(0.25) else 1
    started = [_subagent(stage, steps, inner if place == 0 else ()) for place in range(count)]
    beats = [first for first, _, _ in started]
    # What they do stands in the file as it came, one beside the other.
    left = [list(work) for _, work, _ in started]
    while any(left):
        for work in left:
            beats += work[:2]
            del work[:2]
    beats += [last for _, _, last in started]
    return beats


def _subagent(
    stage: Stage, steps: Sequence[Scene], inner: Sequence[Beat]
) -> tuple[Beat, list[Beat], Beat]:
    """The call that starts a subagent, the beats of its thread, the result of the call."""
    dice, project = stage.dice, stage.project
    file = project.any_file()
    function = dice.pick(file.functions)
    given = project.words(file, function)
    place = dice.below(len(words.TASKS))
    title, task = words.TASKS[place]
    prompt = task.format_map(given)
    agent = dice.hex(8)
    work = [Beat(Form.PROMPT, prompt)]
    for _ in range(dice.between(0, 3)):
        work += dice.pick(steps)(stage)
    found, report = _findings(project, file, function.name)
    if place:
        report = _untested(project, file)
        work += [*_definitions(file), *_definitions(project.test_of(file))]
    else:
        pattern = rf"\b{function.name}\b"
        work += [call("Grep", pattern=pattern, path=words.ROOT, output_mode="content"), found]
    # Last, so that nothing of the task makes good what goes wrong in it.
    work += [*inner, say(report)]
    start = call(
        "Task",
        description=title.format_map(given),
        prompt=prompt,
        subagent_type=dice.pick(("general-purpose", "Explore")),
    )
    return start, by(agent, work), Beat(Form.RESULT, report, starts=agent)


def _findings(project: Project, file: File, name: str) -> tuple[Beat, str]:
    """The result of a search for a name, and the report about it."""
    found = uses(project, file, name)
    lines = "\n".join(f"{path}:{number}:{text}" for path, number, text in found)
    places = ", ".join(f"{path}:{number}" for path, number, _ in found[:8])
    return result(lines), f"{len(found)} lines name `{name}`: {places}."


def _definitions(file: File) -> list[Beat]:
    """A search for what a file defines."""
    pattern = "^(async )?def "
    lines = [
        f"{start}:{each.lines[0]}" for start, each in zip(file.starts, file.functions, strict=True)
    ]
    return [
        call("Grep", pattern=pattern, path=file.full, output_mode="content"),
        result("\n".join(lines)),
    ]


def _untested(project: Project, file: File) -> str:
    """The report about a module and its tests."""
    test = project.test_of(file)
    bare = [each.name for each in file.functions if not test.lines_with(each.name)]
    said = (
        f"{file.path} has {len(file.functions)} functions, {test.path} {len(test.functions)} tests."
    )
    names = ", ".join(f"`{name}`" for name in bare[:6])
    more = f" and {len(bare) - 6} more" if len(bare) > 6 else ""
    return f"{said} No test names {names}{more}." if bare else f"{said} Every function is named."
