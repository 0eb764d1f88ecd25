"""What sessions are judged by: settings, rubric and judge as they stood when it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.estimate import Estimator
from longjudge.keys import KeyMaker
from longjudge.prices import OFFLINE_MODEL
from longjudge.rubric import Skip
from longjudge_tui.bench.outlook import Outlook
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.library.last import By

if TYPE_CHECKING:
    from collections.abc import Container, Hashable

    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge_tui.bench.bench import Bench


@dataclass(frozen=True, slots=True)
class Terms:
    """A rubric, a judge and settings; `fault` is what is forced to fail."""

    rubric: Rubric
    judge: Judge
    settings: Settings
    fault: Fault | None = None

    @classmethod
    def of(cls, bench: Bench) -> Terms:
        """Those of the bench, now."""
        return cls(bench.rubric, bench.judge, bench.settings, bench.forcing.for_a_run())

    @property
    def basis(self) -> Hashable:
        """What an estimate depends on beside the session and the store."""
        sizes = (self.settings.chunk_chars, self.settings.chunk_tokens)
        return (self.rubric.version, self.judge.model, self.judge.endpoint, *sizes)

    @property
    def by(self) -> By:
        """The same, as a result notes it."""
        settings, rubric = self.settings, self.rubric
        unit = Unit.CHARACTERS if settings.chunk_tokens is None else Unit.TOKENS
        size = settings.chunk_tokens or settings.chunk_chars
        return By(size, unit, self.judge.model, rubric.name, rubric.version)

    @property
    def free(self) -> bool:
        """Whether no question costs anything."""
        return self.judge.model == OFFLINE_MODEL

    def applies(self, session: Session) -> bool:
        """Whether any question would be asked about a session."""
        return self.rubric.skip is not Skip.NO_TOOL_CALL or bool(session.index.tool_calls)

    def outlook(self, session: Session, kept: Container[str]) -> Outlook:
        """Plan and price a session; for a thread."""
        estimator = Estimator.of(session, self.rubric, self.judge.model, self.judge.price)
        maker = KeyMaker(self.judge, self.rubric, redactor=self.settings.redactor)
        return Outlook.of(session, self.settings, estimator, maker, kept)
