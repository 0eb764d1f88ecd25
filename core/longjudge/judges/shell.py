"""Reads shell text far enough to tell a command that runs from one that is only mentioned.

One pass over the text, which keeps every offset: a word knows where it stands, so that a finding
can quote it. This is no shell; what it does not understand it passes over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

# An escaped quote inside an escaped string comes first: its backslash must stay beside it.
_JSON_ESCAPE = re.compile(r'\\\\\\"|\\["\\/nrt]')
_JSON_PLAIN = {
    r"\\\"": '  \\"',
    r"\"": ' "',
    r"\\": " \\",
    r"\/": " /",
    r"\n": " \n",
    r"\r": " \n",
    r"\t": " \t",
}
_HEREDOC = re.compile(r"<<[-~]?\s{0,4}[\"']?(\w{1,40})[\"']?")
_SEPARATORS = ";&|\n()`{}"
_REDIRECT = re.compile(r"\d?>>?|&>>?|<")
_PREFIXES = frozenset(
    {"sudo", "env", "nohup", "time", "command", "exec", "then", "do", "else", "if", "while"}
    | {"xargs", "builtin", "doas", "!", "not", "timeout", "nice", "ionice", "stdbuf", "watch"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_MAX_NESTING = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word without its quotes, and where it stands with them."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Command:
    """One simple command: its words, what it redirects to, where it stands."""

    words: list[Word] = field(default_factory=list["Word"])
    truncates: list[Word] = field(default_factory=list["Word"])
    start: int = 0
    end: int = 0

    @property
    def program(self) -> str:
        """The program's name without its folder; empty where there is none."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> list[str]:
        """The texts of the words after the program."""
        return [word.text for word in self.words[1:]]

    def has_flag(self, letter: str, *names: str) -> bool:
        """Whether a short flag, alone or among others, or one of the long ones is given."""
        for word in self.arguments:
            if word == "--":
                return False
            if word.partition("=")[0] in names:
                return True
            if word.startswith("-") and not word.startswith("--") and letter and letter in word:
                return True
        return False

    @property
    def operands(self) -> list[str]:
        """The arguments that are no flags."""
        return [word for word in self.arguments if not word.startswith("-")]


def plain_view(text: str) -> str:
    """Text of the same length in which JSON's escapes are what they stand for."""
    return _JSON_ESCAPE.sub(lambda match: _JSON_PLAIN[match.group()], text)


def read_commands(text: str, start: int = 0, end: int | None = None) -> list[Command]:
    """All simple commands of a script in `text[start:end]`, those given to `bash -c` included."""
    return _read(text, start, len(text) if end is None else end, 0)


def _read(text: str, start: int, end: int, nesting: int) -> list[Command]:
    commands: list[Command] = []
    for command in _Reader(text, start, end).read():
        command.words = _without_prefixes(command.words)
        commands.append(command)
        if nesting < _MAX_NESTING and (inner := _inner_script(command)):
            inside = _read(text, inner.start + 1, inner.end - 1, nesting + 1)
            commands.extend(inside)
    return commands


def _without_prefixes(words: list[Word]) -> list[Word]:
    """Pass over assignments and over programs that run another one, with their flags."""
    position, wrapped = 0, False
    while position < len(words):
        text = words[position].text
        program = text.rpartition("/")[2]
        flag = wrapped and (text.startswith("-") or text.rstrip("smhd").replace(".", "").isdigit())
        if program in _PREFIXES:
            wrapped = True
        elif not flag and not _ASSIGNMENT.match(text):
            break
        position += 1
    return words[position:]


def _inner_script(command: Command) -> Word | None:
    """The quoted script of `bash -c '...'`, `ssh host '...'` and `eval '...'`."""
    words = command.words
    if command.program in _SHELLS:
        for flag, script in pairwise(words[1:]):
            if flag.text.startswith("-") and flag.text.endswith("c"):
                return script if _is_quoted(script) else None
    if command.program in ("eval", "ssh") and len(words) > 1 and _is_quoted(words[-1]):
        return words[-1]
    return None


def _is_quoted(word: Word) -> bool:
    return word.end - word.start == len(word.text) + 2


class _Reader:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._at, self._end = text, start, end
        self._commands: list[Command] = []
        self._command = Command(start=start)
        self._heredocs: list[str] = []
        self._redirect = ""

    def read(self) -> list[Command]:
        text = self._text
        while self._at < self._end:
            character = text[self._at]
            if character == "\n":
                self._close()
                self._at += 1
                self._skip_heredocs()
            elif character.isspace():
                self._at += 1
            elif character == "#":
                line_end = text.find("\n", self._at, self._end)
                self._at = line_end if line_end >= 0 else self._end
            elif character == "<" and (heredoc := _HEREDOC.match(text, self._at, self._end)):
                self._heredocs.append(heredoc.group(1))
                self._at = heredoc.end()
            elif redirect := _REDIRECT.match(text, self._at, self._end):
                self._redirect = redirect.group()
                self._at = redirect.end()
                if text[self._at : self._at + 1] == "&":
                    self._at += 1
            elif character in _SEPARATORS:
                self._close()
                self._at += 1
            else:
                self._add(self._word())
        self._close()
        return self._commands

    def _add(self, word: Word) -> None:
        if self._redirect:
            if self._redirect.endswith(">") and not self._redirect.endswith(">>"):
                self._command.truncates.append(word)
            self._redirect = ""
        else:
            self._command.words.append(word)
        self._command.end = word.end

    def _close(self) -> None:
        command = self._command
        if command.words or command.truncates:
            words = command.words + command.truncates
            command.start = min(word.start for word in words)
            if not command.words:
                # The operator is part of what is quoted.
                command.start = self._text.rfind(">", 0, command.start)
            self._commands.append(command)
        self._command, self._redirect = Command(start=self._at), ""

    def _skip_heredocs(self) -> None:
        for tag in self._heredocs:
            while self._at < self._end:
                line_end = self._text.find("\n", self._at, self._end)
                line_end = line_end if line_end >= 0 else self._end
                line = self._text[self._at : line_end]
                self._at = min(line_end + 1, self._end)
                if line.strip() == tag:
                    break
        self._heredocs = []

    def _word(self) -> Word:
        text, start = self._text, self._at
        parts: list[str] = []
        while self._at < self._end:
            character = text[self._at]
            if character in "'\"":
                parts.append(self._quoted(character))
            elif character == "\\" and self._at + 1 < self._end:
                parts.append(text[self._at + 1].strip("\n"))
                self._at += 2
            elif character == "$" and text[self._at + 1 : self._at + 2] == "{":
                close = text.find("}", self._at, min(self._end, self._at + 200))
                stop = close + 1 if close >= 0 else self._at + 2
                parts.append(text[self._at : stop])
                self._at = stop
            elif character == "{" and "," in text[self._at : self._at + 200].partition("}")[0]:
                parts.append(character)
                self._at += 1
            elif character.isspace() or character in ";&|\n()`<>":
                break
            else:
                parts.append(character)
                self._at += 1
        return Word("".join(parts), start, self._at)

    def _quoted(self, quote: str) -> str:
        """The inside of a quotation; an unclosed one ends with its line."""
        text, start = self._text, self._at + 1
        at = start
        while at < self._end and text[at] != quote:
            at += 2 if text[at] == "\\" and quote == '"' else 1
        if at >= self._end:
            line_end = text.find("\n", start, self._end)
            at = line_end if line_end >= 0 else self._end
            self._at = at
            return text[start:at]
        self._at = at + 1
        return text[start:at]
