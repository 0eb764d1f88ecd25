"""The command line that judges sessions as a batch, or why there is none. Pure."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from longjudge.errors import UsageError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longjudge.sessions import SessionFile
    from longjudge_tui.estimate.subject import About, Subject

MOST_BYTES: Final = 30_000 if sys.platform == "win32" else 500_000
"""What the words of a command may take: half of what the narrowest common system leaves to words
and environment (1 MiB, macOS; 32,767 characters, Windows)."""

_WORD_BYTES = 9
"""What a word takes beside itself: its end, and where it is."""


@dataclass(frozen=True, slots=True)
class BatchCommand:
    """The words after `longjudge`, and how many sessions of a list they are about."""

    words: tuple[str, ...]
    sessions: int

    @property
    def typed(self) -> str:
        """The command as a person would type it."""
        return f"longjudge {' '.join(map(shlex.quote, self.words))}"


def batch_command(
    subject: Subject, about: About, store: Path, per_file: Mapping[Path, int]
) -> BatchCommand:
    """The command that judges a subject as one batch run.

    `per_file` says how many sessions are listed of each file with many.

    Raises:
        UsageError: no single command can say it; the words say what to do instead.
    """
    options = _options(about, store)
    chosen = _one_of_many(subject.files, per_file)
    if chosen is None:
        paths = subject.paths or dict.fromkeys(file.path for file in subject.files)
        words = (*options, "--", *map(str, paths))
    else:
        words = (*options, "--session", chosen.session or "", "--", str(chosen.path))
    if _bytes(words) > MOST_BYTES:
        folder = _common_folder(file.path for file in subject.files)
        instead = BatchCommand((*options, "--", str(folder)), 0)
        raise UsageError(
            f"{len(subject.files):,} paths are too many for one command; select fewer, or type, for"
            f" all that is in that folder: {clean_line(instead.typed, 600)}"
        )
    return BatchCommand(words, len(subject.files))


def _options(about: About, store: Path) -> tuple[str, ...]:
    settings = about.settings
    if settings.chunk_tokens is None:
        size = ("--chunk-chars", str(settings.chunk_chars))
    else:
        size = ("--chunk-tokens", str(settings.chunk_tokens))
    return (
        "judge",
        "--batch",
        "--json",
        "--model",
        about.model_name,
        "--rubric",
        about.rubric_name,
        *size,
        "--store",
        str(store),
        *(() if settings.redact else ("--no-redact",)),
    )


def _one_of_many(files: Sequence[SessionFile], per_file: Mapping[Path, int]) -> SessionFile | None:
    """The one session of a file with many that is meant; None where whole files are.

    Raises:
        UsageError: a part of such a file is meant that no command can name.
    """
    counts = Counter(file.path for file in files if file.session is not None)
    parted = [path for path, count in counts.items() if count < per_file.get(path, count)]
    if not parted:
        return None
    if len(files) == 1:
        return files[0]
    name = clean_line(parted[0].name, 80)
    raise UsageError(
        f"{name} holds sessions that are not among these, and a batch run judges whole files:"
        " select all sessions of it, none, or a single one"
    )


def _bytes(words: Iterable[str]) -> int:
    return sum(len(os.fsencode(word)) + _WORD_BYTES for word in words)


def _common_folder(paths: Iterable[Path]) -> Path:
    parents = {str(path.parent) for path in paths}
    try:
        return Path(os.path.commonpath(parents))
    except ValueError:
        return Path()
