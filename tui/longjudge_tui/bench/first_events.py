"""The first events of a long session, to look at while the rest of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.chunks import ChunkPlan, Cuts, Measure
from longjudge_tui.bench.texts import Texts

if TYPE_CHECKING:
    from longjudge.sessions import Session


@dataclass(frozen=True, slots=True)
class FirstEvents:
    """Their texts, and all of them as one stretch: no plan, since that takes the whole session."""

    texts: Texts
    stretch: ChunkPlan

    @classmethod
    def of(cls, session: Session, *, redact: bool) -> FirstEvents:
        """What there is of a session that was read in part."""
        index, cuts = session.index, Cuts()
        cuts.firsts.append(0)
        cuts.lasts.append(len(index) - 1)
        cuts.threads.append(0)
        measure = Measure(max(1, index.total_chars), False, index.chars, index.prefix)
        return cls(Texts(session, redact=redact), ChunkPlan(index, measure, cuts))

    @property
    def session(self) -> Session:
        """The part of a session."""
        return self.texts.session

    def close(self) -> None:
        """Let go of the file."""
        self.texts.close()
        self.session.close()
