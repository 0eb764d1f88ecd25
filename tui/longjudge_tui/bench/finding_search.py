"""Which findings hold a phrase that no event does: a judge's words are in no event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge_tui.bench.aside import Aside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.result import ResultFinding
    from longjudge.sessions.search_match import Phrase
    from longjudge_tui.bench.records import Records


@dataclass(frozen=True, slots=True)
class FoundIn:
    """How many findings hold it, and the first of them."""

    count: int = 0
    first: ResultFinding | None = None


NOWHERE = FoundIn()


class FindingSearch:
    """Looks through findings in a thread, anew when they have become others."""

    def __init__(self) -> None:
        self._about: tuple[Records, int, Phrase] | None = None
        self._aside: Aside[FoundIn] | None = None
        self._last = NOWHERE

    def look(self, phrase: Phrase, records: Records, labels: Mapping[str, str]) -> FoundIn:
        """What is known so far; `labels` are those of the criteria."""
        about = records, records.changes, phrase
        if self._about != about:
            if self._about is None or self._about[2] is not phrase:
                self._last = NOWHERE
            self.close()
            findings = records.findings()
            self._about = about
            self._aside = Aside(lambda _: holding(phrase, findings, labels))
        assert self._aside is not None
        self._last = self._aside.get(0) or self._last
        return self._last

    def raise_failure(self) -> None:
        """Raise what its task died of."""
        if self._aside is not None:
            self._aside.raise_failure()

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._aside is not None:
            self._aside.close()
        self._about = self._aside = None


def holding(
    phrase: Phrase, findings: Sequence[ResultFinding], labels: Mapping[str, str]
) -> FoundIn:
    """Those whose note, quote or criterion holds a phrase."""
    found = [
        each
        for each in findings
        if any(
            phrase.is_in(text)
            for text in (
                each.note,
                each.quote or "",
                labels.get(each.criterion, ""),
                each.criterion,
            )
        )
    ]
    return FoundIn(len(found), found[0]) if found else NOWHERE
