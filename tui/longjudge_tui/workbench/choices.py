"""The dialog that offers what can be chosen, and takes a typed name as well."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from longjudge.errors import LongjudgeError
from longjudge.prices import OFFLINE_MODEL, price_of, priced_models
from longjudge.settings import DEFAULT_MODEL
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge.config import Configuration
    from longjudge.rubric import KnownRubrics, Rubric

MOST_ROWS = 12
OTHER_LINES = 11
"""What a dialog has beside its list and what was refused: frame, title, field, banner."""

REFUSED_CELLS, REFUSED_LINES = 60, 6
NAME_CELLS = 36
_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]{0,1000}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: the name that is given on, and what there is to say about it."""

    name: str
    detail: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A dialog's words; `typed` says what may be typed."""

    title: str
    typed: str
    banner: str
    faults: tuple[str, ...] = ()


class ChoiceList(LineList):
    """One row per choice."""

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, choices: Sequence[Choice], *, id: str) -> None:
        super().__init__(id=id)
        self._choices = choices
        widest = max((cell_len(line(each.name, NAME_CELLS)) for each in choices), default=0)
        self._name_cells = min(NAME_CELLS, widest)

    def on_mount(self) -> None:
        """Begin at what stands."""
        current = (place for place, each in enumerate(self._choices) if each.current)
        self.reset_rows(len(self._choices), next(current, 0))

    def row_facts(self, row: int) -> Hashable:
        """The choice."""
        return self._choices[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """Whether it stands, its name, and what it is."""
        each = self._choices[row]
        return [
            ("● " if each.current else "  ", "active"),
            (fit(line(each.name, NAME_CELLS), self._name_cells), "strong"),
            (f"  {line(each.detail)}", "dim"),
        ]


class ChoiceDialog(ModalScreen[bool]):
    """Gives the chosen name to `accept`; what that refuses is said here, and nothing changes."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "close", "Close")]
    AUTO_FOCUS = "#choices"

    def __init__(
        self, offer: Offer, choices: Sequence[Choice], accept: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__()
        self._offer = offer
        self._choices = choices
        self._accept = accept
        self._said = "\n".join(line(fault, 500) for fault in offer.faults)

    def compose(self) -> ComposeResult:
        """The choices, the field, what was refused."""
        with Vertical(classes="dialog wide"):
            yield Static(Content(self._offer.title), classes="title")
            yield ChoiceList(self._choices, id="choices")
            yield Static(Content(f"or type {self._offer.typed}:"), id="typed-label")
            yield Field(id="typed", compact=True, restrict=_PRINTABLE, select_on_focus=False)
            yield Static(Content(self._said), id="refused")
            closing = "enter chooses · esc closes"
            yield Static(Content(f"{self._offer.banner} · {closing}"), classes="banner")

    def on_mount(self) -> None:
        """Make the list as high as there is room."""
        self._fit()

    def on_resize(self) -> None:
        """Make the list as high as there is room now."""
        self._fit()

    def _fit(self) -> None:
        """Who judges, and what was refused, have their place before the rows of the list."""
        said = -(-len(self._said) // REFUSED_CELLS)
        room = self.size.height * 9 // 10 - OTHER_LINES - max(1, min(said, REFUSED_LINES))
        rows = min(MOST_ROWS, len(self._choices), room)
        self.query_one("#choices").styles.height = max(1, rows)

    def on_key(self, event: events.Key) -> None:
        """What is typed over the list is a name."""
        field = self.query_one("#typed", Field)
        if event.is_printable and event.character and not field.has_focus:
            event.stop()
            field.insert_text_at_cursor(event.character)
            self.set_focus(field)

    async def on_line_list_opened(self, event: LineList.Opened) -> None:
        """A choice was made; a name that was typed meanwhile is meant before it."""
        event.stop()
        typed = self.query_one("#typed", Field).value.strip()
        await self._choose(_in_home(typed) if typed else self._choices[event.row].name)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """A name was typed."""
        event.stop()
        typed = event.value.strip()
        if typed:
            await self._choose(_in_home(typed))

    async def _choose(self, name: str) -> None:
        try:
            await self._accept(name)
        except LongjudgeError as error:
            self._said = f"✗ {line(str(error), 1000)}"
            self.query_one("#refused", Static).update(Content(self._said))
            self._fit()
        else:
            self.dismiss(True)

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(False)


def _in_home(typed: str) -> str:
    """A path that begins with `~`, in the home folder it means."""
    return os.path.expanduser(typed)


def model_choices(config: Configuration, standing: str) -> list[Choice]:
    """What can be asked, its price for a million tokens in and out first: it is never cut.

    The offline rules, the default model, the environment's, the configuration's profiles, and
    the models whose price is known, cheapest first. `standing` is the name that was chosen last.
    """
    named: dict[str, list[str]] = {
        OFFLINE_MODEL: ["no cost", "rules on this computer: no key, no network"],
        DEFAULT_MODEL: ["the default model"],
    }
    if from_environment := os.environ.get("JUDGE_MODEL"):
        named.setdefault(from_environment, []).append("JUDGE_MODEL")
    if config.model:
        named.setdefault(config.model, []).append("the configuration's model")
    for name, profile in config.profiles.items():
        where = f" at {profile.base_url}" if profile.base_url else ""
        named[name] = [f"profile: {profile.model}{where}"]
    for each in priced_models():
        named.setdefault(each.name, [])
    if standing not in named:
        named[standing] = ["chosen before"]
    return [
        Choice(name, " · ".join([*_price_words(name, config), *words]), name == standing)
        for name, words in named.items()
    ]


def _price_words(name: str, config: Configuration) -> list[str]:
    if name == OFFLINE_MODEL:
        return []
    profile = config.profiles.get(name)
    if profile is not None and profile.price is not None:
        low, high = profile.price.input, profile.price.output
    else:
        price = price_of(profile.model if profile is not None else name)
        if price is None:
            return ["price unknown"]
        low, high = price.input, price.output
    return [f"${low:g} in, ${high:g} out"]


def rubric_choices(known: KnownRubrics, standing: Rubric, name: str = "") -> list[Choice]:
    """The built-in rubrics, those of the configuration's folders, and the one that stands.

    `name` is what the standing one was chosen by.
    """
    choices: list[Choice] = []
    for each in known.rubrics:
        rubric = each.rubric
        criteria = ", ".join(rubric.criterion_ids)
        # What is named by its path says its own name beside it.
        known_as = each.origin if each.path is None else rubric.name
        detail = f"{rubric.version} · {known_as} · {criteria}"
        # A file is named by its path: that stays true where two have the same name.
        called = rubric.name if each.path is None else os.fspath(each.path)
        choices.append(Choice(called, detail, rubric == standing))
    if not any(each.current for each in choices):
        criteria = ", ".join(standing.criterion_ids)
        detail = f"{standing.version} · chosen before · {criteria}"
        choices.append(Choice(name or standing.name, detail, True))
    return choices
