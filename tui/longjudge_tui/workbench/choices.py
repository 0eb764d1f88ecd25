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
from longjudge.judges.make import notice_about
from longjudge.prices import OFFLINE_MODEL, price_of, priced_models
from longjudge.settings import DEFAULT_MODEL
from longjudge.tokens import model_factor
from longjudge_tui.commands import Scope, binding_of, bindings, command
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fit, line, price_range, seen_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge.config import Configuration
    from longjudge.factors import ObservedFactor
    from longjudge.rubric import KnownRubrics, Rubric
    from longjudge_tui.bench.costs import ModelCosts

MOST_ROWS = 20
OTHER_LINES = 11
"""What a dialog has beside its list and what was refused: frame, title, field, banner."""

REFUSED_CELLS, REFUSED_LINES = 60, 6
NAME_CELLS = 36
LOOKS_PER_SECOND = 10
_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]{0,1000}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: the name that is given on, and what there is to say about it."""

    name: str
    details: tuple[str, ...]
    current: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A dialog's words; `typed` says what may be typed."""

    title: str
    typed: str
    banner: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """Words beside each name, which may come in later, under a title.

    `of` gives those of a name, and what there is to say among its details. `details` is the title
    of these.
    """

    title: str
    details: str
    of: Callable[[str], tuple[str, str]]


class ChoiceList(LineList):
    """One row per choice."""

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, choices: Sequence[Choice], column: Column | None = None, *, id: str) -> None:
        super().__init__(id=id)
        self._choices = choices
        self._column = column
        self._said: list[tuple[str, str]] = []
        widest = max((cell_len(line(each.name, NAME_CELLS)) for each in choices), default=0)
        self._name_cells = min(NAME_CELLS, widest)

    def on_mount(self) -> None:
        """Begin at what stands."""
        current = (place for place, each in enumerate(self._choices) if each.current)
        self.reset_rows(len(self._choices), next(current, 0))
        self.refresh_changed()

    def refresh_changed(self) -> None:
        """Draw the rows again that say something else by now."""
        said = [self._beside(row) for row in range(len(self._choices))]
        changed = [row for row, words in enumerate(said) if self._said[row : row + 1] != [words]]
        self._said = said
        self.refresh_rows(changed)

    @property
    def titles(self) -> str:
        """What the columns are called; empty without a column beside the names."""
        if self._column is None:
            return ""
        name = fit("name", self._name_cells)
        return f"   {name}  {self._column.title}  {self._column.details}"

    def row_facts(self, row: int) -> Hashable:
        """The choice, and what is said beside it."""
        return self._choices[row], self._beside(row)

    def row_cells(self, row: int, width: int) -> Cells:
        """Whether it stands, its name, what is said beside it, and what it is."""
        each, (beside, more) = self._choices[row], self._beside(row)
        first, *rest = each.details
        details = " · ".join([first, *([more] if more else []), *rest])
        cells: Cells = [
            ("● " if each.current else "  ", "active"),
            (fit(line(each.name, NAME_CELLS), self._name_cells), "strong"),
        ]
        if self._column is not None:
            cells.append((f"  {beside:>{cell_len(self._column.title)}}", "active"))
        return [*cells, (f"  {line(details)}", "dim")]

    def _beside(self, row: int) -> tuple[str, str]:
        return ("", "") if self._column is None else self._column.of(self._choices[row].name)


class ChoiceDialog(ModalScreen[bool]):
    """Gives the chosen name to `accept`; what that refuses is said here, and nothing changes."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.CHOICE), binding_of("help")]
    AUTO_FOCUS = "#choices"

    def __init__(
        self,
        offer: Offer,
        choices: Sequence[Choice],
        accept: Callable[[str], Awaitable[None]],
        column: Column | None = None,
    ) -> None:
        super().__init__()
        self._column = column
        self._offer = offer
        self._choices = choices
        self._accept = accept
        self._said = "\n".join(line(fault, 500) for fault in offer.faults)

    def compose(self) -> ComposeResult:
        """The choices, the field, what was refused."""
        with Vertical(classes="dialog wide"):
            yield Static(Content(self._offer.title), classes="title")
            choices = ChoiceList(self._choices, self._column, id="choices")
            if choices.titles:
                yield Static(Content(choices.titles), id="choice-titles")
            yield choices
            yield Static(Content(f"or type {self._offer.typed}:"), id="typed-label")
            yield Field(id="typed", compact=True, restrict=_PRINTABLE, select_on_focus=False)
            yield Static(Content(self._said), id="refused")
            closing = "enter chooses · esc closes"
            yield Static(Content(f"{self._offer.banner} · {closing}"), classes="banner")

    def on_mount(self) -> None:
        """Make the list as high as there is room, and show what comes in."""
        self._fit()
        if self._column is not None:
            choices = self.query_one("#choices", ChoiceList)
            self.set_interval(1 / LOOKS_PER_SECOND, choices.refresh_changed)

    def on_resize(self) -> None:
        """Make the list as high as there is room now."""
        self._fit()

    def _fit(self) -> None:
        """Who judges, and what was refused, have their place before the rows of the list."""
        said = sum(-(-cell_len(each) // REFUSED_CELLS) for each in self._said.split("\n"))
        titles = 0 if self._column is None else 1
        room = self.size.height * 9 // 10 - OTHER_LINES - max(1, min(said, REFUSED_LINES)) - titles
        rows = min(MOST_ROWS, len(self._choices), room)
        self.query_one("#choices").styles.height = max(1, rows)

    def on_key(self, event: events.Key) -> None:
        """What is typed over the list is a name."""
        field = self.query_one("#typed", Field)
        help = event.key in command("help").keys
        if event.is_printable and event.character and not (field.has_focus or help):
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

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._offer.banner, Scope.CHOICE)

    def action_close_choice(self) -> None:
        """Change nothing."""
        self.dismiss(False)


def _in_home(typed: str) -> str:
    """A path that begins with `~`, in the home folder it means."""
    return os.path.expanduser(typed)


def model_choices(config: Configuration, standing: str) -> list[Choice]:
    """What can be asked, its price for a million tokens in and out first: it is never cut.

    The offline rules, what somebody named without a price, and then the cheapest first: the
    default model, the environment's, the configuration's and its profiles, and the models whose
    price is known. `standing` is the name that was chosen last.
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
    prices = {name: _price(name, config) for name in named}
    return [
        Choice(name, _details(name, prices[name], named[name], config), name == standing)
        for name in sorted(named, key=lambda name: _dearness(name, prices[name], config))
    ]


def _details(
    name: str, price: tuple[float, float] | None, known: Sequence[str], config: Configuration
) -> tuple[str, ...]:
    """The price, what is wrong with the name where something is, and what it is."""
    notice = notice_about(name, config)
    wrong = [f"! {notice.short}"] if notice is not None else []
    return (*_price_words(name, price), *wrong, *known)


def _price(name: str, config: Configuration) -> tuple[float, float] | None:
    """For a million tokens in and out; None where it is unknown."""
    profile = config.profiles.get(name)
    if profile is not None and profile.price is not None:
        return profile.price.input, profile.price.output
    price = price_of(profile.model if profile is not None else name)
    return None if price is None else (price.input, price.output)


def _dearness(
    name: str, price: tuple[float, float] | None, config: Configuration
) -> tuple[float, float]:
    """What models are sorted by; where the price is unknown, behind what costs nothing.

    The same text is more tokens for one model than for another.
    """
    if name == OFFLINE_MODEL:
        return -2.0, 0.0
    if price is None:
        return -1.0, 0.0
    profile = config.profiles.get(name)
    return price[0] * model_factor(profile.model if profile is not None else name), price[1]


def _price_words(name: str, price: tuple[float, float] | None) -> list[str]:
    if name == OFFLINE_MODEL:
        return []
    # What is unknown is said of the whole session.
    return [f"${price[0]:g} in, ${price[1]:g} out"] if price else []


def cost_column(
    costs: ModelCosts, observed: Callable[[str], ObservedFactor | None], *, applies: bool
) -> Column:
    """What judging the session by each model would cost, as far as that is known by now.

    `observed` gives how the tokens of one turned out before.
    """

    def of(name: str) -> tuple[str, str]:
        cost, known = cost_of(name)
        seen = observed(name)
        said = [seen_words(seen)] if seen is not None else []
        return cost, " · ".join([*said, *([known] if known else [])])

    def cost_of(name: str) -> tuple[str, str]:
        if name not in costs.totals:
            return "…", ""
        totals = costs.totals[name]
        if totals is None:
            return "–", "cannot judge by this rubric"
        if not applies:
            return "nothing", ""
        if totals.chunks and not totals.to_ask:
            return "all kept", ""
        kept = f"{totals.kept}/{totals.chunks} kept" if totals.kept else ""
        if totals.cost_usd is None:
            return "price unknown", kept
        return price_range(totals.cost_usd, totals.cost_usd, totals.cost_usd)[0], kept

    return Column(" this session", "a million tokens in, out", of)


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
        details = rubric.version, known_as, criteria
        # A file is named by its path: that stays true where two have the same name.
        called = rubric.name if each.path is None else os.fspath(each.path)
        choices.append(Choice(called, details, rubric == standing))
    if not any(each.current for each in choices):
        criteria = ", ".join(standing.criterion_ids)
        details = standing.version, "chosen before", criteria
        choices.append(Choice(name or standing.name, details, True))
    return choices
