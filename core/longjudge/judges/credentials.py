"""Where the SDK would find a credential and an endpoint, read without importing the SDK.

The order is the SDK's: key, token, named profile, federation, profile on disk. Whether a profile
or a federation is complete only the SDK can say, and it is asked for that when it is needed.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from longjudge.errors import CredentialError, UsageError
from longjudge.redaction import redacted_text
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Collection

DEFAULT_BASE_URL = "https://api.anthropic.com"
MAX_PROFILE_BYTES = 1_000_000

KEY = "ANTHROPIC_API_KEY"
TOKEN = "ANTHROPIC_AUTH_TOKEN"
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"

_QUOTES = "\"'`"
"""What a file of variables that no shell reads leaves around a key."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class StaticCredential:
    """A key or token from the environment; its text is never shown."""

    variable: str
    value: str

    def __repr__(self) -> str:
        return f"StaticCredential({self.variable})"

    @property
    def fault(self) -> str | None:
        """What would only fail as a mysterious connection error, in a few words."""
        if not self.value.strip():
            return f"{self.variable} is blank"
        if any(character.isspace() for character in self.value):
            return f"{self.variable} holds a space or a line end"
        if not all("!" <= character <= "~" for character in self.value):
            return f"{self.variable} holds a character that is no part of a key"
        if self.value[0] in _QUOTES or self.value[-1] in _QUOTES:
            return f"{self.variable} holds a quotation mark"
        return None

    def check(self) -> None:
        """Refuse what no header can carry.

        Raises:
            CredentialError: blank, or with characters that are no part of a key.
        """
        if self.fault is not None:
            raise CredentialError(
                f"{self.fault}; set it to the key alone, or use `--model offline`"
            )


def static_credential() -> StaticCredential | None:
    """The key or token in the environment; an empty variable counts as unset, as in the SDK."""
    for variable in (KEY, TOKEN):
        if value := os.environ.get(variable):
            return StaticCredential(variable, value)
    return None


def header_credential() -> bool:
    """Whether `ANTHROPIC_CUSTOM_HEADERS` carries the credential."""
    headers = {name.strip().lower(): value.strip() for name, _, value in _custom_headers()}
    return bool(headers.get("authorization") or headers.get("x-api-key"))


def header_fault(withheld: Collection[str] = ()) -> str | None:
    """What is wrong with the extra headers that are sent, in a few words; never their text."""
    for name, colon, value in _custom_headers():
        name, value = name.strip(), value.strip()
        if not colon or name in withheld:
            continue
        if not _HEADER_NAME.fullmatch(name):
            return f"{HEADERS} holds a name that no header can have"
        if not all(character == "\t" or " " <= character <= "~" for character in value):
            return f"{HEADERS} holds a character that no header can carry"
        token = _token_of(name, value)
        if token is not None and value and not token:
            return f"{HEADERS} holds a blank credential"
        if token is not None and any(character.isspace() for character in token):
            return f"{HEADERS} holds a credential with a space in it"
    return None


def _token_of(name: str, value: str) -> str | None:
    """The key or token in a header; None where it holds neither, as of another scheme."""
    if name.lower() == "x-api-key":
        return value
    scheme, _, token = value.partition(" ")
    bearer = name.lower() == "authorization" and scheme.lower() == "bearer"
    return token.strip() if bearer else None


def header_names() -> list[str]:
    """Names of the headers of `ANTHROPIC_CUSTOM_HEADERS`, spelt as there."""
    return [name.strip() for name, colon, _ in _custom_headers() if colon]


def _custom_headers() -> list[tuple[str, str, str]]:
    lines = os.environ.get(HEADERS, "").split("\n")
    return [line.partition(":") for line in lines]


def named_profile() -> bool:
    """Whether someone chose a profile, so that a fault in it must show."""
    return bool(
        os.environ.get("ANTHROPIC_PROFILE")
        or os.environ.get("ANTHROPIC_CONFIG_DIR")
        or _active_profile_pointer()
    )


def federation() -> bool:
    """Whether the variables of workload identity federation are all set."""
    env = os.environ.get
    return bool(
        env("ANTHROPIC_FEDERATION_RULE_ID")
        and env("ANTHROPIC_ORGANIZATION_ID")
        and (env("ANTHROPIC_IDENTITY_TOKEN") or env("ANTHROPIC_IDENTITY_TOKEN_FILE"))
    )


def may_have_profile() -> bool:
    """Whether the SDK has anything to look at beyond key and token."""
    path = _profile_path()
    return named_profile() or federation() or (path is not None and os.path.isfile(path))


def static_base_url() -> str:
    """The address where the credential is a key or token: no profile on disk has a say."""
    return os.environ.get("ANTHROPIC_BASE_URL", "").strip() or DEFAULT_BASE_URL


def base_url() -> str:
    """The address that requests go to, as the SDK would choose it."""
    if chosen := os.environ.get("ANTHROPIC_BASE_URL", "").strip():
        return chosen
    from_profile = None
    if static_credential() is None and (os.environ.get("ANTHROPIC_PROFILE") or not federation()):
        from_profile = _profile_base_url()
    return from_profile or DEFAULT_BASE_URL


def endpoint_of(url: str) -> str:
    """`scheme://host[:port]/path`: without credentials, query and trailing slash."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return _without_secrets(url)
    host = parts.hostname or ""
    if not host:
        return _without_secrets(url)
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def url_secrets(url: str) -> tuple[str, ...]:
    """The password in a usable address; a name that stands alone may be a key as well."""
    parts = urlsplit(url)
    secret = parts.password or parts.username
    return (secret,) if secret else ()


def _without_secrets(url: str) -> str:
    """What may be shown of an address that cannot be taken apart: a key may stand for it."""
    place = url.rpartition("@")[2]
    return clean_line(redacted_text(re.split("[?#]", place)[0]), 200)


def check_base_url(url: str, setting: str = "ANTHROPIC_BASE_URL") -> None:
    """Refuse an address that no request could go to; `setting` is where it was set.

    Raises:
        UsageError: no http or https address with a host.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise unusable_address(url, setting)
    # Taking it apart drops line ends, and the HTTP library refuses them.
    if any(character <= " " or character == "\x7f" for character in url):
        raise unusable_address(url, setting, "holds a space or a line end")


def unusable_address(
    url: str, setting: str, fault: str = "is no http or https address"
) -> UsageError:
    """Names the setting to mend, and of the address what is no secret."""
    return UsageError(
        f"{setting}: {endpoint_of(url)!r} {fault}; set it to one such as"
        " https://api.anthropic.com, or unset it"
    )


def _config_dir() -> Path | None:
    if chosen := os.environ.get("ANTHROPIC_CONFIG_DIR"):
        return Path(chosen)
    try:
        if sys.platform == "win32":
            roaming = os.environ.get("APPDATA")
            base = Path(roaming) if roaming else Path.home() / "AppData" / "Roaming"
            return base / "Anthropic"
        return Path.home() / ".config" / "anthropic"
    except RuntimeError:
        return None


def _active_profile_pointer() -> str | None:
    folder = _config_dir()
    if folder is None:
        return None
    try:
        return (folder / "active_config").read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def _profile_path() -> Path | None:
    name = os.environ.get("ANTHROPIC_PROFILE") or _active_profile_pointer() or "default"
    folder = _config_dir()
    if folder is None or name.startswith(".") or set(name) & {"/", "\\", "\0"}:
        return None
    return folder / "configs" / f"{name}.json"


class _Profile(msgspec.Struct):
    base_url: str | None = None


def _profile_base_url() -> str | None:
    path = _profile_path()
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            profile = msgspec.json.decode(file.read(MAX_PROFILE_BYTES), type=_Profile)
    except (OSError, ValueError):
        return None
    return profile.base_url or None
