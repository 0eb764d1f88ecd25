"""The store's schema, one numbered step after the other; a step that has shipped never changes."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE verdicts (
            key TEXT PRIMARY KEY,
            verdict TEXT NOT NULL,
            raw_reply TEXT NOT NULL,
            disagrees INTEGER NOT NULL,
            model TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            rubric TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL,
            cache_write_tokens INTEGER NOT NULL,
            cost_usd REAL,
            created REAL NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE judgments (
            id TEXT PRIMARY KEY,
            path TEXT NOT NULL,
            session_id TEXT NOT NULL,
            rubric TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            model TEXT NOT NULL,
            status TEXT NOT NULL,
            result TEXT NOT NULL,
            created REAL NOT NULL
        ) WITHOUT ROWID
        """,
    ),
)
"""Each entry is what takes the schema from version `n` to `n + 1` (`PRAGMA user_version`)."""

SCHEMA_VERSION = len(MIGRATIONS)
