"""Rubrics: the criteria a chunk is judged by, the instructions around them, when to skip.

A rubric is a TOML file; the built-in ones lie in `rubrics/`. Its version is a hash of what
reaches the judge, so that a changed label or severity keeps every verdict and a changed question
asks everything again.
"""

from __future__ import annotations

import tomllib
from enum import StrEnum
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from longjudge.errors import RubricError
from longjudge.text import clean_line

MAX_RUBRIC_BYTES = 100_000

_Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class Skip(StrEnum):
    """When a rubric does not apply to a session."""

    NO_TOOL_CALL = "no_tool_call"
    NEVER = "never"


class Criterion(BaseModel):
    """One question about a chunk. `label` and `severity` are for people and reach no judge."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: _Identifier
    question: Annotated[str, Field(min_length=1, max_length=4000)]
    label: str = ""
    severity: str = ""


class Rubric(BaseModel):
    """Criteria, instructions and skip condition."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[\w.-]{1,80}$")]
    instructions: Annotated[str, Field(max_length=50_000)] = ""
    skip: Skip = Skip.NO_TOOL_CALL
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=32)]
    label: str = ""

    @field_validator("criteria")
    @classmethod
    def _distinct(cls, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        ids = [criterion.id for criterion in criteria]
        if len(set(ids)) != len(ids):
            raise ValueError("two criteria have the same id")
        return criteria

    @property
    def criterion_ids(self) -> tuple[str, ...]:
        """Ids in the order of the file."""
        return tuple(criterion.id for criterion in self.criteria)

    @property
    def version(self) -> str:
        """Eight hexadecimal digits over what reaches the judge."""
        judged = [self.instructions, [[c.id, c.question] for c in self.criteria]]
        return sha256(msgspec.json.encode(judged)).hexdigest()[:8]


def load_rubric(name: str) -> Rubric:
    """Load a built-in rubric by name, or one from a TOML file.

    Raises:
        RubricError: unknown name, unreadable file, or a fault in it.
    """
    builtin = resources.files("longjudge") / "rubrics" / f"{name}.toml"
    if "/" not in name and "\\" not in name and builtin.is_file():
        return parse_rubric(builtin.read_text(encoding="utf-8"), name)
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            raise RubricError(f"{clean_line(name)}: not a file; name a rubric or a TOML file")
        with path.open("rb") as file:
            data = file.read(MAX_RUBRIC_BYTES + 1)
    except (OSError, ValueError) as error:
        known = ", ".join(builtin_rubrics())
        fault = error.strerror if isinstance(error, OSError) else error
        raise RubricError(
            f"{clean_line(name)}: no such rubric ({fault}); built in: {known}; or name a TOML file"
        ) from error
    if len(data) > MAX_RUBRIC_BYTES:
        raise RubricError(f"{clean_line(name)}: larger than {MAX_RUBRIC_BYTES} bytes; shorten it")
    try:
        return parse_rubric(data.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        raise RubricError(f"{clean_line(name)}: not UTF-8; save it as UTF-8") from error


def parse_rubric(toml: str, origin: str) -> Rubric:
    """Parse a rubric; `origin` names the file in errors."""
    where = clean_line(origin)
    try:
        fields = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise RubricError(f"{where}: not valid TOML: {error}") from error
    try:
        return Rubric.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "rubric"
        raise RubricError(f"{where}: {clean_line(field)}: {clean_line(first['msg'])}") from error


def builtin_rubrics() -> tuple[str, ...]:
    """Names of the built-in rubrics."""
    folder = resources.files("longjudge") / "rubrics"
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))
