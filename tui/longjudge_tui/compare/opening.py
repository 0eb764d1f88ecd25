"""Opens the comparison over a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge_tui.bench.live import banner
from longjudge_tui.compare.screen import CompareScreen

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench


def comparison_screen(
    bench: Bench, one_id: str | None = None, other_id: str | None = None
) -> CompareScreen:
    """Two judgments of the store; where B is not named, what stands in the settings now.

    Where neither is, the newest judgment that was judged by something else stands beside that.
    """
    return CompareScreen(bench, lambda: banner(bench), one_id, other_id)
