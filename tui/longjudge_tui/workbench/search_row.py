"""The row in which a search is typed, and what it has found so far beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.message import Message

from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import ActionLine, Choice, Word
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from longjudge_tui.bench.finding_search import FoundIn
    from longjudge_tui.bench.searching import Searching

MOST_CHARS = 1_000
"""More is pasted by mistake."""

# Enter is the second where it was typed before the app had the terminal.
_LEAVING = ("enter", "ctrl+j", "down", "escape")

HINTS = ("re:pattern · tool:Bash · kind:error · is:error", "re: tool: kind: is:error")


class SearchField(Field):
    """What to search for; enter goes to the hits, escape back to where one was."""

    class Left(Message):
        """The field was left by a key; `to_hit` where that leads to what was found."""

        def __init__(self, typed: str, *, to_hit: bool) -> None:
            super().__init__()
            self.typed = typed
            self.to_hit = to_hit

    def __init__(self) -> None:
        super().__init__(id="search", compact=True, placeholder="phrase, or", max_length=MOST_CHARS)
        self._left = False

    def on_focus(self) -> None:
        """Every key is the field's own again."""
        self._left = False

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it.

        These are no bindings: those go to whatever has the keys by then. A key that comes behind
        them is for the screen, though the field has the keys until the screen takes them away.
        """
        if self._left:
            event.prevent_default()
        elif event.key in _LEAVING:
            self._left = True
            event.stop()
            event.prevent_default()
            # Handed to the screen itself, so that no key that was typed behind it comes before it.
            self.screen.post_message(self.Left(self.value, to_hit=event.key != "escape"))


class SearchRow(Horizontal):
    """The field, and the hits with what leads from one to the next."""

    def __init__(self) -> None:
        super().__init__(id="search-row")
        self.field = SearchField()
        self._hits = ActionLine(id="search-hits")

    def compose(self) -> ComposeResult:
        """What it is, the field, the hits."""
        label = FittedLine(id="search-label")
        label.show("/ search")
        yield label
        yield self.field
        yield self._hits

    def show_hits(self, searching: Searching, wrapped: str) -> None:
        """Say what is found so far."""
        if not searching.typed:
            self._hits.show_choices(*map(Choice, HINTS))
            return
        names = ("next_hit", "previous_hit", "end_search")
        words = tuple(Word(name, f"{command(name).button} {command(name).shown}") for name in names)
        found = hit_words(searching)
        more = [each for each in (wrapped, *left_out_words(searching)) if each]
        whole = " · ".join([*found, *more])
        self._hits.show_choices(
            Choice(whole, words),
            Choice(whole, words[:2]),
            Choice(" · ".join(found), words[:2]),
            Choice(" · ".join([*found[:1], *more[:1]])),
            Choice(found[0] if found else ""),
        )


def hit_words(searching: Searching) -> list[str]:
    """How many hits there are, which of them is shown, and how much is still to be searched."""
    if not searching.typed:
        return []
    if searching.session is None:
        return ["" if searching.fault else "begins once the session is read"]
    count, place = len(searching.hits), searching.place
    if place is not None:
        words = [f"hit {place + 1:,} of {count:,}"]
    elif count:
        words = [plural(count, "hit")]
    else:
        words = ["no hit yet" if searching.running else "no hit"]
        words = ["no hit as one phrase"] if searching.in_any_order else words
    if searching.running:
        words.append(f"{searching.share:.0%} searched")
        if searching.reads_all:
            words.append("slower: reads every event")
    return words


def phrase_words(searching: Searching) -> list[str]:
    """What finds the words of a phrase that nothing holds, to be typed as it stands there."""
    instead = searching.in_any_order
    if not instead:
        return []
    return [
        f"several words are one phrase · in any order on a line: {instead}",
        f"in any order: {instead}",
        instead,
    ]


def finding_words(found: FoundIn, *, typing: bool) -> list[str]:
    """That findings hold what no event does, and the key that leads there while it is `typing`."""
    if found.first is None:
        return []
    does = "1 finding does, in" if found.count == 1 else f"{found.count:,} findings do, first in"
    says = f"no event says it; {does} part {found.first.part}"
    key, on = "enter" if typing else command("next_hit").shown, command("next_finding").shown
    return [
        f"{says}: {key} goes there, {on} then from finding to finding",
        f"{says}: {key} goes there",
        says,
    ]


def below_words(searching: Searching, found: FoundIn, *, typing: bool) -> list[str]:
    """What helps where no event holds it, the longest first."""
    instead, in_findings = phrase_words(searching), finding_words(found, typing=typing)
    both = [f"{in_findings[1]} · {instead[1]}"] if instead and in_findings else []
    return [*both, *(in_findings or instead)]


def left_out_words(searching: Searching) -> list[str]:
    """What was not searched, of what was to be."""
    unread, slow = searching.left_out
    return [
        *([f"{plural(unread, 'event')} cannot be read"] if unread else []),
        *([f"{plural(slow, 'event')} too long for the pattern"] if slow else []),
    ]
