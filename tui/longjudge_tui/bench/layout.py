"""How the panels of the workbench share the screen: what a user may move, and within which bounds.

Nothing here knows a widget. What is not chosen is None, and then the stylesheet decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from longjudge.errors import LongjudgeError

MOST_CELLS = 10_000
Cells = Annotated[int, msgspec.Meta(ge=1, le=MOST_CELLS)]
SETTINGS_CELLS = 18, 40
"""Between which the width of the settings is, where they stand at the side."""
SettingsCells = Annotated[int, msgspec.Meta(ge=SETTINGS_CELLS[0], le=SETTINGS_CELLS[1])]

TIGHT_COLUMNS = 76
"""In fewer columns the settings in one line are closer together, and without every button."""
LEAST_COLUMNS_OF_BUTTONS = 60
SHORT_ROWS = 22
"""In fewer rows both halves may be lower than is comfortable, so that both are there at all."""
VERY_SHORT_ROWS = 15
"""In fewer rows the strip of all chunks makes room for the chunks themselves."""


class LayoutFault(LongjudgeError):
    """What was kept of a layout cannot be used."""


class Breadth(StrEnum):
    """How wide the terminal is; each breadth has a layout of its own."""

    NARROW = "narrow"
    WIDE = "wide"
    VERY_WIDE = "very-wide"

    @classmethod
    def of(cls, columns: int) -> Breadth:
        """The breadth of a terminal."""
        return [each for each in cls if LEAST_COLUMNS[each] <= columns][-1]


LEAST_COLUMNS = {Breadth.NARROW: 0, Breadth.WIDE: 115, Breadth.VERY_WIDE: 150}
"""From how many columns on a terminal is so wide."""


class Panel(StrEnum):
    """What can fill the screen: chunks, events, the list below, the text of an event."""

    CHUNKS = "chunks"
    EVENTS = "events"
    BELOW = "below"
    TEXT = "text"


class Tab(StrEnum):
    """What stands in the list below; the value is its name."""

    FINDINGS = "findings"
    GAPS = "gaps"
    HOLDS = "holds"
    LOG = "log"


class Split(StrEnum):
    """A border that can be moved, by what is at its left or above it."""

    CHUNKS = "chunks"
    TOP = "top"
    BELOW = "below"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Share:
    """How two neighbours share their room; kept as it was in cells, so that it is exact there."""

    first: Cells
    second: Cells


LEAST: dict[Split, tuple[int, int]] = {
    Split.CHUNKS: (30, 22),
    Split.TOP: (5, 5),
    Split.BELOW: (22, 30),
}
"""How many cells each of two neighbours needs at least to be of use."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What was chosen at one breadth. `folded` settings stand in one line."""

    chunks: Share | None = None
    top: Share | None = None
    below: Share | None = None
    settings: SettingsCells | None = None
    maximised: Panel | None = None
    folded: bool = False

    def share(self, split: Split) -> Share | None:
        """The share of a border that two panels share."""
        match split:
            case Split.CHUNKS:
                return self.chunks
            case Split.TOP:
                return self.top
            case Split.BELOW:
                return self.below
            case Split.SETTINGS:
                return None

    @property
    def shown(self) -> Layout:
        """What of it shows: nothing is shared while one panel fills the screen."""
        if self.maximised is not None:
            return Layout(maximised=self.maximised, folded=True)
        return replace(self, settings=None) if self.folded else self

    def with_share(self, split: Split, share: Share | None) -> Layout:
        """The same with another share of one border; None puts the border back."""
        match split:
            case Split.CHUNKS:
                return replace(self, chunks=share)
            case Split.TOP:
                return replace(self, top=share)
            case Split.BELOW:
                return replace(self, below=share)
            case Split.SETTINGS:
                return replace(self, settings=share.second if share else None)


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layouts of all breadths, and which tab is open."""

    narrow: Layout = Layout()
    wide: Layout = Layout()
    very_wide: Layout = Layout()
    tab: Tab = Tab.FINDINGS
    version: Literal[1] = 1

    def of(self, breadth: Breadth) -> Layout:
        """The layout of a breadth."""
        match breadth:
            case Breadth.NARROW:
                return self.narrow
            case Breadth.WIDE:
                return self.wide
            case Breadth.VERY_WIDE:
                return self.very_wide

    def having(self, breadth: Breadth, layout: Layout) -> Layouts:
        """The same with another layout of one breadth."""
        match breadth:
            case Breadth.NARROW:
                return replace(self, narrow=layout)
            case Breadth.WIDE:
                return replace(self, wide=layout)
            case Breadth.VERY_WIDE:
                return replace(self, very_wide=layout)


def share_of(split: Split, total: int, first: int) -> Share | None:
    """The share that gives the first neighbour so many of all cells, as far as may be.

    None where there is no room to share.
    """
    if split is Split.SETTINGS:
        held = _settings_cells(total, total - first)
        return Share(total - held, held) if held < total else None
    least, least_of_other = LEAST[split]
    if total < least + least_of_other:
        return None
    held = max(least, min(first, total - least_of_other))
    return Share(held, total - held)


def _settings_cells(total: int, wanted: int) -> int:
    """How wide the settings are: neither of use to nobody, nor at the cost of their neighbours."""
    least, most = SETTINGS_CELLS
    others = sum(LEAST[Split.CHUNKS]) + 2
    return max(least, min(wanted, most, total - others))


def read_layouts(text: bytes) -> Layouts:
    """What was kept.

    Raises:
        LayoutFault: it is something else.
    """
    try:
        return msgspec.json.decode(text, type=Layouts)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LayoutFault(f"no layout of longjudge ({error})") from error


def write_layouts(layouts: Layouts) -> bytes:
    """The text that is kept."""
    return msgspec.json.format(msgspec.json.encode(layouts)) + b"\n"
