"""A rubric as a TOML file: read again it is the same rubric, with the same version.

The text holds nothing but what a reader needs: no comment, and no question mark before that of
the first criterion, so that questions are easy to find in it. Characters that would act on a
terminal are written as escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.text import clean

if TYPE_CHECKING:
    from longjudge.rubric import Criterion, Rubric

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_THREE_QUOTES = re.compile('"(?="")|"$')


def rubric_toml(rubric: Rubric) -> str:
    """The text of a file that holds the rubric; its label, which is for lists only, is left out."""
    lines = [f"name = {_line(rubric.name)}", f'skip = "{rubric.skip.value}"']
    if rubric.instructions:
        lines.append(f"instructions = {_block(rubric.instructions)}")
    for criterion in rubric.criteria:
        lines += ["", "[[criteria]]", *_criterion(criterion)]
    return "\n".join(lines) + "\n"


def _criterion(criterion: Criterion) -> list[str]:
    lines = [f"id = {_line(criterion.id)}", f"question = {_line(criterion.question)}"]
    lines += [f"label = {_line(criterion.label)}"] if criterion.label else []
    lines += [f"severity = {_line(criterion.severity)}"] if criterion.severity else []
    return lines


def _line(text: str) -> str:
    """A basic string on one line."""
    return f'"{"".join(map(_escaped, text))}"'


def _block(text: str) -> str:
    """A basic string on lines of its own; the parser drops the first line end."""
    # A question mark stands for a criterion's question only.
    rows = "\n".join("".join(map(_escaped_in_block, row)) for row in text.split("\n"))
    rows = _THREE_QUOTES.sub(r'\\"', rows)
    return f'"""\n{rows}"""'


def _escaped_in_block(character: str) -> str:
    if character == "?":
        return "\\u003F"
    return character if character == '"' else _escaped(character)


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if clean(character) == character:
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
