"""Parses the command line and turns every expected error into one line and exit code 2.

What a command needs is imported when it runs, so that `--help` and the listing start at once.
"""

from __future__ import annotations

import errno
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from longjudge.cli import options, store_commands
from longjudge.cli.hook import hook
from longjudge.cli.rubrics import rubrics
from longjudge.errors import LongjudgeError, UsageError
from longjudge.streams import can_print, let_go_of_lost_streams, print_in_any_encoding, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 2
NOBODY_READS = 128 + 13
"""What a shell reports for a program that SIGPIPE ended."""

_FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
_APP_COMMAND = "app"


class _Group(click.Group):
    """A group whose default is the app: anything that names no command is a path for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version")):
            args = [_APP_COMMAND, *args]
        return super().parse_args(ctx, args)


_VERSION = version("longjudge")


@click.group(cls=_Group, context_settings={"help_option_names": ["--help"]})
@click.version_option(_VERSION, message="longjudge %(version)s")
def _longjudge() -> None:
    """Judge long agent sessions chunk by chunk.

    Without a command, `longjudge [PATH ...]` opens the app: on the sessions in PATH, else on those
    that agents keep on this computer, else on the bundled samples. It takes the options of
    `chunks`, such as --model, --rubric and --store.
    """


@_longjudge.command(_APP_COMMAND, hidden=True)
@options.paths
@options.judging
@options.one_session
@options.fault
def _app(
    paths: tuple[str, ...], judging: options.Judging, wanted: str | None, fault: str | None
) -> int:
    """Open the app."""
    from longjudge.faults import Fault
    from longjudge.launch import AppRequest, start_app

    if paths:
        _check_for_a_mistyped_command(paths[0])
    choice = judging.choice()
    request = AppRequest(
        paths=tuple(Path(path) for path in paths),
        session=wanted,
        model=choice.model,
        model_given=judging.model is not None,
        rubric=judging.load_rubric(),
        rubric_name=judging.choice().rubric,
        settings=choice.settings,
        store=choice.store,
        config=judging.config,
        fault=Fault.parse(fault) if fault is not None else None,
    )
    return start_app(request)


def _check_for_a_mistyped_command(word: str) -> None:
    """Refuse what can only be meant as a command: a bare word that names nothing here."""
    if not re.fullmatch(r"[A-Za-z][\w -]*", word) or Path(word).exists():
        return
    from difflib import get_close_matches

    names = [name for name, each in _longjudge.commands.items() if not each.hidden]
    if word in names:
        raise UsageError(f"`{word}` is a command and comes first: `longjudge {word} …`")
    close = get_close_matches(word.lower(), names, n=1)
    way_out = f"did you mean `{close[0]}`?" if close else f"the commands are {', '.join(names)}"
    raise UsageError(f"{word}: no such file or folder, and no command; {way_out}")


@_longjudge.command("sessions")
@options.paths
@options.json_output
@options.one_session
def _sessions(paths: tuple[str, ...], as_json: bool, wanted: str | None) -> int:
    """List sessions, largest file first: one row (or JSON line) each."""
    from longjudge.cli.sessions import list_sessions

    return list_sessions(paths, as_json=as_json, wanted=wanted)


@_longjudge.command("chunks")
@options.paths
@options.judging
@options.json_output
@options.one_session
def _chunks(
    paths: tuple[str, ...], judging: options.Judging, as_json: bool, wanted: str | None
) -> int:
    """Show the plan with token and price estimates; asks nobody."""
    from longjudge.cli.chunks import show_chunks

    return show_chunks(paths, judging, as_json=as_json, wanted=wanted)


@_longjudge.command("judge")
@options.paths
@options.judging
@options.json_output
@click.option(
    "--fail-under",
    type=float,
    metavar="SCORE",
    help="Exit 1 where a score is lower.",
)
@click.option(
    "--max-gaps",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Gaps a session may have before the exit code is 3; default 0.",
)
@click.option("--fresh", is_flag=True, help="Ask about every chunk, kept verdicts or not.")
@click.option("--max-cost", type=float, metavar="USD", help="Most dollars to spend, all in all.")
@click.option("--max-calls", type=int, metavar="N", help="Most calls to make, retries included.")
@options.one_session
@options.fault
@click.option("--batch", is_flag=True, help="Send all of it to the provider's queue: half price.")
@click.option("--detach", is_flag=True, help="With --batch: send, say what is held, and return.")
@options.since
def _judge(
    paths: tuple[str, ...],
    judging: options.Judging,
    as_json: bool,
    fail_under: float | None,
    max_gaps: int,
    fresh: bool,
    max_cost: float | None,
    max_calls: int | None,
    wanted: str | None,
    fault: str | None,
    batch: bool,
    detach: bool,
    since: str | None,
) -> int:
    """Judge sessions: results on stdout as they finish, progress and estimate on stderr."""
    if fail_under is not None and not 0 <= fail_under <= 1:
        raise UsageError(f"--fail-under {fail_under:g} is out of range; use 0 to 1")
    from longjudge.budget import Budget
    from longjudge.cli.judge import Request, judge_paths
    from longjudge.faults import Fault

    request = Request(
        paths,
        Budget(max_cost, max_calls),
        as_json=as_json,
        fail_under=fail_under,
        max_gaps=max_gaps,
        fresh=fresh,
        wanted=wanted,
        fault=Fault.parse(fault) if fault is not None else None,
        batch=batch,
        detach=detach,
        since=since,
    )
    return judge_paths(judging, request)


@_longjudge.command("sample")
@click.option("--events", type=int, default=2_000, metavar="N", help="Events it has; default 2000.")
@click.option("--seed", type=int, default=1, metavar="S", help="Which of many; default 1.")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=click.UNPROCESSED,
    help="Where to write it; `-` is standard output.",
)
@click.option(
    "--listing",
    metavar="FILE",
    type=click.UNPROCESSED,
    help="Write the listing there, one JSON object a line, instead of printing it.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@options.json_output
def _sample(
    events: int, seed: int, out: str, listing: str | None, force: bool, as_json: bool
) -> int:
    """Make a long, believable session with planted problems, and list them.

    The same --events and --seed give the same session.
    """
    from longjudge.cli.sample import Request, make_file

    return make_file(Request(events, seed, out, listing, force, as_json))


for _command in (*store_commands.COMMANDS, rubrics, hook):
    _longjudge.add_command(_command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(arguments) if arguments is not None else sys.argv[1:]
    if not can_print():
        tell("longjudge: standard output is closed, so nothing could be said; open it")
        return USAGE
    print_in_any_encoding()
    try:
        code = cast("object", _longjudge.main(words, "longjudge", standalone_mode=False))
        sys.stdout.flush()
    except click.ClickException as error:
        tell(f"longjudge: {error.format_message()}")
        return USAGE
    except LongjudgeError as error:
        tell(f"longjudge: {error}")
        return USAGE
    except (BrokenPipeError, SystemExit):
        # Nobody reads the output any more, which the parser turns into an exit of its own.
        return NOBODY_READS
    except OSError as error:
        place = error.filename or "standard output"
        way_out = "make room for it" if error.errno in _FULL else "check it, and try again"
        tell(f"longjudge: {place}: {error.strerror}; {way_out}")
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return 130
    finally:
        let_go_of_lost_streams()
    return code if isinstance(code, int) else 0
