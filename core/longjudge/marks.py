"""What a person says about a finding: right or wrong.

A mark belongs to the digest of the text that the finding is about, and to the criterion. It
survives other chunk sizes, other judges and another run.
"""

from __future__ import annotations

from enum import StrEnum


class Mark(StrEnum):
    """A person's word on a finding."""

    RIGHT = "right"
    WRONG = "wrong"
