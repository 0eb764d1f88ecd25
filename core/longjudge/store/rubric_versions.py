"""Versions of rubrics: what a past judgment was judged by can be read, compared and taken back.

A version is what reaches the judge. Texts that differ in nothing else (comments, labels, the skip
condition) are one version, and the newest of them is kept, as somebody typed it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.rubric import check_rubric_text
from longjudge.rubric_toml import rubric_toml
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from longjudge.rubric import Rubric
    from longjudge.store.file import StoreFile

# A version that was used keeps the time of its first use, whoever wrote its text anew.
_NOTE = """
    INSERT INTO rubric_versions (version, name, label, toml, first_used, last_used)
    VALUES (?,?,?,?,?,?)
    ON CONFLICT (version, name) DO UPDATE SET
        label = excluded.label, toml = excluded.toml,
        first_used = min(first_used, excluded.first_used),
        last_used = max(last_used, excluded.last_used)
"""

_TOUCH = "UPDATE rubric_versions SET last_used = max(last_used, ?) WHERE version = ? AND name = ?"

_READ = """
    SELECT version, name, label, toml, first_used, last_used FROM rubric_versions
    WHERE (? IS NULL OR name = ?) AND (? IS NULL OR version = ?)
    ORDER BY last_used DESC, first_used DESC, version, name
"""

_SESSIONS = """
    SELECT rubric_version, rubric, count(*), sum(judgments) FROM (
        SELECT rubric_version, rubric, count(*) AS judgments FROM judgments
        GROUP BY rubric_version, rubric, real_path, session_id
    ) GROUP BY rubric_version, rubric
"""
"""From the index alone."""


@dataclass(frozen=True, slots=True)
class RubricVersion:
    """One text that was judged by, tried or saved; times are seconds since 1970.

    `sessions` were judged by it, in `judgments` judgments; both are 0 for one that was only saved.
    """

    version: str
    name: str
    label: str
    toml: str
    first_used: float
    last_used: float
    sessions: int = 0
    judgments: int = 0


async def note_rubric(
    store: StoreFile, rubric: Rubric, toml: str | None = None, *, used: float | None = None
) -> None:
    """Note that a rubric is used or saved now; `toml` is its text as somebody typed it.

    Without one, a text that stands there and says the same is left as it is.

    Raises:
        StoreError: it cannot be read; a `StoreWriteError` where nothing was written.
    """
    now = time.time() if used is None else used
    if toml is None:
        for known in await _read(store, rubric.name, rubric.version):
            if await asyncio.to_thread(_says_the_same, known.toml, rubric):
                await store.write(_TOUCH, (now, rubric.version, rubric.name))
                return
    text = await asyncio.to_thread(rubric_toml, rubric) if toml is None else toml
    label, text = without_surrogates(rubric.label), without_surrogates(text)
    await store.write(_NOTE, (rubric.version, rubric.name, label, text, now, now))


async def rubric_versions(store: StoreFile, name: str | None = None) -> list[RubricVersion]:
    """All versions, those of a rubric where its name is given, the last used first.

    Raises:
        StoreError: the store cannot be read.
    """
    judged: dict[tuple[str, str], tuple[int, int]] = {}
    for version, rubric, sessions, judgments in await store.read(_SESSIONS):
        judged[version, rubric] = (sessions, judgments)
    found = await _read(store, name, None)
    return [
        RubricVersion(
            one.version,
            one.name,
            one.label,
            one.toml,
            one.first_used,
            one.last_used,
            *judged.get((one.version, one.name), (0, 0)),
        )
        for one in found
    ]


async def rubric_of_version(store: StoreFile, version: str) -> Rubric | None:
    """The rubric of a version, the last used where several names have it; None where none is.

    Raises:
        StoreError: the store cannot be read.
    """
    for known in await _read(store, None, version):
        rubric, _ = await asyncio.to_thread(check_rubric_text, known.toml, known.name)
        if rubric is not None and rubric.version == version:
            return rubric
    return None


def is_rubric(version: str, toml: str) -> bool:
    """Whether a text is that of a rubric of this version."""
    rubric, _ = check_rubric_text(toml, version)
    return rubric is not None and rubric.version == version


async def _read(store: StoreFile, name: str | None, version: str | None) -> list[RubricVersion]:
    found: list[RubricVersion] = []
    for row in await store.read(_READ, (name, name, version, version)):
        texts, times = tuple(row[:4]), tuple(row[4:])
        # What does not read as it should was written by nobody here.
        if all(isinstance(text, str) for text in texts) and all(
            isinstance(time, float) for time in times
        ):
            found.append(RubricVersion(*texts, *times))
    return found


def _says_the_same(toml: str, rubric: Rubric) -> bool:
    """Whether a text that is kept is this rubric, but for its label, which no judge sees."""
    kept, _ = check_rubric_text(toml, rubric.name)
    return kept is not None and kept.model_copy(update={"label": rubric.label}) == rubric
