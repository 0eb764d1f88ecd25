r"""What is typed to search for, and what it means: text or a pattern, and which events count.

    git push tool:Bash is:error        kind:user re:rm\s+-rf

Words before a colon that are none of these stand for themselves, and so does all that is put
between quotes. Several words are one phrase; `in_any_order` makes a pattern of them. Lower case
finds upper case too, a capital letter only itself.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.sessions.model import KINDS, EventKind
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

PATTERN_CHARS = 1_000
"""A longer pattern is none that a person types."""

_FILTER = re.compile(r'(?:^|(?<=\s))(tool|kind|is):("[^"]*"|\S*)(?:\s+|$)', re.I)
_PATTERN = re.compile(r"(?:^|\s)re:", re.I)
_MEANS_MORE = re.compile(r"[\\^$.|?*+()\[\]{}]")
_ESCAPE = re.compile(r"\\.|\(\?P<[^>]*>|\(\?P=[^)]*\)", re.S)
_KIND_WORDS = ("user", "assistant", "thinking", "call", "result", "system", "error")


class Mode(Enum):
    """How the words are looked for."""

    NONE = "none"
    TEXT = "text"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class Query:
    """Words to find, and the events in which to look.

    `tools` are names, with `*` for any letters; a result is of the tool that its call names.
    `kinds` empty means any kind. `words` is a pattern of Python's `re` where `mode` says so.
    """

    mode: Mode = Mode.NONE
    words: str = ""
    tools: tuple[str, ...] = ()
    kinds: frozenset[EventKind] = frozenset()
    errors: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked."""
        return self.mode is Mode.NONE and not self.filters

    @property
    def filters(self) -> bool:
        """Whether some events do not count, whatever their text."""
        return bool(self.tools or self.kinds or self.errors)

    @property
    def ignores_case(self) -> bool:
        """Whether capital letters are found too: there is none in the words."""
        words = _ESCAPE.sub("", self.words) if self.mode is Mode.PATTERN else self.words
        return not any(char.isupper() or char.istitle() for char in words)

    @property
    def flags(self) -> re.RegexFlag:
        """How a pattern is read: `^` and `$` mean lines."""
        return re.MULTILINE | (re.IGNORECASE if self.ignores_case else re.NOFLAG)

    def fits_tool(self, tool: str) -> bool:
        """Whether events of a tool count."""
        name = tool.lower()
        return any(fnmatchcase(name, each.lower()) for each in self.tools)


def parse_query(typed: str) -> Query:
    """Read what was typed.

    Raises:
        UsageError: a filter is unknown, or the pattern is none; one line says so.
    """
    if len(quoted := typed.strip()) > 2 and quoted[0] == quoted[-1] == '"':
        return Query(Mode.TEXT, quoted[1:-1])
    pattern = _PATTERN.search(typed)
    before = typed[: pattern.start()] if pattern else typed
    tools: list[str] = []
    kinds: set[EventKind] = set()
    errors = False
    for match in _FILTER.finditer(before):
        name, value = match[1].lower(), match[2].strip('"')
        if name == "tool":
            tools.append(_tool(value))
        elif name == "kind":
            kinds |= _kinds_of(value)
        elif value.lower() in ("error", "errors"):
            errors = True
        else:
            raise UsageError("is: takes one word, error: is:error finds what failed")
    words = _FILTER.sub("", before).strip()
    if pattern:
        if words:
            raise UsageError("words before re: are not looked for; put them into the pattern")
        words = typed[pattern.end() :].strip()
        _check_pattern(words)
        mode = Mode.PATTERN
    else:
        mode = Mode.TEXT if words else Mode.NONE
    return Query(mode, words, tuple(tools), frozenset(kinds), errors)


def in_any_order(typed: str) -> str:
    """What to type to find the words of a phrase on one line in any order, its filters kept.

    Empty where that would be nothing else: one word, a pattern, a phrase between quotes.
    """
    try:
        query = parse_query(typed)
    except UsageError:
        return ""
    words = [_MEANS_MORE.sub(r"\\\g<0>", each) for each in dict.fromkeys(query.words.split())]
    if query.mode is not Mode.TEXT or len(words) < 2 or typed.strip().startswith('"'):
        return ""
    *others, last = words
    pattern = "".join(f"(?=.*{each})" for each in others)
    pattern = f"^{pattern}.*{last}"
    if len(words) == 2:
        pattern = f"{words[0]}.*{last}|{last}.*{words[0]}"
    filters = [match[0].strip() for match in _FILTER.finditer(typed)]
    return " ".join([*filters, f"re:{pattern}"]) if len(pattern) <= PATTERN_CHARS else ""


def compile_pattern(words: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compile a pattern; what may mean another thing in some later Python is no news to say.

    Raises:
        re.error: it is none.
        OverflowError, RecursionError: it is too large.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(words, flags)


def unknown_tool(query: Query, names: Collection[str]) -> str:
    """The first tool of a query that none of a session's names fits, empty where there is none."""
    for tool in query.tools:
        alone = Query(tools=(tool,))
        if not any(alone.fits_tool(name) for name in names if name):
            return tool
    return ""


def _tool(value: str) -> str:
    if not value:
        raise UsageError("tool: needs a name, such as tool:Bash; * stands for any letters")
    return value


def _kinds_of(value: str) -> set[EventKind]:
    word = value.lower()
    found = {kind for kind in KINDS if word and _is_kind(word, kind.value)}
    if not found:
        what = f"no kind {clean_line(value, 40)}" if value else "kind: needs one"
        raise UsageError(f"{what}: {', '.join(_KIND_WORDS)}")
    return found


def _is_kind(word: str, name: str) -> bool:
    parts: Sequence[str] = (name, *name.split("_"))
    return any(part.startswith(word) for part in parts)


def _check_pattern(words: str) -> None:
    if not words:
        raise UsageError("re: needs a pattern, such as re:rm\\s+-rf")
    if len(words) > PATTERN_CHARS:
        raise UsageError(f"the pattern is longer than {PATTERN_CHARS:,} characters")
    try:
        compile_pattern(words)
    except re.error as error:
        where = f" at character {error.pos + 1}" if error.pos is not None else ""
        message = clean_line(error.msg, 100)
        raise UsageError(f"this is no pattern yet: {message}{where}") from None
    except (OverflowError, RecursionError) as error:
        raise UsageError("this pattern is too large") from error
