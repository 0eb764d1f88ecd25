"""The command that an agent calls when a session ends: `longjudge hook`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from longjudge.errors import UsageError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_ANY_FILE = os.path.abspath("session")


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.option("--wait", is_flag=True, help="Judge here, and end with the exit code of `judge`.")
@click.option("--in-background", is_flag=True, hidden=True)
@click.argument(
    "words",
    nargs=-1,
    metavar="[claude-code|codex] [-- OPTIONS OF judge]",
    type=click.UNPROCESSED,
)
@click.pass_context
def hook(context: click.Context, wait: bool, in_background: bool, words: tuple[str, ...]) -> int:
    """Judge the session that an agent's hook says has ended.

    Claude Code or Codex calls it and hands over which session that is; it starts to judge that in
    the background and returns at once. docs/hooks.md says how to set it up. Called by hand, it
    checks its options.
    """
    from longjudge.cli.hook_calls import How, answer

    how = How.HERE if wait else How.IN_BACKGROUND if in_background else How.BY_ANOTHER_PROCESS
    return answer(words, how, lambda options: _check(context, options))


def _check(context: click.Context, options: Sequence[str]) -> None:
    """Say what `judge` would say of its options before it looks at any file.

    Raises:
        UsageError: one is wrong, or names a file.
    """
    root = context.find_root().command
    judge = root.get_command(context, "judge") if isinstance(root, click.Group) else None
    assert judge is not None
    if "--help" in options:
        raise UsageError("`longjudge judge --help` lists the options that may stand after `--`")
    try:
        with judge.make_context("judge", [_ANY_FILE, *options]) as parsed:
            others = [path for path in parsed.params["paths"] if path != _ANY_FILE]
    except click.UsageError as error:
        raise UsageError(error.format_message()) from error
    if others:
        raise UsageError(
            f"{clean_line(others[0], 80)}: after `--` only options of `judge` may stand; the agent"
            " names the session"
        )
