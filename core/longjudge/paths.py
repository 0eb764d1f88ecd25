"""Where files live when nobody says otherwise, and the samples that come with the program."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import platformdirs

from longjudge.errors import UsageError

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
    return platformdirs.user_data_path(APP_NAME) / "store.sqlite"


def sample_sessions() -> Path:
    """The folder of bundled sample sessions, in the wheel or in the source tree."""
    installed = Path(str(resources.files("longjudge"))) / "sample_sessions"
    if installed.is_dir():
        return installed
    return Path(__file__).resolve().parents[2] / "sample_sessions"


def log_path() -> Path:
    """Where the app writes what happened."""
    return platformdirs.user_log_path(APP_NAME) / "longjudge.log"


def drafts_path() -> Path:
    """The folder of texts that were typed in the app and not saved yet."""
    return platformdirs.user_state_path(APP_NAME) / "drafts"


def layout_path() -> Path:
    """Where the app keeps how its panels share the screen."""
    return platformdirs.user_state_path(APP_NAME) / "layout.json"
