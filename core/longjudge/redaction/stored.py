"""Finds private keys and the hashes of passwords, as they stand in files."""

from __future__ import annotations

import re

from longjudge.redaction.runs import Secret

PRIVATE_KEY, PASSWORD_HASH = "private-key", "password-hash"

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----", re.ASCII)
_KEY_CHARS = 40_000
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=]{16}")
# What may stand between the lines of a key: line ends, also written out; what a diff, a quotation
# or a listing with numbers puts before a line; string quotes of code.
_BETWEEN = r"""(?:\\{1,3}[nr]|[\s"'`,>|+-]|\b\d{1,5}[→|:\t])"""
_BODY = re.compile(
    rf"(?:{_BETWEEN}{{0,24}}+(?:[A-Za-z0-9+/=]{{16,}}+|(?:Proc-Type|DEK-Info|Version|Comment|Charset)"
    rf":[^\n\\]{{0,200}}+))*+(?:{_BETWEEN}{{1,24}}+=?[A-Za-z0-9+/=]{{2,}}+(?=\s*\Z|[\"'`\\….]))?+",
    re.ASCII,
)


def private_key(text: str, at: int) -> Secret | int | None:
    """A whole block, or what there is of one that was cut off."""
    begin = _BEGIN.match(text, at)
    if begin is None:
        return None
    close = f"-----END {begin[1]}-----"
    body = _BODY.match(text, begin.end())
    last = body.end() if body is not None else begin.end()
    end = text.find(close, begin.end(), begin.end() + _KEY_CHARS)
    is_whole = end >= 0 and text.find("-----BEGIN ", begin.end(), end) < 0
    if is_whole and _KEY_TEXT.search(text, begin.end(), end):
        return Secret(at, end + len(close), PRIVATE_KEY)
    if last - begin.end() < 16:
        return None
    return Secret(at, last, PRIVATE_KEY)


_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_KEY_LINE = re.compile(r"[ \t\"'>|+:\d→-]*=?[A-Za-z0-9+/]{16,80}={0,2}[\s\"',+]*", re.ASCII)
_LINE_END = re.compile(r"(?:\\{1,7}[rn]|\r?\n)+")
_LAST_WORD = re.compile(r"[A-Za-z0-9+/]{40,80}\Z", re.ASCII)
_BLOCK_CHARS = 16_000


def private_key_end(text: str, at: int) -> Secret | int | None:
    """The lines before the end of a block whose begin is not there."""
    end = _END.match(text, at)
    if end is None:
        return None
    low = max(0, at - _BLOCK_CHARS)
    low = max(low, text.rfind("-----", low, at) + 5)
    first = line_end = None
    for line in reversed(list(_LINE_END.finditer(text, low, at))):
        if line_end is not None and _KEY_LINE.fullmatch(text, line.end(), line_end) is None:
            break
        if line_end is not None:
            first = line.end()
        line_end = line.start()
    if line_end is not None and (
        word := _LAST_WORD.search(text, max(low, line_end - 80), line_end)
    ):
        # Something stands before the first line that is left.
        first = word.start()
    return None if first is None else Secret(first, end.end(), PRIVATE_KEY)


_PUTTY = re.compile(
    r"private-lines: \d{1,3}(?:\s|\\{1,7}[nr]){1,4}"
    r"(?P<secret>[A-Za-z0-9+/=]{4,64}+(?:(?:\s|\\{1,7}[nr]){1,4}[A-Za-z0-9+/=]{4,64}+(?![:-]))*)",
    re.IGNORECASE,
)


def putty_key(text: str, at: int) -> Secret | int | None:
    """The lines of a key in PuTTY's format."""
    found = _PUTTY.match(text, at)
    return None if found is None else Secret(*found.span("secret"), PRIVATE_KEY)


HASHES = re.compile(rb"\$(?:[156y]|2[aby]|apr1|argon2)")
"""What every hash begins with; searched for by itself, since it is many words."""

_HASH = re.compile(
    r"\$(?:(?:1|5|6|y|apr1)\$(?:rounds=\d{1,9}\$)?[\w./]{1,24}\$[\w./]{20,}+"
    r"|(?:y)\$[\w./]{1,8}\$[\w./]{1,90}\$[\w./]{20,}+|2[aby]\$\d\d\$[\w./]{53}"
    r"|argon2(?:id|i|d)\$[\w=,$+/-]{30,}+)",
    re.ASCII,
)


def password_hash(text: str, at: int) -> Secret | None:
    """What a file of accounts holds in place of a password."""
    found = _HASH.match(text, at)
    return None if found is None else Secret(*found.span(), PASSWORD_HASH)
