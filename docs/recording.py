"""Take the README's recording anew: `python docs/recording.py FILE.gif`.

It opens the long sample, judges it with the offline rules, and presses keys as a person would; the
key stands in the title. It needs `cairosvg` and `pillow`, which longjudge itself does not.
"""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cairosvg
from PIL import Image
from stage import FOLDER, LONG, opened, portable, samples, text, until

from longjudge.judges.offline import OfflineJudge, believable_delay

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from longjudge_tui.app import LongjudgeApp

WIDTH = 960
COLOURS = 48
LEAST_SECONDS = 0.2
FRAMES_PER_SECOND = 4

STEPS = (
    ("C", "the curve: what chunk sizes cost", 2.5),
    ("escape", "back", 0.8),
    ("r", "judge what is not kept yet", 6.0),
    ("full_stop", "the next finding, with its quote", 2.5),
    ("full_stop", "and the next", 2.0),
    ("g", "it is right", 1.2),
    ("z", "among its neighbours", 2.5),
    ("J", "past judgments", 2.5),
    ("escape", "back", 0.8),
    ("B", "the rubric, beside the exact prompt", 3.0),
)
"""Keys, what they are for, and how long to look."""


class Recording:
    """Frames of a screen, each with the seconds it is shown for."""

    def __init__(self, app: LongjudgeApp, pilot: Pilot[None]) -> None:
        self._app, self._pilot = app, pilot
        self._last = ""
        self.frames: list[tuple[str, float]] = []

    async def watch(self, title: str, seconds: float) -> None:
        """Look at the screen for a while."""
        for _ in range(round(seconds * FRAMES_PER_SECOND)):
            await self._pilot.pause(1 / FRAMES_PER_SECOND)
            now = title + text(self._app)
            if now == self._last:
                frame, shown = self.frames[-1]
                self.frames[-1] = frame, shown + 1 / FRAMES_PER_SECOND
            else:
                self._last = now
                picture = self._app.export_screenshot(title=title)
                self.frames.append((picture, 1 / FRAMES_PER_SECOND))


async def record() -> list[tuple[str, float]]:
    """Press the keys, and return what was seen."""
    judge = OfflineJudge(delay=believable_delay)
    async with opened(f"{FOLDER}/{LONG}", judge) as (app, pilot):
        await until(pilot, lambda: app.bench.outlook is not None)
        recording = Recording(app, pilot)
        await recording.watch("longjudge checkout-refactor.jsonl", 2.0)
        for key, purpose, seconds in STEPS:
            await pilot.press(key)
            shown = {"full_stop": ".", "escape": "esc"}.get(key, key)
            await recording.watch(f"[ {shown} ]  {purpose}", seconds)
        return recording.frames


def image(svg: str) -> Image.Image:
    """A frame as pixels."""
    png = cairosvg.svg2png(bytestring=portable(svg).encode(), output_width=WIDTH)
    return Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> None:
    """Record, and write the file."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1]).resolve()
    with samples():
        frames = asyncio.run(record())
    first, *rest = [image(svg) for svg, _ in frames]
    times = [round(1000 * max(LEAST_SECONDS, seconds)) for _, seconds in frames]
    first.save(target, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    sys.stdout.write(f"{target}: {len(frames)} frames, {target.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main()
