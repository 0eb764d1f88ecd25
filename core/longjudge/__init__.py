"""Judge long agent sessions chunk by chunk: every verdict kept, every gap counted."""

from __future__ import annotations

from longjudge.errors import (
    CredentialError,
    LongjudgeError,
    NotASessionError,
    RubricError,
    SessionError,
    StoreError,
    UsageError,
)

__all__ = [
    "CredentialError",
    "LongjudgeError",
    "NotASessionError",
    "RubricError",
    "SessionError",
    "StoreError",
    "UsageError",
]
