"""How many secrets judging sessions would replace; counted while it is asked whether to judge."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.errors import CopiedSessionError, LoadCancelledError
from longjudge.replaced import ReplacedSecrets
from longjudge_tui.library.together import Either, Together

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from longjudge.sessions import SessionFile
    from longjudge_tui.library.terms import Terms


def count_together(
    files: Sequence[SessionFile],
    terms: Terms,
    kept: Container[str],
    stopped: Callable[[], bool],
) -> Counter[str] | None:
    """How many of each kind are in the chunks that would be asked; None where stopped.

    Raises:
        SessionError: a session cannot be read.
    """
    together = Together(files)
    counts: Counter[str] = Counter()
    try:
        for file in files:
            try:
                found = _count(file, terms, kept, together, stopped)
            except CopiedSessionError:
                continue
            if found is None:
                return None
            counts += found
    except LoadCancelledError:
        return None
    finally:
        together.close()
    return counts


def _count(
    file: SessionFile,
    terms: Terms,
    kept: Container[str],
    together: Together,
    stopped: Callable[[], bool],
) -> Counter[str] | None:
    session = together.load(file, lambda _done, _total: not stopped()).session
    try:
        if not terms.applies(session):
            return Counter()
        outlook = terms.outlook(session, kept)
        positions = outlook.to_ask(Either(kept, together.answered))
        together.answered.update(outlook.keys)
        return ReplacedSecrets(session).count(outlook.plan, positions, stopped)
    finally:
        session.close()
