"""Every error that longjudge raises on purpose, as one tree.

A message names the file (and line), the fault and the way out, on one line: the command line
prints it as it stands, and no traceback reaches a user. What happens to a single chunk is no
error but data: a gap with its reason.
"""

from __future__ import annotations


class LongjudgeError(Exception):
    """The root of the tree; `str(error)` is one line fit for a person."""


class UsageError(LongjudgeError):
    """An option, argument or setting is wrong, or is not built yet."""


class ConfigurationError(UsageError):
    """The configuration file cannot be read or has a fault."""


class SessionError(LongjudgeError):
    """A session file cannot be read, or does not hold what it held when it was opened."""


class NotASessionError(SessionError):
    """The file was read and holds no session."""


class CopiedSessionError(NotASessionError):
    """Everything in a file stands in another one that was read before; nothing of it is lost."""


class SeveralSessionsError(SessionError):
    """The file holds several sessions, and none of them was named."""


class LoadCancelledError(SessionError):
    """Whoever asked for the session stopped waiting for it."""


class RubricError(LongjudgeError):
    """A rubric is malformed, unknown, or not answerable by the chosen judge."""


class CredentialError(LongjudgeError):
    """A chunk has to be asked and no usable credential for the judge was found."""


class StoreError(LongjudgeError):
    """The store cannot be used at all: newer than this program, or no database."""
