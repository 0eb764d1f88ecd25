"""Ages on the command line: `90s`, `45m`, `24h`, `30d`, `2w`."""

from __future__ import annotations

import re

from longjudge.errors import UsageError
from longjudge.text import clean_line

_AGE = re.compile(r"(\d{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def age_in_seconds(option: str, text: str) -> float:
    """The seconds that an age stands for; `option` names the option in the error.

    Raises:
        UsageError: it is no age.
    """
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{option} {clean_line(text, 40)!r} is no age; use a whole number and a unit, as in"
            " 45m, 24h, 30d or 2w"
        )
    return float(int(match[1]) * _SECONDS[match[2]])
