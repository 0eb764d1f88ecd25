"""Judge long agent sessions chunk by chunk: every verdict kept, every gap counted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from longjudge.errors import (
    CredentialError,
    LongjudgeError,
    NotASessionError,
    RubricError,
    SessionError,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from longjudge.api import judge_session
    from longjudge.result import Result
    from longjudge.rubric import Rubric

__all__ = [
    "CredentialError",
    "LongjudgeError",
    "NotASessionError",
    "Result",
    "Rubric",
    "RubricError",
    "SessionError",
    "StoreError",
    "UsageError",
    "judge_session",
]

# Loaded when first used: a command that judges nothing starts without the engine.
_LATER = {
    "Result": "longjudge.result",
    "Rubric": "longjudge.rubric",
    "judge_session": "longjudge.api",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
