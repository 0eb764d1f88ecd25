"""What is known about the finding whose text is shown, whole where it can be: a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from longjudge_tui.widgets.wrapping import wrap
from longjudge_tui.wording import fit

MOST_LINES = 8
"""So many hold the longest note at 120 columns."""

MORE = " (v: all)"
"""What leads to the whole of a note that is cut."""

_SEPARATORS = "/-_. "


@dataclass(frozen=True, slots=True)
class Facts:
    """Safe text: what is known, the judge's note, and where something was saved last."""

    known: str = ""
    note: str = ""
    saved: str = ""


class DetailFacts(Widget):
    """As many lines as that needs and the panel can spare; none where there is nothing to say."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"facts--known", "facts--saved"}

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts = Facts()
        self._room = self._width = 0
        self.display = False

    @property
    def text(self) -> str:
        """All that there is to say."""
        facts = self._facts
        return " · ".join(each for each in (facts.known, facts.note, facts.saved) if each)

    def show(self, facts: Facts) -> None:
        """Say something else."""
        if facts != self._facts:
            self._facts = facts
            self.fit_into(self._room, self._width)
            self.refresh()

    def fit_into(self, rows: int, width: int) -> None:
        """Take what is needed of the rows that there are for this and for the text."""
        # The width is that of the panel: its own is known only once it has been laid out.
        self._room, self._width = rows, width
        lines = len(self._lines()) if rows > 0 and width > 0 and self.text else 0
        # Set only where it is another one: a height lays the whole screen out again.
        if self.display != bool(lines):
            self.display = bool(lines)
        if lines and (self.styles.height is None or self.styles.height.value != lines):
            self.styles.height = lines

    def render(self) -> Content:
        """The lines."""
        return Content("\n").join(self._lines())

    def _lines(self) -> list[Content]:
        most = min(MOST_LINES, max(2, self._room * 2 // 3))
        look = self.get_visual_style("facts--saved")
        saved = wrap_path(self._facts.saved, self._width)[-most:] if self._facts.saved else []
        lines = [Content.styled(each, look) for each in saved]
        if len(saved) < most and (self._facts.known or self._facts.note):
            lines[:0] = self._known(most - len(saved))
        return lines

    def _known(self, most: int) -> list[Content]:
        """What is known and the note, the note on lines of its own where there are enough."""
        known, note, width = self._facts.known, self._facts.note, self._width
        look = self.get_visual_style("facts--known")
        first = [known[low:high].rstrip() for low, high in wrap(known, 0, len(known), width)]
        below = [note[low:high].rstrip() for low, high in wrap(note, 0, len(note), width)]
        if len(first) + len(below) <= most:
            return [*(Content.styled(each, look) for each in first), *map(Content, below)]
        text = f"{known} · {note}" if known and note else known or note
        places = wrap(text, 0, len(text), width)
        lines: list[Content] = []
        for low, high in places[:most]:
            shown = text[low:high].rstrip()
            if len(lines) == most - 1 and len(places) > most:
                shown = fit(f"{text[low:]} ", width - cell_len(MORE)).rstrip() + MORE
            bold = min(len(shown), max(0, len(known) - low))
            lines.append(Content.assemble((shown[:bold], look), shown[bold:]))
        return lines


def wrap_path(words: str, width: int) -> list[str]:
    """Lines of a path with words before it, broken in the middle of a word only where one is wider.

    A folder ends a line rather than a part of a name does.
    """
    lines: list[str] = []
    while cell_len(words) > width:
        stop = 1
        while stop < len(words) and cell_len(words[: stop + 1]) <= width:
            stop += 1
        here = words[:stop]
        ends = max(here.rfind("/"), here.rfind(" ")) + 1
        if ends <= stop // 2:
            ends = max(here.rfind(each) for each in _SEPARATORS) + 1
        cut = ends or stop
        lines.append(words[:cut])
        words = words[cut:]
    return [*lines, words]
