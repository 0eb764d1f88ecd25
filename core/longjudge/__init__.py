"""Judge long agent sessions chunk by chunk: every verdict kept, every gap counted."""

from __future__ import annotations

from longjudge.api import judge_session
from longjudge.errors import (
    CredentialError,
    LongjudgeError,
    NotASessionError,
    RubricError,
    SessionError,
    StoreError,
    UsageError,
)
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
