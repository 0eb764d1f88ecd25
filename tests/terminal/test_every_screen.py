"""Every screen and dialog, on a real terminal, with everything hostile that it can show.

What there is to visit comes from the classes and the commands of the app: a screen, or a scope of
commands, without a row here fails.
"""

from __future__ import annotations

import base64
import importlib
import json
import pkgutil
import re
from dataclasses import dataclass

import pytest
from textual.screen import Screen

import longjudge_tui
import server as api
from longjudge_tui.commands import COMMANDS, Scope
from server import FOREVER, MessagesServer
from terminal_bytes import acts_in

NAME = "list[int] [@click=app.quit]x [red]\x1b]0;owned\x07\x9b2J {}.jsonl"
LETTERS = "list[int] [@click=app.quit]x [red]"
NOTE = "list[str] [@click=app.quit]x[/] [red]\x1b]0;owned\x07\x9b2J\u202e\x00 **b** [/]"
LETTERS_OF_NOTE = "list[str] [@click=app.quit]x[/] [red]"
OSC52 = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "shift+tab": "\x1b[Z",
    "delete": "\x1b[3~",
    "question_mark": "?",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "vertical_line": "|",
    "backslash": "\\",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "f8": "\x1b[19~",
    "f9": "\x1b[20~",
}

LEAVE = frozenset(
    {
        *("leave_batches", "cancel_batches"),
        *("quit", "cancel_and_quit", "agree", "reload", "look_again", "open", "judge", "run"),
        *("run_short", "cancel_run", "ask_again", "edit_file", "next_session"),
        *("previous_session", "take_size", "use_rubric"),
        # The exact prompt and reply are copied as they are, and it is said: test_full_texts.py.
        "copy_text",
    }
)
"""They end a visit, or ask anew what is shown, which would have to be waited for."""

ESCAPE_PUMPS = 40

INTO_FIELDS = frozenset(
    {
        *("filter", "search", "filter_log", "filter_past", "save_rubric_as"),
        *("choose_one", "choose_other"),
    }
)
"""What is typed after them would be taken for words, or escape only leaves a choice."""


@dataclass(frozen=True)
class Visit:
    """How a screen is reached from the one it stands over, and the scopes of its commands."""

    screen: str
    keys: str
    sees: str
    scopes: tuple[Scope, ...] = ()


IN_LIBRARY = (
    Visit("Library", "", LETTERS[:20], (Scope.LIBRARY, Scope.LIST)),
    Visit("Palette", "\x10", "Search"),
    Visit("ConfirmDialog", "\x1b[Ar", "Judge at this price?", (Scope.CONFIRM,)),
    Visit("PastScreen", "J", "", (Scope.PAST,)),
    Visit("HoldsDialog", "H", "", (Scope.HELD,)),
    Visit("EstimateScreen", "E", LETTERS[:20], (Scope.ESTIMATE,)),
)
IN_FLIGHT = (
    Visit("Workbench", "r", "◐ running"),
    Visit("QuitDialog", "\x11", "A judgment is in flight", (Scope.QUIT,)),
)
IN_WORKBENCH = (
    Visit("Workbench", "", "complete: "),
    Visit("Workbench", "", LETTERS[:20], (Scope.SCREEN, Scope.EITHER, Scope.SEARCH, Scope.LIST)),
    Visit("Workbench", "4", LETTERS[:9], (Scope.LOG,)),
    Visit("Workbench", "", LETTERS[:9], (Scope.SLIDER, Scope.TIMELINE)),
    Visit("Workbench", "1.", LETTERS_OF_NOTE),
    Visit("TextScreen", "e", LETTERS_OF_NOTE, (Scope.TEXT,)),
    Visit("TextScreen", "v", f'"quote": "{LETTERS_OF_NOTE[:20]}', (Scope.TEXT,)),
    Visit("ChoiceDialog", "m", "", (Scope.CHOICE,)),
    Visit("ChoiceDialog", "b", "", (Scope.CHOICE,)),
    Visit("FailureLab", "F", "", (Scope.LAB,)),
    Visit("HelpDialog", "?", "KEYS", (Scope.HELP,)),
    Visit("CurveScreen", "C", "", (Scope.CURVE,)),
    Visit("CompareScreen", "D", "judgment of this session", (Scope.COMPARE,)),
    Visit("PastScreen", "J2", LETTERS[:20], (Scope.PAST, Scope.OVER)),
    Visit("RubricEditor", "B", "list[str]", (Scope.EDITOR, Scope.NAMING)),
)
IN_BATCH = (Visit("QuitBatchesDialog", "\x11", "batch", (Scope.QUIT_BATCH,)),)

PROGRAM = """
import sys
from textual.screen import Screen
shown = Screen._on_screen_resume
def noted(self, event):
    with open({path!r}, "a") as file:
        file.write(type(self).__name__ + "\\n")
    return shown(self, event)
Screen._on_screen_resume = noted
from longjudge.cli import main
sys.exit(main())
"""


def own_screens() -> set[str]:
    """Every screen of the app that is shown itself, and not only the base of others."""
    for module in pkgutil.walk_packages(longjudge_tui.__path__, "longjudge_tui."):
        importlib.import_module(module.name)

    def below(base):
        for each in base.__subclasses__():
            yield each
            yield from below(each)

    own = {each for each in below(Screen) if each.__module__.startswith("longjudge_tui")}
    return {each.__name__ for each in own if not each.__subclasses__()}


def test_every_screen_and_every_scope_has_a_visit():
    visits = (*IN_LIBRARY, *IN_FLIGHT, *IN_WORKBENCH, *IN_BATCH)
    assert {visit.screen for visit in visits} == own_screens()
    visited = {scope for visit in visits for scope in visit.scopes}
    assert visited >= {each.scope for each in COMMANDS} - {Scope.APP}


def keys_of(name: str) -> str:
    if name.startswith("ctrl+") and len(name) == 6:
        return chr(ord(name[-1]) - ord("a") + 1)
    return name if len(name) == 1 else KEYS.get(name, "")


def hostile_rubric(folder):
    path = folder / "rubric.toml"
    told = NOTE.replace("\x00", "").encode("unicode_escape").decode()
    told = re.sub(r"\\x(..)", r"\\u00\1", told)
    path.write_text(
        f'name = "hostile"\nlabel = "{told}"\ninstructions = "{told}"\n\n[[criteria]]\n'
        f'id = "destructive_action"\nquestion = "{told}"\nlabel = "{told}"\nseverity = "high"\n',
        encoding="utf-8",
    )
    return path


def with_hostile_title(sample) -> str:
    first, rest = sample.read_text(encoding="utf-8").split("\n", 1)
    message = json.loads(first)
    return json.dumps(message | {"text": f"{NAME} {message['text']}"}) + "\n" + rest


def hostile_reply(request, _):
    found = {"event": 0, "quote": NOTE, "note": NOTE}
    return api.later(api.flagged(request, {"destructive_action": [found]}), FOREVER)


def visit_all(terminal, seen, visits, *, every_command):
    def shown() -> list[str]:
        return seen.read_text().split() if seen.exists() else []

    for visit in visits:
        terminal.send(visit.keys)
        terminal.until(lambda visit=visit: shown()[-1:] == [visit.screen], visit.screen)
        # Only once the screen is painted: the one below may show the same words.
        terminal.quiet()
        terminal.sees(visit.sees)
        if every_command:
            press_all(terminal, visit, shown)
        if visit.screen not in ("Library", "Workbench") and shown()[-1] == visit.screen:
            # A question about what is in flight closes by itself once nothing is: its own key does
            # no harm on the screen below.
            terminal.send("n" if visit.screen == "QuitDialog" else "\x1b")
            terminal.until(lambda: shown()[-1] in ("Library", "Workbench"), "the screen below")


def press_all(terminal, visit, shown):
    """Press the key of every command of a visit's scopes, and come back from where it leads."""
    for each in COMMANDS:
        if each.scope not in visit.scopes or each.id in LEAVE or each.keys[0] == "escape":
            continue
        before = len(shown())
        terminal.send(keys_of(each.keys[0]))
        terminal.quiet()
        if len(shown()) > before or each.id in INTO_FIELDS:
            terminal.send("\x1b")
            for _ in range(ESCAPE_PUMPS):
                if shown()[-1] == visit.screen:
                    break
                terminal.pump()
            else:
                # A help that had words in its field has only lost these.
                terminal.send("\x1b")
            terminal.until(lambda: shown()[-1] == visit.screen, f"back from {each.id}")
            terminal.quiet()


@pytest.mark.parametrize("every_command", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_nothing_hostile_acts_on_the_terminal_on_any_screen(
    open_terminal, environment, hostile_sample, tmp_path, every_command
):
    (folder := tmp_path / "cwd").mkdir()
    for number in range(2):
        (folder / NAME.format(number)).write_text(with_hostile_title(hostile_sample))
    rubric, seen = hostile_rubric(tmp_path), tmp_path / "seen"
    environment |= {"ANTHROPIC_API_KEY": "sk-for-tests", "EDITOR": "true"}
    with MessagesServer(hostile_reply) as server:
        environment["ANTHROPIC_BASE_URL"] = server.base_url
        words = ("--model", "claude-haiku-5-5", "--rubric", rubric, "--chunk-chars", "60000")
        program = ("-c", PROGRAM.format(path=str(seen)))
        terminal = open_terminal(*words, folder, program=program, cwd=folder)
        visit_all(terminal, seen, IN_LIBRARY, every_command=every_command)
        terminal.send("\r")
        terminal.sees("SETTINGS")
        terminal.sees("CHUNKS 6 · ")
        visit_all(terminal, seen, IN_FLIGHT, every_command=every_command)
        server.release()
        visit_all(terminal, seen, IN_WORKBENCH, every_command=every_command)
        server.batches.latency = FOREVER
        # Another size has chunks that nobody has judged yet.
        terminal.send("s")
        terminal.send("9000\r")
        terminal.sees("to ask")
        terminal.send("A")
        terminal.sees("Judge as a batch?")
        terminal.send("\r")
        terminal.sees("in batch")
        visit_all(terminal, seen, IN_BATCH, every_command=every_command)
        terminal.send("\x11\x11")
        assert terminal.ended() == 0
    terminal.assert_restored()
    copied = [base64.b64decode(each).decode() for each in OSC52.findall(terminal.wire)]
    for what in (*copied, OSC52.sub(b"", terminal.wire).decode()):
        assert not (act := acts_in(what)), act
    assert set(seen.read_text().split()) >= own_screens()
