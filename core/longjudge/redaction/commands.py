"""Finds passwords that are given to commands: by the command, and where its password stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.redaction.runs import Secret
from longjudge.redaction.values import PASSWORD, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable

_I = re.IGNORECASE | re.ASCII
_FAR = 200

_USER = re.compile(
    r"""-u(?:ser)?[ =]{0,2}\\{0,3}["']?[^\s:'"$\\]{1,64}:(?P<secret>[^\s'"]{3,200}+)""", re.ASCII
)
_FETCHERS = re.compile(r"(?:\b|(?<=\\n))(?:curl|wget|http|https|xh)\b")


def user(text: str, at: int) -> Secret | int | None:
    """`curl -u user:password`."""
    found = _USER.match(text, at + 1)
    if found is None or not _FETCHERS.search(text, max(0, at - 400), at):
        return None
    return _password(text, *found.span("secret"))


def _password(text: str, first: int, last: int) -> Secret | None:
    value = text[first:last].rstrip("\\")
    if is_secret(value.ljust(4, "\0"), PASSWORD, quoted=True, setting=True):
        return Secret(first, first + len(value), PASSWORD)
    return None


_WORD = (
    r"""\\{0,3}(?:"(?P<double>[^"\\\n]{3,100})|'(?P<single>[^'\\\n]{3,100})"""
    r"""|(?P<bare>[^\s"'\\|;]{3,100}+))"""
)
# An argument, which is skipped: it may not end the command.
_ARGUMENTS = r"(?:[ \t]{1,4}(?!-p)[^\s;|]{1,80}){0,8}[ \t]{1,4}"


def _given(expression: str) -> Callable[[str, int], Secret | int | None]:
    compiled = re.compile(expression + _WORD, _I)

    def rule(text: str, at: int) -> Secret | int | None:
        return _of(text, compiled.match(text, at))

    return rule


def _of(text: str, found: re.Match[str] | None) -> Secret | None:
    if found is None:
        return None
    first, last = next(span for span in map(found.span, _QUOTINGS) if span[0] >= 0)
    return _password(text, first, last)


_QUOTINGS = ("double", "single", "bare")
_SAID = r"""(?:echo|printf)[ \t]{1,4}(?:-[ne]{1,3}[ \t]{1,4})?(?:["']?%s(?:\\n)?["']?[ \t]{1,4})?"""
_SAYS = re.compile(_SAID + _WORD + r"""["']?[ \t]{0,4}\|[^|\n]{0,160}\Z""", _I)
_SAYS_ACCOUNT = re.compile(
    _SAID + r"""["']?[\w.-]{1,40}:(?P<secret>[^\s"'|]{3,100})["']?[ \t]{0,4}\|[^|\n]{0,60}\Z""", _I
)


def said(text: str, at: int) -> Secret | int | None:
    """`echo password | command`, for a command that reads one."""
    low = max(text.rfind("\n", max(0, at - _FAR), at) + 1, at - _FAR, 0)
    return _of(text, _SAYS.search(text, low, at))


def account(text: str, at: int) -> Secret | int | None:
    """`echo user:password | chpasswd`."""
    found = _SAYS_ACCOUNT.search(text, max(0, at - _FAR), at)
    return None if found is None else _password(text, *found.span("secret"))


_ORACLE = re.compile(r"jdbc:oracle:thin:[\w.$-]{1,40}/(?P<secret>[^@\s\"']{3,60})@", _I)


def oracle(text: str, at: int) -> Secret | int | None:
    """`jdbc:oracle:thin:user/password@host`."""
    found = _ORACLE.match(text, at)
    return None if found is None else _password(text, *found.span("secret"))


_ARGUMENTS_W = r"(?:[ \t]{1,4}(?!-w)[^\s;|]{1,80}){0,8}[ \t]{1,4}"
_MONGO = rf"mongo(?:sh|dump|restore|export|import)?{_ARGUMENTS}-p[ \t=]{{1,4}}"
_LDAP = rf"ldap(?:search|add|modify|delete|whoami|passwd){_ARGUMENTS_W}-w[ \t]{{1,4}}"
_HTPASSWD = r"htpasswd[ \t]{1,4}-\w{0,4}b\w{0,4}[ \t]{1,4}\S{1,80}[ \t]{1,4}\S{1,40}[ \t]{1,4}"

COMMANDS: tuple[tuple[bytes, Callable[[str, int], Secret | int | None]], ...] = (
    (b" -u", user),
    (b"--user", user),
    (b"mongo", _given(_MONGO)),
    (b"ldap", _given(_LDAP)),
    (b"htpasswd", _given(_HTPASSWD)),
    (b"sshpass", _given(r"sshpass[ \t]{1,4}-p[ \t]{0,4}")),
    (b"mysql", _given(rf"(?:mysql(?:dump|admin|import|show)?)(?:\.exe)?{_ARGUMENTS}-p(?=[^\s=])")),
    (b"mariadb", _given(rf"mariadb(?:-dump|-admin)?{_ARGUMENTS}-p(?=[^\s=])")),
    (b" login", _given(rf" login{_ARGUMENTS}-p[ \t=]{{1,4}}")),
    (
        b"redis-cli",
        _given(r"redis-cli(?:[ \t]{1,4}(?!-a)[^\s;|]{1,80}){0,8}[ \t]{1,4}-a[ \t]{1,4}"),
    ),
    (b"-pass", _given(r"-pass(?:in|out)?[ \t]{1,4}pass:")),
    (
        b"convertto-securestring",
        _given(r"convertto-securestring[ \t]{1,4}(?:-string[ \t]{1,4})?(?=[\"'])"),
    ),
    (
        b"identified",
        _given(
            r"identified(?:\s{1,4}with\s{1,4}\S{1,60})?\s{1,4}by(?:\s{1,4}password)?\s{1,4}(?=[\"'\\])"
        ),
    ),
    (b"jdbc:oracle:thin:", oracle),
    (b"chpasswd", account),
    (b"--password-stdin", said),
    (b"sudo -s", said),
)
"""A word in lower case, and what looks at what stands around it."""
