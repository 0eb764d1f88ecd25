"""A line of text with words in it that a click does something with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content

from longjudge_tui.widgets.lines import CommandPressed, FittedLine
from longjudge_tui.wording import fit

if TYPE_CHECKING:
    from textual import events


@dataclass(frozen=True, slots=True)
class Word:
    """A word for a command, drawn as `[word]`."""

    command: str
    word: str

    @property
    def drawn(self) -> str:
        """The word between brackets."""
        return f"[{self.word}]"


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to say the line: text at the left, words at the right."""

    text: str
    words: tuple[Word, ...] = ()

    @property
    def cells(self) -> int:
        """How wide it is."""
        words = sum(cell_len(word.drawn) + 1 for word in self.words)
        return cell_len(self.text) + words - (0 if self.text else 1)


class ActionLine(FittedLine):
    """The first choice that fits; a click on a word sends its command."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"actionline--word"}

    def __init__(self, *, id: str, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._choices: tuple[Choice, ...] = (Choice(""),)

    @property
    def text(self) -> str:
        """The text of the first choice."""
        return self._choices[0].text

    @property
    def words(self) -> tuple[Word, ...]:
        """The words that are drawn."""
        return self._fitting().words

    def show_choices(self, *choices: Choice) -> None:
        """Show other text and words; nothing is painted where they are the same."""
        if choices != self._choices:
            self._choices = choices or (Choice(""),)
            self.refresh()

    def render(self) -> Content:
        """The line as it fits."""
        width = self.content_size.width
        choice = self._fitting()
        style = self.get_visual_style("actionline--word")
        room = width - sum(cell_len(word.drawn) + 1 for word in choice.words)
        parts = [Content(fit(choice.text, room + (0 if choice.text or not choice.words else 1)))]
        for number, word in enumerate(choice.words):
            space = " " if number or choice.text else ""
            parts += [Content(space), Content.styled(word.drawn, style)]
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Send the command of the word under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        words = self._fitting().words
        x = self.content_size.width
        for word in reversed(words):
            start = x - cell_len(word.drawn)
            if start <= offset.x < x:
                self.post_message(CommandPressed(word.command))
                return
            x = start - 1

    def _fitting(self) -> Choice:
        width = self.content_size.width
        return next((each for each in self._choices if each.cells <= width), self._choices[-1])
