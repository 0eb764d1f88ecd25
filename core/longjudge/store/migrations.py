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
    (
        # What a verdict was about and what else its key is made of; empty where it was not noted.
        "ALTER TABLE verdicts ADD COLUMN chunk_digest TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE verdicts ADD COLUMN parameters TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE verdicts ADD COLUMN prompt TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE verdicts ADD COLUMN rendering TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE verdicts ADD COLUMN redactor TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX verdicts_by_chunk ON verdicts (chunk_digest)",
        # Counts, deletions and the look at all keys need no row then.
        "CREATE INDEX verdicts_by_origin ON verdicts (model, rubric, rubric_version, created)",
        "ALTER TABLE judgments ADD COLUMN real_path TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE judgments ADD COLUMN digests TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE judgments ADD COLUMN summary TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE judgments ADD COLUMN asked INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE judgments ADD COLUMN asked_seconds REAL NOT NULL DEFAULT 0",
        """
        UPDATE judgments SET
            real_path = known_real_path(path),
            summary = CASE WHEN json_valid(result) THEN json_remove(result, '$.parts') ELSE '' END
        """,
        "CREATE INDEX judgments_by_time ON judgments (created)",
        "CREATE INDEX judgments_by_session ON judgments (real_path, session_id, created)",
        "CREATE INDEX judgments_by_model ON judgments (model, created, asked, asked_seconds)",
        """
        CREATE TABLE marks (
            digest TEXT NOT NULL,
            criterion TEXT NOT NULL,
            mark TEXT NOT NULL,
            created REAL NOT NULL,
            PRIMARY KEY (digest, criterion)
        ) WITHOUT ROWID
        """,
    ),
    (
        # What a judge said about a chunk that has no verdict, for a person to read.
        """
        CREATE TABLE gap_replies (
            judgment TEXT NOT NULL,
            part INTEGER NOT NULL,
            problem TEXT NOT NULL,
            reply TEXT NOT NULL,
            PRIMARY KEY (judgment, part)
        ) WITHOUT ROWID
        """,
        # Input tokens as the provider counted them over those that were estimated, smoothed.
        """
        CREATE TABLE token_factors (
            model TEXT NOT NULL,
            format TEXT NOT NULL,
            factor REAL NOT NULL,
            deviation REAL NOT NULL,
            answers INTEGER NOT NULL,
            changed REAL NOT NULL,
            PRIMARY KEY (model, format)
        ) WITHOUT ROWID
        """,
    ),
)
"""Each entry is what takes the schema from version `n` to `n + 1` (`PRAGMA user_version`)."""

SCHEMA_VERSION = len(MIGRATIONS)

_WITHOUT_REPLIES = (
    "CREATE TEMP TABLE gap_replies (judgment TEXT, part INTEGER, problem TEXT, reply TEXT)",
    """
    CREATE TEMP TABLE token_factors (
        model TEXT, format TEXT, factor REAL, deviation REAL, answers INTEGER, changed REAL
    )
    """,
)

OLD_FOR_READERS: tuple[tuple[str, ...], ...] = (
    (),
    (
        """
        CREATE TEMP VIEW verdicts AS SELECT
            key, verdict, raw_reply, disagrees, model, endpoint, rubric, rubric_version,
            input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, created,
            '' AS chunk_digest, '' AS parameters, '' AS prompt, '' AS rendering, '' AS redactor
        FROM main.verdicts
        """,
        """
        CREATE TEMP VIEW judgments AS SELECT
            id, path, session_id, rubric, rubric_version, model, status, result, created,
            known_real_path(path) AS real_path, '[]' AS digests,
            CASE WHEN json_valid(result) THEN json_remove(result, '$.parts') ELSE '' END AS summary,
            0 AS asked, 0.0 AS asked_seconds
        FROM main.judgments
        """,
        "CREATE TEMP TABLE marks (digest TEXT, criterion TEXT, mark TEXT, created REAL)",
        *_WITHOUT_REPLIES,
    ),
    _WITHOUT_REPLIES,
)
"""What makes a store of version `n` read like one of today, without a change to its file."""
