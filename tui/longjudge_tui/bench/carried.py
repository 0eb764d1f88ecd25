"""What a judgment of one session set, that would go by unseen in the sessions opened after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.commands import command
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from longjudge.sessions import Session
    from longjudge_tui.bench.tuning import Tuning

Ways = dict[str, str]
"""What a session is judged by, in words, by the command that changes it."""


@dataclass(frozen=True, slots=True)
class _Set:
    """What was set, in words, and by a judgment of which session."""

    words: str
    path: Path | None
    id: str
    name: str


class Carried:
    """What was set by bringing a judgment back, and by that of which session."""

    def __init__(self) -> None:
        self._set: dict[str, _Set] = {}

    def note(self, session: Session | None, before: Mapping[str, str], tuning: Tuning) -> None:
        """A judgment of a session was brought back: what stood `before` is another thing now."""
        if session is None:
            return
        for key, words in ways_of(tuning).items():
            if before.get(key) != words:
                self._set[key] = _Set(words, session.path, session.id, _name_of(session))

    def words(self, session: Session | None, tuning: Tuning) -> tuple[str, ...]:
        """What still stands of it though another session is open, longest first; else nothing."""
        if not self._set or session is None:
            return ()
        ways, here = ways_of(tuning), (session.path, session.id)
        found = {
            key: each
            for key, each in self._set.items()
            if each.words == ways[key] and (each.path, each.id) != here
        }
        if not found:
            return ()
        what = ", ".join(each.words for each in found.values())
        of = " and ".join(dict.fromkeys(each.name for each in found.values()))
        keys = " and ".join(command(key).shown for key in found)
        changes = f"{keys} {'change' if len(found) > 1 else 'changes'} it"
        whence = f"as recalled for {of}"
        return f"{what}, {whence}: {changes}", f"{what}: {changes}", whence


def _name_of(session: Session) -> str:
    return line(session.path.name, 40) if session.path is not None else line(session.id, 40)


def ways_of(tuning: Tuning) -> Ways:
    """What a session would be judged by now."""
    rubric, model = tuning.rubric, tuning.judge.model
    by = "by the offline rules" if model == OFFLINE_MODEL else f"by {line(model, 40)}"
    return {
        "edit_size": f"cut at {tuning.size:,} {tuning.unit}",
        "choose_model": by,
        "choose_rubric": f"by rubric {line(rubric.name, 40)} {rubric.version}",
    }
