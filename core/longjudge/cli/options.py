"""The options that commands share, defined once; what is not built yet is refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

import click

from longjudge import paths as file_paths
from longjudge.chunks import DEFAULT_CHUNK_CHARS
from longjudge.errors import UsageError
from longjudge.settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_MODEL,
    DEFAULT_RUBRIC,
    DEFAULT_TIME_LIMIT,
    Settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric

    P = ParamSpec("P")
    Command = Callable[..., int]

UNBUILT_EVERYWHERE: dict[str, bool] = {"--chunk-tokens": True, "--session": True}
"""Options of the full program that are not built yet, and whether each takes a value."""

UNBUILT_ON_JUDGE: dict[str, bool] = {
    "--fresh": False,
    "--max-cost": True,
    "--max-calls": True,
    "--fault": True,
    "--batch": False,
    "--detach": False,
    "--no-redact": False,
    "--since": True,
}


@dataclass(frozen=True, slots=True)
class Judging:
    """What `--model`, `--rubric`, `--store` and the settings' options say."""

    model: str | None
    rubric: str
    chunk_chars: int
    concurrency: int
    time_limit: float
    store: str | None

    def settings(self) -> Settings:
        """The settings, checked."""
        return Settings(self.chunk_chars, self.concurrency, self.time_limit)

    def load_rubric(self) -> Rubric:
        """The rubric that was named."""
        from longjudge.rubric import load_rubric

        return load_rubric(self.rubric)

    def make_judge(self) -> Judge:
        """The judge that was named; option beats environment."""
        from longjudge.judges.make import chosen_model, make_judge

        file_paths.refuse_configuration()
        return make_judge(chosen_model(self.model), freeze_after_import=True)

    def store_path(self) -> Path:
        """The store's file."""
        return file_paths.store_path(self.store)


paths = click.argument("paths", nargs=-1, metavar="[PATH ...]", type=click.UNPROCESSED)
json_output = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")

_JUDGING_OPTIONS = (
    click.option("--model", metavar="NAME", help=f"Model, or `offline`; default {DEFAULT_MODEL}."),
    click.option(
        "--rubric", default=DEFAULT_RUBRIC, metavar="NAME|FILE", help="Rubric; default chunks."
    ),
    click.option(
        "--chunk-chars",
        type=int,
        default=DEFAULT_CHUNK_CHARS,
        metavar="N",
        help=f"Characters of event text in a chunk; default {DEFAULT_CHUNK_CHARS}.",
    ),
    click.option(
        "--concurrency",
        type=int,
        default=DEFAULT_CONCURRENCY,
        metavar="N",
        help=f"Questions in flight; default {DEFAULT_CONCURRENCY}.",
    ),
    click.option(
        "--time-limit",
        type=float,
        default=DEFAULT_TIME_LIMIT,
        metavar="SECONDS",
        help=f"Most seconds per session; default {DEFAULT_TIME_LIMIT:g}.",
    ),
    click.option("--store", metavar="FILE", help="The store; default in your data folder."),
)


def judging(command: Command) -> Command:
    """Add the judging options and hand them to the command as one `Judging`."""

    @wraps(command)
    def with_judging(
        *args: object,
        model: str | None,
        rubric: str,
        chunk_chars: int,
        concurrency: int,
        time_limit: float,
        store: str | None,
        **others: object,
    ) -> int:
        named = Judging(model, rubric, chunk_chars, concurrency, time_limit, store)
        return command(*args, judging=named, **others)

    decorated: Command = with_judging
    for option in reversed(_JUDGING_OPTIONS):
        decorated = option(decorated)
    return decorated


def unbuilt(names: dict[str, bool]) -> Callable[[Command], Command]:
    """Add hidden options that are refused with a clear message when they are given."""

    def refuse(ctx: click.Context, option: click.Parameter, value: object) -> None:
        if value not in (None, False):
            raise UsageError(f"{option.opts[0]} is not built yet; leave it out")

    def decorate(command: Command) -> Command:
        for name, takes_value in names.items():
            command = click.option(
                name,
                is_flag=not takes_value,
                hidden=True,
                expose_value=False,
                callback=refuse,
            )(command)
        return command

    return decorate
