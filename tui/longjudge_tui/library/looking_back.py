"""What a session was judged by before, where that is not what would judge it now, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.history import BROKEN_OFF
from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.bench.going_on import Hint
from longjudge_tui.commands import command
from longjudge_tui.wording import line, moment, plural

if TYPE_CHECKING:
    from longjudge_tui.library.last import By, Last


def judged_otherwise(last: Last, now: By) -> Hint | None:
    """How the newest judgment ended, what it went by, and which keys lead there.

    None where it went by what stands.
    """
    by = last.by
    if by is None or by == now or not last.applies:
        return None
    what, keys = _differences(by, now)
    past, shows, run = (command(each).shown for each in ("show_past", "open", "run"))
    size = by.size if not by.same_size(now) else 0
    brief = f"{past} {shows} {run}: goes on {_at(size) if size else 'with the last run'}"
    if last.status == BROKEN_OFF:
        keys_on = f"{past}, then {shows}, shows it, then {run} goes on"
        words = f"a run {' '.join(what)} was ended by force: what it judged is kept · {keys_on}"
        return Hint(words, (f"ended by force · {brief}", brief))
    came_of_it = f"{last.judged:,} of {plural(last.chunks, 'part')}, {_ending(last)}"
    chosen = f"{' and '.join(keys)} {'show' if len(keys) > 1 else 'shows'} it" if keys else ""
    leads = [chosen] if chosen else []
    if last.left:
        # First: where the line is cut, what to do is not what is lost.
        leads.insert(0, f"{past}, then {shows}, then {run}, goes on")
    elif not keys:
        leads.append(f"{past}, then {shows}, shows it")
    words = " · ".join([f"last judged {' '.join(what)}: {came_of_it}", *leads])
    if last.left:
        return Hint(words, (f"last: {came_of_it} · {brief}", brief))
    brief = chosen or f"{past} {shows}: shows it"
    what_else = f"last judged {' '.join(what)} · {brief}"
    return Hint(words, (what_else, f"last: {came_of_it} · {brief}", brief))


def cut_off(last: Last, now: By) -> str:
    """How the newest judgment was cut off, where what stands is what it went by; else nothing."""
    if not last.left or last.by != now or last.forced:
        return ""
    if last.status == BROKEN_OFF:
        return f"last run, {moment(last.created)}: ended by force, its verdicts are kept"
    judged = f"{last.judged:,} of {plural(last.chunks, 'part')} judged"
    return f"last run, {moment(last.created)}: {_ending(last)}, {judged}"


def force_words(last: Last, now: By) -> str:
    """That the newest run was ended by force, and the keys that go on with it, in a list."""
    return f"ended by force · {_keys_on(last, now)}"


def goes_on_words(last: Last, now: By) -> str:
    """The keys that go on with what the newest run left, in a list; nothing where it left none."""
    if not last.left or last.forced or last.by is None:
        return ""
    left = f": {last.left:,} of {plural(last.chunks, 'chunk')} left" if last.by == now else ""
    return f"{_keys_on(last, now)}{left}"


def _keys_on(last: Last, now: By) -> str:
    past, here, shows, run = (
        command(each).shown for each in ("show_past", "past_of_session", "open", "run")
    )
    if last.by is None or last.by == now:
        return f"{shows} {run} goes on"
    at = _at(last.by.size) if not last.by.same_size(now) else "with it"
    return f"{past} {here} {shows} {run}: goes on {at}"


def _differences(by: By, now: By) -> tuple[list[str], list[str]]:
    """What it went by that is another one now, and the keys that choose it again.

    No key chooses another version of the same rubric: then there are none.
    """
    what: list[str] = []
    keys: list[str] = []
    if not by.same_size(now):
        what.append(f"at {by.size:,} {by.unit}")
        unit = [command("switch_unit").shown] if by.unit is not now.unit else []
        keys.append(" ".join([*unit, command("edit_size").shown, str(by.size)]))
    if by.model != now.model:
        model = line(by.model, 60)
        what.append("by the offline rules" if model == OFFLINE_MODEL else f"by {model}")
        keys.append(f"{command('choose_model').shown} {model}")
    if by.rubric != now.rubric:
        rubric = line(by.rubric, 60)
        what.append(f"by the rubric {rubric}")
        keys.append(f"{command('choose_rubric').shown} {rubric}")
    elif by.version != now.version:
        what.append("by another version of the rubric")
        keys.clear()
    return what, keys


def _at(size: int) -> str:
    return f"at {size / 1000:g}k" if size >= 1000 else f"at {size}"


def _ending(last: Last) -> str:
    status = line(last.status.replace("_", " "), 20)
    return f"{status}, {plural(last.findings, 'finding')}" if last.findings else status
