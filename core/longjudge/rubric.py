"""Rubrics: the criteria a chunk is judged by, the instructions around them, when to skip.

A rubric is a TOML file; the built-in ones lie in `rubrics/`. Its version is a hash of what
reaches the judge, so that a changed label or severity keeps every verdict and a changed question
asks everything again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from longjudge.errors import RubricError
from longjudge.text import clean_line
from longjudge.toml_lines import TomlError, faults, parse_toml, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longjudge.toml_lines import Key

MAX_FILES = 1000
"""Rubric files read of one folder."""

_Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

_PATTERNS = {
    "id": "no identifier; use small letters, digits and _, with a letter first",
    "name": "no name of a rubric; use letters, digits, _, . and -, 80 at most",
}

LONGEST_NAME = 80


def _of_fitting_length(name: str) -> str:
    # Not part of the pattern: so many letters of any alphabet take longer to compile than all else.
    if len(name) > LONGEST_NAME:
        raise PydanticCustomError("string_pattern_mismatch", "too long")
    return name


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

    name: Annotated[str, Field(pattern=r"^[\w.-]+$"), AfterValidator(_of_fitting_length)]
    instructions: Annotated[str, Field(max_length=50_000)] = ""
    skip: Skip = Skip.NO_TOOL_CALL
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=32)]
    label: str = ""

    @field_validator("criteria")
    @classmethod
    def _distinct(cls, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        ids: set[str] = set()
        for number, criterion in enumerate(criteria):
            if criterion.id in ids:
                fault = "an earlier criterion has the same id; give it another"
                raise PydanticCustomError("same_id", fault, {"key": (number, "id")})
            ids.add(criterion.id)
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


@dataclass(frozen=True, slots=True)
class KnownRubric:
    """A rubric that is known by its name; `path` is None for a built-in one."""

    rubric: Rubric
    path: Path | None

    @property
    def origin(self) -> str:
        """Where it is from, for people."""
        return "built in" if self.path is None else clean_line(os.fspath(self.path))


@dataclass(frozen=True, slots=True)
class KnownRubrics:
    """Every rubric that is known by name, and one line for each file that holds none."""

    rubrics: tuple[KnownRubric, ...]
    faults: tuple[str, ...]

    def named(self, name: str) -> tuple[KnownRubric, ...]:
        """All of that name; two are one too many."""
        return tuple(known for known in self.rubrics if known.rubric.name == name)

    def clashes(self) -> tuple[str, ...]:
        """One line for each name that two rubrics have."""
        first: dict[str, KnownRubric] = {}
        lines: list[str] = []
        for known in self.rubrics:
            earlier = first.setdefault(known.rubric.name, known)
            if earlier is not known:
                lines.append(_clash(earlier, known))
        return tuple(lines)


def load_rubric(name: str, folders: Sequence[Path] = ()) -> Rubric:
    """Load a rubric by name, or one from a TOML file.

    Known by name are the built-in ones and those in `folders`, which are the configuration's
    folders and files.

    Raises:
        RubricError: unknown name, a name that two have, unreadable file, or a fault in it.
    """
    known = known_rubrics(folders)
    found = known.named(name)
    if len(found) > 1:
        raise RubricError(_clash(found[0], found[1]))
    if found:
        return found[0].rubric
    try:
        toml = read_toml(Path(name))
    except TomlError as error:
        raise RubricError(str(error)) from error
    except (OSError, ValueError) as error:
        fault = error.strerror if isinstance(error, OSError) else error
        names = ", ".join(sorted({one.rubric.name for one in known.rubrics}))
        unread = f" ({len(known.faults)} not read: {known.faults[0]})" if known.faults else ""
        raise RubricError(
            f"{clean_line(name)}: no such rubric ({fault}); known: {names}{unread}; or name a TOML"
            " file"
        ) from error
    return parse_rubric(toml, name)


def parse_rubric(toml: str, origin: str) -> Rubric:
    """Parse a rubric; `origin` names the file in errors.

    Raises:
        RubricError: the first fault, with its line.
    """
    rubric, wrong = check_rubric_text(toml, origin)
    if rubric is None:
        raise RubricError(wrong[0])
    return rubric


def check_rubric_text(toml: str, origin: str) -> tuple[Rubric | None, list[str]]:
    """The rubric, or None and every fault of its text, one line each."""
    try:
        return Rubric.model_validate(parse_toml(toml, origin)), []
    except TomlError as error:
        return None, [str(error)]
    except ValidationError as error:
        return None, faults(error, toml, origin, _known_keys, _PATTERNS)


def _known_keys(table: Key) -> Iterable[str]:
    return (Criterion if table else Rubric).model_fields


def builtin_rubrics() -> tuple[str, ...]:
    """Names of the built-in rubrics."""
    folder = resources.files("longjudge") / "rubrics"
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))


def known_rubrics(folders: Sequence[Path] = ()) -> KnownRubrics:
    """The built-in rubrics, then those in `folders` (files too), in order."""
    rubrics: list[KnownRubric] = []
    wrong: list[str] = []
    builtin = resources.files("longjudge") / "rubrics"
    for name in builtin_rubrics():
        text = (builtin / f"{name}.toml").read_text(encoding="utf-8")
        rubrics.append(KnownRubric(parse_rubric(text, name), None))
    for path in _rubric_files(folders, wrong):
        try:
            rubrics.append(KnownRubric(parse_rubric(read_toml(path), os.fspath(path)), path))
        except (TomlError, RubricError) as error:
            wrong.append(str(error))
        except OSError as error:
            wrong.append(f"{clean_line(os.fspath(path))}: {error.strerror}; mend `rubrics`")
    return KnownRubrics(tuple(rubrics), tuple(wrong))


def _rubric_files(folders: Sequence[Path], wrong: list[str]) -> list[Path]:
    """Each file once, however often it is named."""
    files: dict[Path, Path] = {}
    for place in folders:
        found = [place]
        # What the path itself makes impossible is said when the file is read.
        if os.path.isdir(place):
            try:
                found = sorted(one for one in place.iterdir() if one.suffix == ".toml")
            except OSError as error:
                wrong.append(f"{clean_line(os.fspath(place))}: {error.strerror}; mend `rubrics`")
                continue
            if len(found) > MAX_FILES:
                wrong.append(
                    f"{clean_line(os.fspath(place))}: {len(found)} rubric files; keep {MAX_FILES}"
                )
        for path in found[:MAX_FILES]:
            files.setdefault(Path(os.path.realpath(path)), path)
    return list(files.values())


def _clash(one: KnownRubric, other: KnownRubric) -> str:
    reserved = "; names of built-in rubrics are reserved" if one.path is None else ""
    return (
        f"{other.origin}: rubric {one.rubric.name} is {_whose(one)} too{reserved}; give it another"
        " name"
    )


def _whose(known: KnownRubric) -> str:
    return "built in" if known.path is None else f"in {known.origin}"
