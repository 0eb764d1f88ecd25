"""What is known about a model before it is asked: that it retires, or that nobody knows it.

It comes from files of the installed SDK, read as text, since importing the SDK takes about a
second, and from the price table. Nobody is asked. Another version of the SDK may keep its data
elsewhere or in another form: then nothing is said.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from longjudge.prices import OFFLINE_MODEL, price_of, table_models
from longjudge.text import clean_line

_SDK = "anthropic"
_DEPRECATED_FILES = ("_data/deprecated_models.py", "resources/messages/messages.py")
_MODEL_FILES = ("types/model.py", "types/model_param.py")
_MAX_BYTES = 2_000_000

_DEPRECATED = re.compile(r"^DEPRECATED_MODELS\b[^=\n]*=\s*(\{.*?^\})", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"""["'](claude-[a-z0-9][\w.@-]*)["']""")
_FAMILY = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?")
_ALIAS = re.compile(r"-latest$|-\d{8}$|@.*$|^anthropic[./]")
_LIKENESS = 0.8
_NAME_CHARS = 80

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LONG_DATE = re.compile(rf"({'|'.join(_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})")


@dataclass(frozen=True, slots=True)
class SdkModels:
    """The names that an SDK lists, newest first, and when those that are deprecated retire."""

    names: tuple[str, ...] = ()
    retires: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelNotice:
    """What to know about a model before a run.

    `short` and `word` are for where there is little room, beside the model's name.
    """

    text: str
    short: str
    word: str


def model_notice(model: str, today: date | None = None) -> ModelNotice | None:
    """What is to be said about a model of the hosted API; None where that is nothing.

    The first look reads files of the SDK and loads the price table, 0.2 s together.
    """
    if model == OFFLINE_MODEL:
        return None
    known = sdk_models(_sdk_folder())
    retires = dict(known.retires)
    when = retires.get(model) or retires.get(_plain(model))
    if when is not None:
        return _retiring(model, when, known, today or datetime.now(UTC).date())
    if known.names and not _is_known(model, known):
        return _unknown(model, known)
    return None


@lru_cache(maxsize=4)
def sdk_models(folder: Path | None) -> SdkModels:
    """What the SDK in a folder says of models; nothing where its data is not as expected."""
    if folder is None:
        return SdkModels()
    retires: list[tuple[str, str]] = []
    for name in _DEPRECATED_FILES:
        found = _DEPRECATED.search(_text(folder / name))
        if found is not None:
            retires = _dates(found[1])
            break
    names: list[str] = []
    for name in _MODEL_FILES:
        names += _NAME.findall(_text(folder / name))
    return SdkModels(tuple(dict.fromkeys(names)), tuple(retires))


def retirement_date(words: str) -> date | None:
    """The day that the SDK means, such as `January 22nd, 2027`; None where it is none."""
    try:
        if found := _LONG_DATE.fullmatch(words.strip()):
            return date(int(found[3]), _MONTHS.index(found[1]) + 1, int(found[2]))
        return date.fromisoformat(words.strip())
    except ValueError:
        return None


def _sdk_folder() -> Path | None:
    # Finding a package that is at the top imports nothing of it.
    spec = find_spec(_SDK)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_MAX_BYTES)
    except (OSError, ValueError):
        return ""


def _dates(literal: str) -> list[tuple[str, str]]:
    try:
        found: object = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    pairs = cast("dict[object, object]", found).items()
    return [(name, when) for name, when in pairs if isinstance(name, str) and isinstance(when, str)]


def _retiring(model: str, when: str, known: SdkModels, today: date) -> ModelNotice:
    day = retirement_date(when)
    shown = day.isoformat() if day is not None else clean_line(when, 40)
    verb = "retired" if day is not None and day < today else "retires"
    newer = _newer(model, known)
    instead = f"; {newer} is newer" if newer else ""
    name = clean_line(model, _NAME_CHARS)
    text = f"{name} is deprecated and {verb} on {shown}{instead}"
    return ModelNotice(text, f"{verb} {shown}", verb)


def _unknown(model: str, known: SdkModels) -> ModelNotice:
    names = [*known.names, *table_models()]
    close = get_close_matches(model.lower(), dict.fromkeys(names), n=1, cutoff=_LIKENESS)
    meant = f" (did you mean {close[0]}?)" if close else ""
    name = clean_line(model, _NAME_CHARS)
    return ModelNotice(
        f"{name}: no model of that name is known{meant}", f"unknown model{meant}", "unknown"
    )


def _is_known(model: str, known: SdkModels) -> bool:
    if model in known.names or _plain(model) in known.names:
        return True
    # The table takes a name in any case; the provider does not.
    return model == model.lower() and price_of(model) is not None


def _plain(model: str) -> str:
    """A name without what stands for one of its snapshots."""
    return _ALIAS.sub("", model)


def _newer(model: str, known: SdkModels) -> str:
    """The newest model of the same family that the SDK lists and does not call deprecated."""
    version, retires = _version(model), dict(known.retires)
    if version is None:
        return ""
    candidates = [
        (other, name)
        for name in known.names
        if name not in retires and (other := _version(name)) is not None
    ]
    family = [each for each in candidates if each[0][0] == version[0] and each[0] > version]
    return max(family)[1] if family else ""


def _version(model: str) -> tuple[str, int, int] | None:
    found = _FAMILY.fullmatch(_plain(model))
    return (found[1], int(found[2]), int(found[3] or 0)) if found else None
