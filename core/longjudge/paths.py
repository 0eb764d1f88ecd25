"""Where files live when nobody says otherwise, and the samples that come with the program."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from longjudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

APP_NAME = "longjudge"


def store_path(
    option: str | os.PathLike[str] | None = None, configured: Path | None = None
) -> Path:
    """The store's file: the option, else `LONGJUDGE_STORE`, else what the configuration says.

    Without any of them it is in the user's data folder.

    Raises:
        UsageError: the option is empty.
    """
    if option is not None and not os.fspath(option):
        raise UsageError("--store is empty; name a file, or leave it out")
    chosen = option or os.environ.get("LONGJUDGE_STORE") or configured
    if chosen:
        return Path(chosen)
    return default_store_path()


def default_store_path() -> Path:
    """Where the store is when nobody names another."""
    return own_folder(platformdirs.user_data_path) / "store.sqlite"


def own_folder(named: Callable[[str], Path]) -> Path:
    """A folder of the user's own, as `platformdirs` has it.

    Raises:
        UsageError: this user has no home, as in a container under a bare number.
    """
    try:
        return named(APP_NAME)
    except RuntimeError as error:
        raise UsageError("there is no home folder here; set HOME to a folder of yours") from error


def sample_sessions() -> Path:
    """The folder of bundled sample sessions, in the wheel or in the source tree."""
    installed = Path(str(resources.files("longjudge"))) / "sample_sessions"
    if installed.is_dir():
        return installed
    return Path(__file__).resolve().parents[2] / "sample_sessions"


def log_path() -> Path:
    """Where the app writes what happened."""
    return own_folder(platformdirs.user_log_path) / "longjudge.log"


def drafts_path() -> Path:
    """The folder of texts that were typed in the app and not saved yet."""
    return own_folder(platformdirs.user_state_path) / "drafts"


def begun_path() -> Path:
    """The folder of notes by which runs of the app that were ended by force are found again."""
    return own_folder(platformdirs.user_state_path) / "runs"


def layout_path() -> Path:
    """Where the app keeps how its panels share the screen."""
    return own_folder(platformdirs.user_state_path) / "layout.json"
