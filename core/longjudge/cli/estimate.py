"""`longjudge estimate`: what `judge` with the same options would ask, send and cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.estimate_words import (
    NOT_APPLICABLE,
    drawn_line,
    longest_lines,
    sampled_lines,
    session_words,
    total_words,
)
from longjudge.cli.files import Reading, session_files, since_of, words_for
from longjudge.cli.model_note import ModelNote
from longjudge.errors import UsageError
from longjudge.forecast.forecaster import Expected, Forecaster
from longjudge.forecast.longest import SHOWN, Longest, LongSession
from longjudge.forecast.sampled import DrawnFile, extrapolated
from longjudge.forecast.sampling import draw
from longjudge.forecast.tally import Tally
from longjudge.redaction import redacted_text
from longjudge.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.cli.options import Judging
    from longjudge.forecast.forecaster import SessionForecast
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings


@dataclass(frozen=True, slots=True)
class Request:
    """What `estimate` was asked for beside what would be judged with.

    `since` is an age in words. `sample` is how many files to read, None for all of them.
    """

    paths: Sequence[str]
    as_json: bool = False
    fresh: bool = False
    wanted: str | None = None
    since: str | None = None
    sample: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.sample is None and self.seed is not None:
            raise UsageError("--seed says which files --sample N draws; name --sample as well")
        if self.sample is not None and self.wanted is not None:
            raise UsageError("--sample and --session say two things; leave one of them out")


def estimate_paths(judging: Judging, request: Request) -> int:
    """Print an estimate per session and their sum, and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """
    return asyncio.run(_estimate_paths(judging, request))


async def _estimate_paths(judging: Judging, request: Request) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    reading, note = Reading(request.wanted, since_of(request.since)), ModelNote(judging)
    files = await reading.recent(session_files(request.paths, "estimate"))
    store = await Store.open_to_read(judging.store_path())
    try:
        forecaster = await Forecaster.of(settings, rubric, judge, store, fresh=request.fresh)
        estimating = _Estimating(request, settings, reading, note, forecaster)
        if request.sample is not None and request.sample < len(files):
            await estimating.sample(files, request.sample, request.seed or 0)
        else:
            await estimating.all(files)
    finally:
        await store.aclose()
    return 2 if reading.failed else 0


@dataclass(slots=True)
class _Estimating:
    """One `estimate` command."""

    request: Request
    settings: Settings
    reading: Reading
    note: ModelNote
    forecaster: Forecaster

    async def all(self, files: Sequence[SessionFile]) -> None:
        """Estimate every session, each after those before it."""
        tally = Tally(self.forecaster.nothing)
        self.reading.begin(files)
        for file in files:
            for session in await self.reading.open(file):
                try:
                    forecast = await self.forecaster.session(session)
                finally:
                    session.close()
                await self._show(session, forecast)
                tally.add(self._name(session), session.id, forecast)
        self.reading.close(self.request.paths)
        if self.request.as_json:
            drawn: dict[str, object] = {}
            if self.request.sample is not None:
                # There are no more files than were to be drawn, so that the sum is an exact one.
                drawn = {"sampled": len(files), "of": len(files)}
            self._print(tally.to_dict() | drawn)
        elif self.reading.read:
            if tally.sessions > SHOWN and (longest := tally.longest.rows()):
                self._say(*longest_lines(longest, sampled=False))
            self._say(total_words(tally, self.settings))

    async def sample(self, files: Sequence[SessionFile], wanted: int, seed: int) -> None:
        """Estimate the sessions of a few files, each alone, and tell from them what all need."""
        sample, longest = draw([file.bytes for file in files], wanted, seed), Longest()
        drawn = [files[place] for place in sample.drawn]
        found: list[DrawnFile] = []
        for file in drawn:
            alone = self.forecaster.alone()
            found.append(DrawnFile(alone.nothing, alone.nothing))
            for session in await self.reading.open(file):
                try:
                    forecast = await alone.session(session, most=True)
                finally:
                    session.close()
                await self._show(session, forecast)
                found[-1].add(forecast)
                row = LongSession.of(self._name(session), session.id, forecast.needs)
                longest.add(row)
        if not self.reading.read:
            raise UsageError(
                f"none of the {len(drawn)} files drawn of {len(files)} holds such a session; draw"
                " more with --sample, or leave it out"
            )
        self.reading.close(self.request.paths)
        total = extrapolated(sample, found, longest.rows())
        if self.request.as_json:
            self._print(total.to_dict())
            return
        if self.reading.read > SHOWN and total.longest:
            self._say(*longest_lines(total.longest, sampled=True))
        paths = [str(file.path) for file in drawn]
        hidden = self.settings.redact and any(redacted_text(path) != path for path in paths)
        self._say(drawn_line(paths, redact_changes=hidden))
        self._say(*sampled_lines(total, self.settings))

    async def _show(self, session: Session, forecast: SessionForecast) -> None:
        needs = forecast.needs
        await self.note.say(needs.to_ask)
        if self.request.as_json:
            fields = {"path": self._name(session), "id": session.id, "status": forecast.status}
            self._print(fields | needs.to_dict())
            return
        applies = forecast.status is not Expected.NOT_APPLICABLE
        words = session_words(needs, self.settings) if applies else NOT_APPLICABLE
        self._say(f"{self._name(session)}: {words}")

    def _name(self, session: Session) -> str:
        """What the session goes by where it is shown."""
        if not self.request.as_json:
            return words_for(session, redact=self.settings.redact)
        return redacted_text(session.name) if self.settings.redact else session.name

    def _print(self, fields: Mapping[str, object]) -> None:
        click.echo(msgspec.json.encode(fields).decode())

    def _say(self, *lines: str) -> None:
        for line in lines:
            click.echo(line)
