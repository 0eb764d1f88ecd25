"""Take the pictures of the README anew: `python docs/pictures.py FOLDER` writes SVG files.

It judges the bundled samples with the offline rules, in a store that is thrown away. A PNG is made
by any converter, for example `cairosvg workbench.svg -o workbench.png --output-width 1500`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stage import FOLDER, LONG, HeldJudge, opened, portable, samples, until

from longjudge.judges.offline import OfflineJudge, believable_delay
from longjudge_tui.workbench.findings_list import FindingsList

if TYPE_CHECKING:
    from longjudge_tui.app import LongjudgeApp

FINDINGS = 7


async def take_library() -> str:
    """One session is judged, the next one is on its way, the others wait."""
    async with opened(FOLDER, HeldJudge(16 + 4)) as (app, pilot):
        shelf = app.shelf
        await until(pilot, lambda: len(shelf.counting.facts) == len(shelf.listing.files))
        await pilot.press("A", "r")
        await until(pilot, lambda: any("judging 4/" in row for row in rows(app)))
        await pilot.pause()
        return app.export_screenshot()


async def take_workbench() -> str:
    """A run has ended, and one finding is opened."""
    judge = OfflineJudge(delay=believable_delay)
    async with opened(f"{FOLDER}/{LONG}", judge) as (app, pilot):
        bench = app.bench
        await until(pilot, lambda: bench.outlook is not None)
        await pilot.press("r")
        await until(pilot, lambda: bench.run is not None and bench.run.result is not None)
        findings = app.screen.query_one("#findings", FindingsList)
        await until(pilot, lambda: len(findings.all_findings) == FINDINGS)
        await pilot.press("comma", "comma")
        await until(pilot, lambda: "force-pushed" in str(findings.here))
        await pilot.pause()
        return app.export_screenshot()


def rows(app: LongjudgeApp) -> list[str]:
    """The rows of the library."""
    sessions = app.screen.query_one("#sessions")
    return [sessions.render_line(y).text for y in range(sessions.row_count)]


PICTURES = (("library", take_library), ("workbench", take_workbench))


def main() -> None:
    """Take all pictures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1]).resolve()
    with samples():
        for name, take in PICTURES:
            picture = target / f"{name}.svg"
            picture.write_text(portable(asyncio.run(take())), encoding="utf-8")
            Path("store.sqlite").unlink()
            sys.stdout.write(f"{picture}\n")


if __name__ == "__main__":
    main()
