"""The configuration file: defaults of one's own, folders of rubrics, profiles of endpoints.

What is set is found in one order everywhere: an option, else the environment, else this file,
else the built-in default (`choose`). A key never stands in the file; a profile names the
environment variable that holds it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, TypeVar, cast
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from longjudge.batch_pace import MOST_BYTES, MOST_REQUESTS, Pace
from longjudge.chunks import (
    DEFAULT_CHUNK_CHARS,
    MAX_CHUNK_CHARS,
    MAX_CHUNK_TOKENS,
    MIN_CHUNK_CHARS,
    MIN_CHUNK_TOKENS,
)
from longjudge.errors import ConfigurationError, UsageError
from longjudge.paths import own_folder, store_path
from longjudge.prices import OFFLINE_MODEL, Price
from longjudge.settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_RUBRIC,
    DEFAULT_TIME_LIMIT,
    MAX_CONCURRENCY,
    MAX_TIME_LIMIT,
    Settings,
)
from longjudge.text import clean_line
from longjudge.toml_lines import TomlError, faults, line_of, parse_toml, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from longjudge.toml_lines import Key

VARIABLE = "LONGJUDGE_CONFIG"
FILE_NAME = "config.toml"
MAX_DOLLARS = 1_000_000

T = TypeVar("T")

_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[\w-]{8,}|(?:AIza|eyJ)[\w-]{20,}|AKIA[A-Z0-9]{12,}"
    r"|(?:[a-z]{2}k|gh[a-z]|hf|xai|xox[a-z]|pplx|nvapi|glpat|pk|rk|r8)[-_][A-Za-z0-9]{20,})"
)
"""What the keys of the usual providers look like, and hardly any name of a model."""

_SECRET_KEYS = frozenset(
    {"apikey", "token", "key", "secret", "password", "authtoken", "accesstoken", "credential"}
    | {"anthropicapikey", "anthropicauthtoken", "authorization", "bearer"}
)
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_PATH_KEYS = frozenset({"store", "rubric", "rubrics"})
_NO_KEY_HERE = (
    "a key must not stand in this file; take it out, and name the environment variable that holds"
    " it: key_variable in [profiles.NAME]"
)


def _name(value: str) -> str:
    if not value or not value.isprintable() or value != value.strip():
        raise ValueError("blank, or with white space or control characters; write the name alone")
    return value


def _profile_name(value: str) -> str:
    if _name(value) == OFFLINE_MODEL:
        raise ValueError("offline means the built-in rules; give the profile another name")
    return value


def _rubric_name(value: str, info: ValidationInfo) -> str:
    """A name as it stands; a file relative to the configuration file."""
    is_file = "/" in value or "\\" in value or value.endswith(".toml")
    return str(_beside_file(value, info)) if is_file else _name(value)


def _as_tuple(value: object) -> object:
    """TOML has lists only, and strictness takes tuples only."""
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _beside_file(value: object, info: ValidationInfo) -> Path:
    """A path, relative to the configuration file."""
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "no text")
    if not value or "\0" in value:
        raise ValueError("no path; write the path of a file or folder")
    try:
        path = Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError("no such home folder; write the whole path") from error
    folder: object = info.context
    return folder / path if isinstance(folder, Path) else path


def _variable_name(value: str) -> str:
    long_word = len(value) >= 20 and not re.search(r"[A-Za-z]_|_[A-Za-z]", value)
    if not _VARIABLE_NAME.fullmatch(value) or (long_word and re.search("[0-9]", value)):
        raise ValueError(
            "no name of an environment variable; name the variable that holds the key, and keep"
            " the key itself out of this file"
        )
    return value


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError(
            "an address with a user, a password or a query; write the address alone, and name the"
            " variable that holds the key as key_variable"
        )
    if not usable or not value.isprintable() or value != value.strip():
        raise ValueError("no http or https address; write one such as http://127.0.0.1:8080")
    return value


def _asked_model(value: str) -> str:
    if value == OFFLINE_MODEL:
        raise ValueError("the offline rules have no endpoint; name a model")
    return value


_Name = Annotated[str, Field(max_length=200), AfterValidator(_name)]
_ProfileName = Annotated[str, Field(max_length=200), AfterValidator(_profile_name)]
_Path = Annotated[Path, BeforeValidator(_beside_file)]
_Dollars = Annotated[float, Field(ge=0, le=MAX_DOLLARS, allow_inf_nan=False)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class PriceTable(_Table):
    """US dollars per million tokens."""

    input: _Dollars
    output: _Dollars
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None

    def to_price(self) -> Price:
        """As the rest of the program knows it."""
        return Price(self.input, self.output, self.cache_read, self.cache_write)


class Profile(_Table):
    """How one model is reached. `stream` is transport only and decides no answer."""

    model: Annotated[_Name, AfterValidator(_asked_model)]
    base_url: Annotated[str, AfterValidator(_address)] | None = None
    key_variable: Annotated[str, AfterValidator(_variable_name)] | None = None
    price: PriceTable | None = None
    stream: bool = False


class BatchesTable(_Table):
    """How batches are sent and followed, where other than usual: see `batch_pace.Pace`."""

    max_requests: Annotated[int, Field(ge=1, le=MOST_REQUESTS)] | None = None
    max_bytes: Annotated[int, Field(ge=100_000, le=MOST_BYTES)] | None = None
    queued: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    longest_look: Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)] | None = None
    listed_after: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] | None = None

    def to_pace(self) -> Pace:
        """As the rest of the program knows it."""
        return Pace(**self.model_dump(exclude_none=True))


class Configuration(_Table):
    """What the configuration file holds; `Configuration()` is an empty one."""

    model: _Name | None = None
    rubric: Annotated[str, AfterValidator(_rubric_name)] | None = None
    chunk_chars: Annotated[int, Field(ge=MIN_CHUNK_CHARS, le=MAX_CHUNK_CHARS)] | None = None
    chunk_tokens: Annotated[int, Field(ge=MIN_CHUNK_TOKENS, le=MAX_CHUNK_TOKENS)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)] | None = None
    time_limit: Annotated[float, Field(gt=0, le=MAX_TIME_LIMIT, allow_inf_nan=False)] | None = None
    store: _Path | None = None
    rubrics: Annotated[tuple[_Path, ...], BeforeValidator(_as_tuple)] = ()
    theme: _Name | None = None
    profiles: dict[_ProfileName, Profile] = Field(default_factory=dict[str, Profile])
    batches: BatchesTable = BatchesTable()

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.chunk_chars is not None and self.chunk_tokens is not None:
            raise PydanticCustomError(
                "both_sizes",
                "there is chunk_chars too; keep one of them",
                {"key": ("chunk_tokens",)},
            )
        return self


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be used; `model` is None where nobody named one."""

    model: str | None
    rubric: str
    settings: Settings
    store: Path


def configuration_path() -> Path:
    """Where the configuration file is, or would be."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return own_folder(platformdirs.user_config_path) / FILE_NAME


def load_configuration() -> Configuration:
    """The configuration of `LONGJUDGE_CONFIG`, else of the user's configuration folder.

    It is empty where that folder holds none.

    Raises:
        ConfigurationError: a file that was named is missing, or a file has a fault.
    """
    path, named = configuration_path(), bool(os.environ.get(VARIABLE))
    try:
        text = read_toml(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not named:
            return Configuration()
        raise ConfigurationError(_unreadable(path, error, named=named)) from error
    except (OSError, ValueError) as error:
        raise ConfigurationError(_unreadable(path, error, named=named)) from error
    except TomlError as error:
        raise ConfigurationError(str(error)) from error
    return parse_configuration(text, path)


def parse_configuration(text: str, path: Path) -> Configuration:
    """Check the text of a configuration file; its relative paths start where the file is.

    Raises:
        ConfigurationError: the first fault, with its line.
    """
    origin = os.fspath(path)
    try:
        fields = parse_toml(text, origin)
    except TomlError as error:
        raise ConfigurationError(str(error)) from error
    try:
        secret = next(_secrets(fields), None)
    except RecursionError as error:
        raise ConfigurationError(f"{clean_line(origin)}: nested too deeply; flatten it") from error
    if secret is not None:
        line = line_of(text, secret)
        raise ConfigurationError(f"{clean_line(origin)}:{line}: {_shown(secret)}: {_NO_KEY_HERE}")
    try:
        return Configuration.model_validate(fields, context=path.parent.absolute())
    except ValidationError as error:
        raise ConfigurationError(faults(error, text, origin, _known_keys, {})[0]) from error


def choose(
    config: Configuration,
    *,
    model: str | None = None,
    rubric: str | None = None,
    chunk_chars: int | None = None,
    chunk_tokens: int | None = None,
    concurrency: int | None = None,
    time_limit: float | None = None,
    store: str | os.PathLike[str] | None = None,
    redact: bool = True,
) -> Choice:
    """An option beats the environment, which beats the configuration, which beats the default.

    An option that was not given is None. Whether secrets are replaced stands in no file and no
    environment: who does not want it says so each time.

    Raises:
        UsageError: a value that cannot be used, or two sizes of a chunk at once.
    """
    if chunk_chars is not None and chunk_tokens is not None:
        raise UsageError("--chunk-chars and --chunk-tokens exclude each other; use one of them")
    if rubric is not None and not rubric:
        raise UsageError("--rubric is empty; name a rubric or a TOML file, or leave it out")
    if chunk_chars is None and chunk_tokens is None:
        chunk_chars, chunk_tokens = config.chunk_chars, config.chunk_tokens
    settings = Settings(
        chunk_chars=_first(chunk_chars, DEFAULT_CHUNK_CHARS),
        concurrency=_first(concurrency, config.concurrency, DEFAULT_CONCURRENCY),
        time_limit=_first(time_limit, config.time_limit, DEFAULT_TIME_LIMIT),
        chunk_tokens=chunk_tokens,
        redact=redact,
    )
    return Choice(
        model=_chosen_model(model, config),
        rubric=_first(rubric, config.rubric, DEFAULT_RUBRIC),
        settings=settings,
        store=store_path(store, config.store),
    )


def _chosen_model(option: str | None, config: Configuration) -> str | None:
    model = option if option is not None else os.environ.get("JUDGE_MODEL") or config.model
    if model is not None and (not model or not model.isprintable() or model != model.strip()):
        raise UsageError("the model's name is blank or holds white space; name one with --model")
    return model


def _first(*values: T | None) -> T:
    """The first value that is set; the last one is."""
    return next(value for value in values if value is not None)


def _unreadable(path: Path, error: OSError | ValueError, *, named: bool) -> str:
    fault = error.strerror if isinstance(error, OSError) else "no path"
    way_out = f"set {VARIABLE} to a file, or unset it" if named else "make it readable, or move it"
    return f"{clean_line(os.fspath(path))}: the configuration cannot be read ({fault}); {way_out}"


def _known_keys(table: Key) -> Iterable[str]:
    kind: type[BaseModel] = Configuration
    if table and table[0] == "profiles":
        kind = PriceTable if len(table) > 2 else Profile
    elif table and table[0] == "batches":
        kind = BatchesTable
    return kind.model_fields


def _secrets(value: object, key: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The keys whose name or value gives a secret away, in the order of the file."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            inside = (*key, name)
            # A profile may have any name.
            named = inside[:-1] != ("profiles",) and _spelt(name) in _SECRET_KEYS
            if named or _SECRET.search(name):
                yield inside
            elif inside[0] not in _PATH_KEYS:
                yield from _secrets(inner, inside)
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[object]", value)):
            yield from _secrets(inner, (*key, number))
    elif isinstance(value, str) and _SECRET.search(value):
        yield key


def _spelt(name: str) -> str:
    return re.sub("[-_ ]", "", name).lower()


def _shown(key: Key) -> str:
    return clean_line(_SECRET.sub("…", ".".join(str(part) for part in key)))
