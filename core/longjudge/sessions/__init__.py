"""Exported session files become a Session: arrays to plan with, bodies on demand."""

from __future__ import annotations

from longjudge.sessions.find import SessionFile, find_sessions
from longjudge.sessions.loader import load_session, session_from_events
from longjudge.sessions.model import (
    Diagnostic,
    Event,
    EventIndex,
    EventKind,
    Session,
    Severity,
    Source,
    Thread,
)

__all__ = [
    "Diagnostic",
    "Event",
    "EventIndex",
    "EventKind",
    "Session",
    "SessionFile",
    "Severity",
    "Source",
    "Thread",
    "find_sessions",
    "load_session",
    "session_from_events",
]
