"""What an estimate is about: which sessions, and what they would be judged by. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import SessionFile
    from longjudge.settings import Settings
    from longjudge_tui.bench.bench import Bench

_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class About:
    """What would be judged by; the names are those that a command line takes."""

    rubric: Rubric
    judge: Judge
    settings: Settings
    model_name: str
    rubric_name: str

    @classmethod
    def of(cls, bench: Bench) -> About:
        """What stands now."""
        tuning = bench.tuning
        name = OFFLINE_MODEL if tuning.judge.model == OFFLINE_MODEL else tuning.model_name
        return cls(tuning.rubric, tuning.judge, tuning.settings, name, tuning.rubric_name)

    @property
    def free(self) -> bool:
        """Whether no question costs anything."""
        return self.judge.model == OFFLINE_MODEL

    @property
    def variants(self) -> tuple[str, ...]:
        """The model, the rubric and the chunk size, longest first."""
        settings, rubric = self.settings, self.rubric
        if settings.chunk_tokens is None:
            size, unit = settings.chunk_chars, "characters"
        else:
            size, unit = settings.chunk_tokens, "tokens"
        model = line(self.judge.label, _NAME_CHARS)
        name = f"rubric {line(rubric.name, _NAME_CHARS)}"
        chunks = f"chunks of {size:,} {unit}"
        flight = f"{settings.concurrency} in flight"
        return (
            f"{model} · {name} {line(rubric.version, 12)} · {chunks} · {flight}",
            f"{model} · {name} · {chunks}",
            f"{model} · {chunks}",
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """The sessions to judge, as the library lists them, in the order in which they are judged.

    `which` says which they are: "the 3 selected sessions". `paths` are those that the app was
    opened on where that is the same, else empty.
    """

    files: Sequence[SessionFile]
    which: str
    paths: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Units:
    """The files to read, each once, with the ids of the wanted sessions of those with many."""

    files: Sequence[SessionFile]
    ids: Mapping[Path, Sequence[str]]
    sizes: Mapping[Path, int]

    @classmethod
    def of(cls, files: Sequence[SessionFile]) -> Units:
        """Put the sessions of one file together; no copy is made where there are none."""
        if all(file.session is None for file in files):
            return cls(files, {}, {})
        ids: dict[Path, list[str]] = {}
        sizes: dict[Path, int] = {}
        units: list[SessionFile] = []
        for file in files:
            if file.session is None:
                units.append(file)
                continue
            if file.path not in ids:
                units.append(file)
            ids.setdefault(file.path, []).append(file.session)
            sizes[file.path] = sizes.get(file.path, 0) + file.bytes
        return cls(units, ids, sizes)

    def wanted(self, file: SessionFile) -> Sequence[str] | None:
        """The ids of the sessions that are wanted of a file; None for all of them."""
        return None if file.session is None else self.ids[file.path]

    def listed(self, file: SessionFile) -> int:
        """How many sessions the library lists for a file."""
        return 1 if file.session is None else len(self.ids[file.path])

    def bytes(self, file: SessionFile) -> int:
        """The size of what is wanted of a file."""
        return file.bytes if file.session is None else self.sizes[file.path]


def which_words(count: int, of: int, *, selected: bool, words: str) -> str:
    """Which sessions are meant, of those that are listed; `words` is the filter."""
    if selected:
        return f"the {plural(count, 'selected session')}"
    if count == of:
        return f"all {plural(count, 'session')}"
    by = f" by the filter “{line(words, 30)}”" if words.strip() else ""
    return f"the {plural(count, 'session')} shown{by}"
