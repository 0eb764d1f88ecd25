"""Why a file is no session: what it holds, the format it is nearest to, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from longjudge.errors import NotASessionError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Record = Mapping[str, object]

_KEYS_SHOWN = 8
_TAR_MARK_AT = 257

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"SQLite format 3\x00", "an SQLite database; export the session from it first"),
    (b"version https://git-lfs", "a Git LFS pointer, the content is not here; run git lfs pull"),
    (b"\x89PNG", "a PNG image, no session"),
    (b"\xff\xd8\xff", "a JPEG image, no session"),
    (b"GIF8", "a GIF image, no session"),
    (b"RIFF", "a picture, sound or film, no session"),
    (b"OggS", "a sound or film, no session"),
    (b"ID3", "a sound, no session"),
    (b"%PDF", "a PDF document, no session"),
    (b"PAR1", "a Parquet file; export its rows as JSONL first"),
    (b"ARROW1", "an Arrow file; export its rows as JSONL first"),
    (b"\x89HDF", "an HDF5 file; export its rows as JSONL first"),
    (b"\x93NUMPY", "a NumPy array, no session"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
    (b"\x7fELF", "a program, no session"),
    (b"MZ\x90", "a program, no session"),
    (b"\xca\xfe\xba\xbe", "a program, no session"),
    (b"\xcf\xfa\xed\xfe", "a program, no session"),
    (b"\x00asm", "a program, no session"),
    (b"#!", "a script, no session; name the file that the agent wrote"),
)
_PAGES = (b"<!doctype", b"<html", b"<?xml", b"<svg", b"<head", b"<body")


class _Other(NamedTuple):
    """JSON that is known and no session: keys that all have, and those of which each has two."""

    words: str
    keys: tuple[str, ...]
    some: tuple[str, ...] = ()


_OTHERS: tuple[_Other, ...] = (
    _Other(
        "an index of the prompts that were typed, no session; the sessions themselves are in"
        " ~/.claude/projects",
        ("display", "project"),
    ),
    _Other(
        "an index of the prompts that were typed, no session; the sessions themselves are in"
        " ~/.codex/sessions",
        ("session_id", "ts", "text"),
    ),
    _Other(
        "a note about a subagent's file, no session; name the .jsonl file beside it, or the"
        " session that started it",
        ("agentType", "description"),
    ),
    _Other(
        "a note about a subagent's file, no session; name the .jsonl file beside it, or the"
        " session that started it",
        ("agentType", "worktreePath"),
    ),
    _Other("a lock file of a package manager, no session", ("lockfileVersion",)),
    _Other(
        "the description of a package, no session",
        ("name", "version"),
        (
            *("scripts", "dependencies", "devDependencies", "main", "license", "module", "bin"),
            *("exports", "private", "engines", "repository", "author"),
        ),
    ),
    _Other(
        "a settings file, no session",
        (),
        (
            *("permissions", "hooks", "mcpServers", "env", "enabledPlugins", "statusLine"),
            *(
                "includeCoAuthoredBy",
                "alwaysThinkingEnabled",
                "apiKeyHelper",
                "extraKnownMarketplaces",
            ),
            *("theme", "autoUpdates", "numStartups", "oauthAccount", "editorMode", "outputStyle"),
        ),
    ),
    _Other("a settings file, no session", ("mcpServers",)),
    _Other("a settings file, no session", ("compilerOptions",)),
    _Other("a JSON schema, no session", ("$schema", "properties")),
    _Other("a Jupyter notebook, no session", ("cells", "nbformat")),
    _Other("a description of an API, no session", ("openapi", "paths")),
    _Other(
        "a recording of a terminal (asciinema), no session; name the file that the agent wrote",
        ("version", "width", "height"),
    ),
    _Other(
        "a recording of a terminal (asciinema), no session; name the file that the agent wrote",
        ("version", "term"),
    ),
    _Other("an event of GitHub, no session", ("repository", "sender")),
    _Other("an event of GitHub, no session", ("actor", "repo", "payload")),
    _Other("an object of GitHub, no session", ("node_id", "html_url")),
    _Other(
        "statistics about sessions, no session",
        (),
        (
            *("dailyActivity", "dailyModelTokens", "modelUsage", "totalSessions", "totalMessages"),
            *("totalTokens", "totalCost", "hourCounts", "longestSession", "lastComputedDate"),
            *("total_sessions", "total_messages", "total_tokens", "total_cost", "total_events"),
        ),
    ),
)


class _Sign(NamedTuple):
    """A format, and the keys that its records or its document always have."""

    format: str
    keys: tuple[str, ...]


_SIGNS: tuple[_Sign, ...] = (
    _Sign("a Claude Code transcript", ("type", "message", "uuid", "sessionId")),
    _Sign("a Codex rollout", ("timestamp", "type", "payload")),
    _Sign("a Gemini CLI session", ("sessionId", "projectHash", "messages")),
    _Sign("an OpenCode export", ("info", "messages")),
    _Sign("a Copilot CLI session", ("id", "type", "data", "parentId")),
    _Sign("an ATIF trajectory", ("schema_version", "agent", "steps")),
    _Sign("a SWE-agent trajectory", ("trajectory", "history", "info")),
    _Sign("an OpenHands trajectory", ("id", "source", "action")),
    _Sign("an Inspect log", ("version", "eval", "plan", "samples")),
    _Sign("tau-bench runs", ("task_id", "traj", "reward")),
    _Sign("OpenTelemetry spans", ("trace_id", "span_id", "attributes")),
    _Sign("OpenTelemetry spans", ("traceId", "spanId", "attributes")),
    _Sign("a Langfuse trace", ("trace", "observations")),
    _Sign("LangSmith runs", ("run_type", "inputs", "outputs", "dotted_order")),
    _Sign("a Failproof AI session", ("schema_version", "session_id", "events")),
    _Sign("a Goose session", ("working_dir", "description", "message_count")),
    _Sign("a ShareGPT conversation", ("conversations",)),
    _Sign("a conversation", ("messages",)),
    _Sign("a list of messages", ("role", "content")),
    _Sign("a list of messages", ("role", "tool_calls")),
)
_GENERIC = _Sign("the generic event list", ("kind", "text"))
_MAPPING = (
    'write each as {"kind": "user_message", "text": "..."} or {"kind": "tool_call", "tool": "...",'
    ' "input": {...}} on a line'
)
LISTS_OF_EVENTS = (
    "lists of events, one on each line; a file is read with one such list, or with an event on each"
    " line: put each list into a file of its own (split -l 1 FILE)"
)
_WAY_OUT = "; name the JSON or JSONL file that the agent wrote"
_NO_SESSION = ", no session"


def refuse_by_first_bytes(start: bytes) -> None:
    """Refuse what the first bytes already give away.

    Raises:
        NotASessionError: the reason, without the file's name.
    """
    if not start:
        raise NotASessionError("the file is empty; no session was written to it")
    for magic, reason in _MAGIC:
        if start.startswith(magic):
            raise NotASessionError(f"this is {with_way_out(reason)}")
    if start[4:8] == b"ftyp":
        raise NotASessionError(f"this is {with_way_out('a film or picture, no session')}")
    if start[_TAR_MARK_AT : _TAR_MARK_AT + 5] == b"ustar":
        raise NotASessionError("this is a tar archive; unpack it and name the folder")
    words = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if words.startswith(_PAGES):
        raise NotASessionError(
            "this is an HTML or XML page, perhaps a rendered session; name the JSON it was made"
            " from instead"
        )


def known_other(head: Sequence[Record]) -> str | None:
    """What the records are known to be, where that is no session."""
    first = next(iter(head), None)
    if not first:
        return None
    for other in _OTHERS:
        if all(key in first for key in other.keys) and (
            not other.some or sum(key in first for key in other.some) >= 2
        ):
            return with_way_out(other.words)
    return None


def with_way_out(words: str) -> str:
    """What something is, and what to do where the words do not say it themselves."""
    return words + _WAY_OUT if words.endswith(_NO_SESSION) else words


def no_session(head: Sequence[Record], around: Record | None, count: int | None) -> str:
    """What was seen in a file of no known format, what it is nearest to, and what to do."""
    if words := known_other(head):
        return f"this is {words}"
    keys = set[str]().union(*head[:5], around or ())
    sign = _nearest(keys)
    missing = [key for key in sign.keys if key not in keys]
    lacks = " and ".join(f"`{key}`" for key in missing) or (
        "something to read in " + " and ".join(f"`{key}`" for key in sign.keys)
    )
    return (
        f"no session: {_seen(head, count)}; the nearest format is {sign.format}, which needs"
        f" {lacks}; to have them judged, {_MAPPING}"
    )


def _nearest(keys: set[str]) -> _Sign:
    """The format of which the largest share of keys is there, and more than one in three."""
    shares = [(sum(key in keys for key in sign.keys) / len(sign.keys), sign) for sign in _SIGNS]
    share, sign = max(shares, key=lambda each: each[0])
    return sign if share > 1 / 3 else _GENERIC


def _seen(head: Sequence[Record], count: int | None) -> str:
    """How many objects, and the keys of the first."""
    if not head:
        return "no JSON objects in it"
    names = list(head[0])
    keys = clean_line(", ".join(names[:_KEYS_SHOWN]), 160) or "none"
    more = ", …" if len(names) > _KEYS_SHOWN else ""
    number = max(len(head), count or 0)
    if number == 1:
        return f"one JSON object without a kind of event (keys: {keys}{more})"
    objects = f"{number} JSON objects" if count is not None else f"{number} JSON objects or more"
    return f"{objects} without a kind of event (keys of the first: {keys}{more})"
