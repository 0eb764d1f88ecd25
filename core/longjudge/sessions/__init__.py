"""Exported session files become a Session: arrays to plan with, bodies on demand."""

from __future__ import annotations

from longjudge.sessions.discover import discover_sessions
from longjudge.sessions.find import SessionFile, find_sessions
from longjudge.sessions.first_look import EventPlace, first_events, same_event
from longjudge.sessions.loader import (
    choose_session,
    load_session,
    load_sessions,
)
from longjudge.sessions.memory import session_from_events
from longjudge.sessions.model import (
    Diagnostic,
    Event,
    EventIndex,
    EventKind,
    Session,
    Severity,
    Thread,
)
from longjudge.sessions.source import Source

__all__ = [
    "Diagnostic",
    "Event",
    "EventIndex",
    "EventKind",
    "EventPlace",
    "Session",
    "SessionFile",
    "Severity",
    "Source",
    "Thread",
    "choose_session",
    "discover_sessions",
    "find_sessions",
    "first_events",
    "load_session",
    "load_sessions",
    "same_event",
    "session_from_events",
]
