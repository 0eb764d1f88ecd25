"""`longjudge rubrics`: the rubrics that are known by name, one of them as TOML, a file checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longjudge.cli.options import json_output
from longjudge.errors import RubricError, UsageError
from longjudge.streams import tell
from longjudge.text import clean_line, without_surrogates

if TYPE_CHECKING:
    from longjudge.rubric import KnownRubric, Rubric


@click.group("rubrics", invoke_without_command=True)
@click.pass_context
def rubrics(ctx: click.Context) -> None:
    """List rubrics, show one as TOML, check a file."""
    if ctx.invoked_subcommand is None:
        raise UsageError("`rubrics` needs a command; use list, show NAME or check FILE")


@rubrics.command("list")
@json_output
def _list(as_json: bool) -> int:
    """List the rubrics known by name: version, criteria, where from."""
    import msgspec

    from longjudge.config import load_configuration
    from longjudge.rubric import known_rubrics

    known = known_rubrics(load_configuration().rubrics)
    for one in known.rubrics:
        click.echo(msgspec.json.encode(_fields(one)).decode() if as_json else _row(one))
    faults = (*known.faults, *known.clashes())
    for fault in faults:
        tell(f"longjudge: {fault}")
    return 2 if faults else 0


@rubrics.command("show")
@click.argument("name", type=click.UNPROCESSED)
def _show(name: str) -> int:
    """Print a rubric as TOML for `--rubric FILE`; its version stays."""
    from longjudge.config import load_configuration
    from longjudge.rubric import load_rubric
    from longjudge.rubric_toml import rubric_toml

    click.echo(rubric_toml(load_rubric(name, load_configuration().rubrics)), nl=False)
    return 0


@rubrics.command("check")
@click.argument("file", type=click.UNPROCESSED)
def _check(file: str) -> int:
    """Check a rubric file; every fault has its line."""
    from longjudge.rubric import check_rubric_text
    from longjudge.toml_lines import TomlError, read_toml

    try:
        text = read_toml(Path(file))
    except TomlError as error:
        raise RubricError(str(error)) from error
    except (OSError, ValueError) as error:
        fault = error.strerror if isinstance(error, OSError) else error
        raise RubricError(f"{clean_line(file)}: {fault}; name a TOML file") from error
    rubric, faults = check_rubric_text(text, file)
    for fault in faults:
        tell(f"longjudge: {fault}")
    if rubric is None:
        return 2
    for warning in warnings(rubric, text, file):
        tell(f"longjudge: {warning}")
    criteria = ", ".join(rubric.criterion_ids)
    click.echo(f"{clean_line(file)}: ok, {rubric.name}, version {rubric.version}: {criteria}")
    return 0


def warnings(rubric: Rubric, text: str, file: str) -> list[str]:
    """What is allowed and probably not meant, one line each."""
    from longjudge.judges.offline import unread_questions
    from longjudge.judges.rules import criteria_with_rules
    from longjudge.rubric import builtin_rubrics
    from longjudge.toml_lines import line_of

    said: list[str] = []

    def warn(key: tuple[str | int, ...], words: str) -> None:
        line = line_of(text, key)
        place = f"{clean_line(file)}:{line}" if line else clean_line(file)
        said.append(f"{place}: warning: {words}")

    if rubric.name in builtin_rubrics():
        warn(("name",), f"{rubric.name} is built in; another name lets both be used by name")
    asked: dict[str, str] = {}
    for number, criterion in enumerate(rubric.criteria):
        question = " ".join(criterion.question.split())
        here = ("criteria", number, "question")
        if not question.endswith("?"):
            warn(here, f"{criterion.id}: its question does not end in a question mark")
        earlier = asked.setdefault(question.casefold(), criterion.id)
        if earlier != criterion.id:
            warn(here, f"{criterion.id}: asks the same as {earlier}")
        if criterion.id in unread_questions(rubric):
            warn(here, f"{criterion.id}: the offline rules go by its id and read no question")
        if criterion.id not in criteria_with_rules():
            warn(
                ("criteria", number, "id"),
                f"{criterion.id} has no offline rules; `--model offline` will refuse it",
            )
    return said


def _fields(known: KnownRubric) -> dict[str, object]:
    return {
        "name": known.rubric.name,
        "version": known.rubric.version,
        "criteria": list(known.rubric.criterion_ids),
        "from": "built in" if known.path is None else without_surrogates(os.fspath(known.path)),
    }


def _row(known: KnownRubric) -> str:
    rubric = known.rubric
    return f"{rubric.name}  {rubric.version}  {', '.join(rubric.criterion_ids)}  ({known.origin})"
