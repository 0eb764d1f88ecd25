"""The options that commands share, defined once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

import click

from longjudge.batch_pace import DAY
from longjudge.chunks import DEFAULT_CHUNK_CHARS
from longjudge.faults import KINDS
from longjudge.settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_MODEL,
    DEFAULT_RUBRIC,
    DEFAULT_TIME_LIMIT,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.config import Choice, Configuration
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.settings import Settings

    P = ParamSpec("P")
    Command = Callable[..., int]


@dataclass(slots=True)
class Judging:
    """What `--model`, `--rubric`, `--store` and the settings' options say; None was not given.

    What is not given is looked up in the environment and the configuration file, once.
    """

    model: str | None = None
    rubric: str | None = None
    chunk_chars: int | None = None
    chunk_tokens: int | None = None
    concurrency: int | None = None
    time_limit: float | None = None
    store: str | None = None
    redact: bool = True
    _config: Configuration | None = field(default=None, init=False, repr=False)

    @property
    def config(self) -> Configuration:
        """The configuration file's content, read when it is first asked for."""
        if self._config is None:
            from longjudge.config import load_configuration

            self._config = load_configuration()
        return self._config

    def choice(self) -> Choice:
        """What holds: option beats environment beats configuration beats default."""
        from longjudge.config import choose

        return choose(
            self.config,
            model=self.model,
            rubric=self.rubric,
            chunk_chars=self.chunk_chars,
            chunk_tokens=self.chunk_tokens,
            concurrency=self.concurrency,
            time_limit=self.time_limit,
            store=self.store,
            redact=self.redact,
        )

    def settings(self, *, batch: bool = False) -> Settings:
        """The settings, checked; a `batch` has the provider's time where nobody set another."""
        settings = self.choice().settings
        if batch and self.time_limit is None and self.config.time_limit is None:
            return replace(settings, time_limit=DAY)
        return settings

    def load_rubric(self) -> Rubric:
        """The rubric that was chosen."""
        from longjudge.rubric import load_rubric

        return load_rubric(self.choice().rubric, self.config.rubrics)

    def make_judge(self) -> Judge:
        """The judge that was chosen."""
        from longjudge.judges.make import make_judge

        return make_judge(self.choice().model, self.config, freeze_after_import=True)

    def store_path(self) -> Path:
        """The store's file."""
        return self.choice().store


_KINDS = ", ".join(kind.name + "=N" * kind.needs_value for kind in KINDS)

paths = click.argument("paths", nargs=-1, metavar="[PATH ...]", type=click.UNPROCESSED)
json_output = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")

one_session = click.option(
    "--session", "wanted", metavar="ID", help="One session of a file with many."
)

since = click.option(
    "--since",
    metavar="AGE",
    help="Only sessions whose last event is of the last AGE: 45m, 24h, 30d, 2w.",
)

fault = click.option(
    "--fault",
    metavar="SPEC",
    help=f"Force failures, e.g. `timeout@30%` or `429x2@1-3+slow=0.5`; of {_KINDS}.",
)

no_redact = click.option(
    "--no-redact",
    is_flag=True,
    help="Leave keys, tokens and passwords in what is sent and printed.",
)

_JUDGING_OPTIONS = (
    click.option(
        "--model",
        metavar="NAME",
        help=f"Model, profile or `offline`; default {DEFAULT_MODEL}.",
    ),
    click.option("--rubric", metavar="NAME|FILE", help=f"Rubric; default {DEFAULT_RUBRIC}."),
    click.option(
        "--chunk-chars",
        type=int,
        metavar="N",
        help=f"Characters of event text in a chunk; default {DEFAULT_CHUNK_CHARS}.",
    ),
    click.option(
        "--chunk-tokens",
        type=int,
        metavar="N",
        help="Tokens of event text in a chunk, instead of characters.",
    ),
    click.option(
        "--concurrency",
        type=int,
        metavar="N",
        help=f"Questions in flight; default {DEFAULT_CONCURRENCY}.",
    ),
    click.option(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help=f"Most seconds per session; default {DEFAULT_TIME_LIMIT:g}.",
    ),
    click.option("--store", metavar="FILE", help="The store; default in your data folder."),
    no_redact,
)


def judging(command: Command) -> Command:
    """Add the judging options and hand them to the command as one `Judging`."""

    @wraps(command)
    def with_judging(
        *args: object,
        model: str | None,
        rubric: str | None,
        chunk_chars: int | None,
        chunk_tokens: int | None,
        concurrency: int | None,
        time_limit: float | None,
        store: str | None,
        no_redact: bool,
        **others: object,
    ) -> int:
        named = Judging(
            model, rubric, chunk_chars, chunk_tokens, concurrency, time_limit, store, not no_redact
        )
        return command(*args, judging=named, **others)

    decorated: Command = with_judging
    for option in reversed(_JUDGING_OPTIONS):
        decorated = option(decorated)
    return decorated
