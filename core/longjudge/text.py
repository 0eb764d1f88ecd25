"""Cleaning of hostile text, for a terminal and for encoders.

Session text, model replies and file names may hold anything. `clean` makes text safe to show;
`without_surrogates` makes it safe to encode. Evidence offsets always refer to the text before
`clean`, which never changes the number of characters.
"""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")

# C0 controls but tab and newline, DEL, C1, bidirectional controls, zero-width characters, the
# separators that some terminals take for line ends, and the byte-order mark.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which no encoder takes, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def clean(text: str) -> str:
    """Return `text` with every character that could act on a terminal replaced, one for one.

    Tab and newline stay; C0 controls become their visible pictures (U+2400 block), everything
    else that is invisible or acts becomes U+FFFD. The length never changes, so an offset into
    the text is an offset into the cleaned text.
    """
    return _UNSAFE.sub(_stand_in, text)


def clean_line(text: str, limit: int = 300) -> str:
    """Return one cleaned line of at most `limit` characters, tabs and line ends made visible."""
    short = text[:limit]
    line = clean(short).replace("\n", "⏎").replace("\t", " ")
    return line if len(text) <= limit else line[: limit - 1] + "…"
