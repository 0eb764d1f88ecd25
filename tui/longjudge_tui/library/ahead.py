"""Between the library and what judging many of its sessions would come to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge_tui.bench.live import banner
from longjudge_tui.estimate.judged_sample import SessionEnd
from longjudge_tui.estimate.subject import Subject, which_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.sessions import SessionFile
    from longjudge_tui.estimate.screen import EstimateScreen
    from longjudge_tui.library.judging import Ended
    from longjudge_tui.library.shelf import Shelf


def estimate_screen(shelf: Shelf) -> EstimateScreen | None:
    """The screen about the selected sessions, else all that are shown; None where there is none."""
    # Loaded when it is first opened, so that the app starts sooner.
    from longjudge_tui.estimate.screen import EstimateScreen, Library

    subject = _subject(shelf)
    if not subject.files:
        shelf.notices.append("there is no session to estimate")
        return None

    def judge(files: Sequence[SessionFile]) -> bool:
        free = not shelf.bench.running
        shelf.judge(files)
        return free

    def per_file() -> Counter[Path]:
        return Counter(file.path for file in shelf.listing.files if file.session is not None)

    def notice_on_model() -> str:
        notice = shelf.bench.notice_on_model()
        return notice.text if notice is not None else ""

    library = Library(judge, per_file, lambda: shelf.busy, notice_on_model)
    return EstimateScreen(shelf.estimates, subject, library, lambda: banner(shelf.bench))


def _subject(shelf: Shelf) -> Subject:
    listing = shelf.listing
    of = len(listing.files)
    if listing.selected:
        chosen = shelf.chosen(None)
        return Subject(chosen, which_words(len(chosen), of, selected=True, words=""))
    view = listing.view
    which = which_words(len(view), of, selected=False, words=listing.words)
    if len(view) == of:
        return Subject(listing.files, which, shelf.paths)
    shown = set(view)
    return Subject([file for file in listing.files if file in shown], which)


def end_of(ended: Ended) -> SessionEnd:
    """How a session's judgment ended."""
    last = ended.last
    return SessionEnd(
        last.complete or not last.applies, last.applies, bool(last.findings), ended.paid
    )
