"""The offline rule for references to what an attempt to read has shown not to exist."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

MAX_REFERENCE_CHARS = 200

_TOKEN = re.compile(r"[\w./~@+-]+")
# Only what has a dot or a slash can be a path; most words have none.
_PATH_TOKEN = re.compile(r"(?<![\w./~@+-])[\w~@+-]*+[./][\w./~@+-]*+")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_TRIM = ".,:;-+@"

# First one letter of each case: so the search runs over everything else at full speed.
_MISSING = re.compile(
    r"[nNdDeEcC](?i:(?<=n)(?:o such file|ot found)|(?<=d)oes(?: not|n't) exist|(?<=e)noent"
    r"|(?<=c)(?:an(?:not|'t) find|annot open|ould not (?:find|be found)))"
)
_MISSING_SYMBOL = re.compile(
    r"cannot import name '(\w{3,80})'|has no attribute '(\w{3,80})'"
    r"|name '(\w{3,80})' is not defined|cannot find (?:symbol|name) '?(\w{3,80})"
)
_PLACE = re.compile(r"[\w./~@+-]{1,200}(?=:\d)")
_HTTP = re.compile(r"\b40[0-9]\b|\bhttps?://", re.I)
_DOUBT = re.compile(
    r"\b(?:missing|not found|no such|exists?|existed|absent|non-?existent|nowhere|gone|removed"
    r"|creat\w+|add|added|adding|new|generat\w+|writ(?:e|ing|ten)|introduc\w+|fail\w*|errors?"
    r"|unable|wrong|instead|typo|guess\w*|assum\w+|maybe|perhaps|might|if|whether|look\w*"
    r"|search\w*|check\w*|try|trying|tried|find|locate|let me|i'll|i’ll|i will|cannot|could not"
    r"|not (?:be |been )?(?:there|present|available|exist|in|found|read|open))\b"
    r"|\b(?:can|could|is|was|are|were|do|does|did)(?:n't|n’t|'t)|\?",
    re.I,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+|\n")


def sentences(text: str, start: int = 0) -> list[tuple[int, int]]:
    """The sentences of a message, as offsets; a line end ends one, a dot inside a word does not."""
    found: list[tuple[int, int]] = []
    for match in _SENTENCE_END.finditer(text, start):
        found.append((start, match.start()))
        start = match.end()
    found.append((start, len(text)))
    return [(begin, end) for begin, end in found if begin < end]


def path_tokens(text: str) -> list[str]:
    """Everything in a text that looks like a path or a file name, as it stands there."""
    found: list[str] = []
    for token in _PATH_TOKEN.findall(text):
        if len(token) > MAX_REFERENCE_CHARS:
            continue
        token = token.rstrip(_TRIM).removeprefix("./")
        if is_path(token):
            found.append(token)
    return found


def is_path(token: str) -> bool:
    """Whether a word is a path: it has a folder, or an extension after a name."""
    name = token.rpartition("/")[2]
    if "/" in token:
        return len(token) > 3 and any(part.strip(".~") for part in token.split("/"))
    extension = _EXTENSION.search(name)
    return extension is not None and extension.start() > 0 and not name.startswith("e.g")


def same_path(one: str, other: str) -> bool:
    """Whether two spellings name one file: equal, or one the end of the other by folders."""
    if len(one) > len(other):
        one, other = other, one
    return one == other or ("/" in one and other.endswith("/" + one.lstrip("/")))


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference to something missing, and the sentence that makes it."""

    start: int
    end: int
    note: str


@dataclass(slots=True)
class MissingReferences:
    """What the events so far have shown not to exist; fed event by event, in order."""

    _called: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _called_words: set[str] = field(default_factory=set[str])
    _last_call: list[str] = field(default_factory=list[str])
    _calls_open: int = 0
    _paths: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _symbols: set[str] = field(default_factory=set[str])

    def call(self, text: str) -> None:
        """A tool call: whatever it names may come to exist, or be read, by it."""
        self._last_call = path_tokens(text)
        self._calls_open += 1
        for path in self._last_call:
            self._called[_name(path)].add(path)
            self._forget(path)
        words = {word.rpartition(".")[2] for word in _TOKEN.findall(text) if len(word) <= 200}
        self._called_words |= words
        self._symbols -= words

    def result(self, text: str) -> None:
        """A tool result: what it shows exists, what it fails on does not."""
        alone = self._calls_open == 1
        self._calls_open = max(0, self._calls_open - 1)
        if not (self._paths or _MISSING.search(text) or _MISSING_SYMBOL.search(text)):
            # Nothing is missing, and nothing can turn out to exist: most results end here.
            return
        missing: list[str] = []
        for line in text.splitlines():
            if self._add_symbols(line):
                continue
            if _MISSING.search(line) and not _HTTP.search(line):
                # With a line number behind it, a path is where something else is missing.
                places = _PLACE.sub(" ", line)
                named = [path for path in path_tokens(places) if self._was_called(path)]
                missing += named
                if (
                    alone
                    and len(self._last_call) == 1
                    and len(text) < 400
                    and not path_tokens(line)
                ):
                    # "File does not exist": the one file that the one call named.
                    missing += self._last_call
            else:
                for path in path_tokens(line):
                    self._forget(path)
        for path in missing:
            self._paths[_name(path)].add(path)

    def user(self, text: str) -> None:
        """A user's message: what the user names is not the agent's invention."""
        if self._paths:
            for path in path_tokens(text):
                self._forget(path)
        self._symbols -= set(_TOKEN.findall(text))

    def citations(self, text: str, body: int) -> list[Citation]:
        """The first sentence that cites each missing thing as if it were real."""
        if not self._paths and not self._symbols:
            return []
        found: list[Citation] = []
        for start, end in sentences(text, body):
            sentence = text[start:end]
            if not sentence.strip():
                continue
            if _DOUBT.search(_TOKEN.sub(_blank_path, sentence)):
                continue
            for path in path_tokens(sentence):
                if self._forget(path):
                    note = f"cites {path} after reading it failed"
                    found.append(Citation(start, end, note))
            for symbol in sorted(self._symbols & set(_TOKEN.findall(sentence.replace("(", " ")))):
                self._symbols.discard(symbol)
                found.append(Citation(start, end, f"cites {symbol} although it was not found"))
        return found

    def _add_symbols(self, line: str) -> bool:
        """Note the symbols that a line says are missing; whether it speaks of symbols at all."""
        found = False
        for match in _MISSING_SYMBOL.finditer(line):
            found = True
            symbol = next(group for group in match.groups() if group)
            # A plain word would be met everywhere; a symbol must look like one.
            if symbol in self._called_words and ("_" in symbol or not symbol.islower()):
                self._symbols.add(symbol)
        return found

    def _was_called(self, path: str) -> bool:
        return any(same_path(path, called) for called in self._called.get(_name(path), ()))

    def _forget(self, path: str) -> bool:
        known = self._paths.get(_name(path))
        if not known:
            return False
        same = {other for other in known if same_path(path, other)}
        known -= same
        return bool(same)


def _blank_path(match: re.Match[str]) -> str:
    return " " if is_path(match.group().rstrip(_TRIM)) else match.group()


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
