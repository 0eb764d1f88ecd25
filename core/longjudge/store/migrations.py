"""The store's schema, one numbered step after the other; a step that has shipped never changes."""

from __future__ import annotations

# The columns of `verdicts` as its first three steps made them.
_VERDICT_NAMES = (
    "key, verdict, raw_reply, disagrees, model, endpoint, rubric, rubric_version, input_tokens,"
    " output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, created, chunk_digest,"
    " parameters, prompt, rendering, redactor"
)
_OLD_NAMES = ", ".join(f"OLD.{name.strip()}" for name in _VERDICT_NAMES.split(","))
_EARLIER_COLUMNS = ", ".join(
    f"{name.strip()}{'' if name.strip() == 'cost_usd' else ' NOT NULL'}"
    for name in _VERDICT_NAMES.split(",")
)

_BATCH_COLUMNS = """
            id TEXT PRIMARY KEY,
            provider_id TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            profile TEXT NOT NULL,
            model TEXT NOT NULL,
            state TEXT NOT NULL,
            cancel TEXT NOT NULL,
            cancel_sent INTEGER NOT NULL,
            count INTEGER NOT NULL,
            created REAL NOT NULL,
            submitted REAL NOT NULL,
            ended REAL NOT NULL,
            deadline REAL NOT NULL,
            owner TEXT NOT NULL,
            problem TEXT NOT NULL,
            rubric TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            rubric_toml TEXT NOT NULL,
            parameters TEXT NOT NULL,
            prompt TEXT NOT NULL,
            rendering TEXT NOT NULL,
            redactor TEXT NOT NULL,
            price TEXT NOT NULL
"""
_ITEM_COLUMNS = """
            batch TEXT NOT NULL,
            key TEXT NOT NULL,
            judgment TEXT NOT NULL,
            part INTEGER NOT NULL,
            chunk_digest TEXT NOT NULL,
            disputed INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            problem TEXT NOT NULL,
            reply TEXT NOT NULL,
            usage TEXT NOT NULL,
            cost_usd REAL,
            counted INTEGER NOT NULL DEFAULT 0
"""
_COST_COLUMNS = """
            judgment TEXT NOT NULL,
            batch TEXT NOT NULL,
            key TEXT NOT NULL DEFAULT '',
            answers INTEGER NOT NULL,
            unpriced INTEGER NOT NULL,
            cost_usd REAL NOT NULL,
            last REAL NOT NULL
"""
# Not of one that is recorded already: its result counts what it was answered, be it kept late.
_NOTE_COST = """
            INSERT INTO unrecorded_costs
                (judgment, batch, key, answers, unpriced, cost_usd, last)
            SELECT NEW.asked_by, '', '', 1, NEW.cost_usd IS NULL, coalesce(NEW.cost_usd, 0.0),
                NEW.created
            WHERE NOT EXISTS (SELECT 1 FROM judgments WHERE id = NEW.asked_by)
            ON CONFLICT (judgment, batch, key) DO UPDATE SET
                answers = answers + 1,
                unpriced = unpriced + excluded.unpriced,
                cost_usd = cost_usd + excluded.cost_usd,
                last = max(last, excluded.last);
"""
_COSTS = "NEW.asked_by != '' AND NEW.cost_usd IS NOT 0.0"

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
    (
        # Who holds leases: one row per judgment that is asking. `beat` is the wall clock, for
        # other machines; `beat_monotonic` stands still while the machine sleeps.
        """
        CREATE TABLE owners (
            id TEXT PRIMARY KEY,
            host TEXT NOT NULL,
            boot TEXT NOT NULL,
            pid INTEGER NOT NULL,
            started TEXT NOT NULL,
            since REAL NOT NULL,
            beat REAL NOT NULL,
            beat_monotonic REAL NOT NULL,
            doing TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE leases (
            key TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            taken REAL NOT NULL,
            detail TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        "CREATE INDEX leases_by_owner ON leases (owner)",
        # Answers that a newer one about the same question has replaced.
        f"""
        CREATE TABLE earlier_verdicts (
            {_EARLIER_COLUMNS},
            replaced REAL NOT NULL
        )
        """,
        "CREATE INDEX earlier_by_key ON earlier_verdicts (key, created)",
        # In the transaction of the verdict itself, so that neither can be without the other.
        f"""
        CREATE TRIGGER verdict_replaced BEFORE UPDATE ON verdicts BEGIN
            INSERT INTO earlier_verdicts ({_VERDICT_NAMES}, replaced)
            VALUES ({_OLD_NAMES}, (julianday('now') - 2440587.5) * 86400.0);
        END
        """,
        """
        CREATE TRIGGER verdict_kept AFTER INSERT ON verdicts BEGIN
            DELETE FROM leases WHERE key = NEW.key;
        END
        """,
        """
        CREATE TRIGGER verdict_renewed AFTER UPDATE ON verdicts BEGIN
            DELETE FROM leases WHERE key = NEW.key;
        END
        """,
    ),
    (
        # What old judgments were judged by: one text for each name and version.
        """
        CREATE TABLE rubric_versions (
            version TEXT NOT NULL,
            name TEXT NOT NULL,
            label TEXT NOT NULL,
            toml TEXT NOT NULL,
            first_used REAL NOT NULL,
            last_used REAL NOT NULL,
            PRIMARY KEY (version, name)
        ) WITHOUT ROWID
        """,
        # How many sessions a version has judged is known without a look at any result.
        """
        CREATE INDEX judgments_by_rubric
            ON judgments (rubric_version, rubric, real_path, session_id, created)
        """,
    ),
    (
        # What was sent as a batch: one row before it is sent, and one for each of its questions.
        # `cancel` says why the provider is to end it; `outcome` is empty while nothing came of it.
        f"""
        CREATE TABLE batches (
            {_BATCH_COLUMNS}
        ) WITHOUT ROWID
        """,
        f"""
        CREATE TABLE batch_items (
            {_ITEM_COLUMNS},
            PRIMARY KEY (batch, key)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX batches_by_owner ON batches (owner)",
        # Who asks for a key looks at what is on its way alone.
        "CREATE INDEX batch_items_on_the_way ON batch_items (key) WHERE outcome = ''",
        "CREATE INDEX batch_items_by_judgment ON batch_items (judgment)",
        # What was paid for and is in no judgment: by the judgment that asked, and the batch that
        # it was in, with the question: both empty for live answers, noted with their verdicts.
        f"""
        CREATE TABLE unrecorded_costs (
            {_COST_COLUMNS},
            PRIMARY KEY (judgment, batch, key)
        ) WITHOUT ROWID
        """,
        "ALTER TABLE verdicts ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''",
        f"""
        CREATE TRIGGER cost_noted AFTER INSERT ON verdicts WHEN {_COSTS} BEGIN
            {_NOTE_COST}
        END
        """,
        f"""
        CREATE TRIGGER cost_noted_again AFTER UPDATE ON verdicts WHEN {_COSTS} BEGIN
            {_NOTE_COST}
        END
        """,
    ),
)
"""Each entry is what takes the schema from version `n` to `n + 1` (`PRAGMA user_version`)."""

SCHEMA_VERSION = len(MIGRATIONS)

_WITHOUT_BATCHES = (
    f"CREATE TEMP TABLE batches ({_BATCH_COLUMNS})",
    f"CREATE TEMP TABLE batch_items ({_ITEM_COLUMNS})",
    f"CREATE TEMP TABLE unrecorded_costs ({_COST_COLUMNS})",
)

_WITHOUT_VERSIONS = (
    """
    CREATE TEMP TABLE rubric_versions (
        version TEXT, name TEXT, label TEXT, toml TEXT, first_used REAL, last_used REAL
    )
    """,
    *_WITHOUT_BATCHES,
)

_WITHOUT_LEASES = (
    """
    CREATE TEMP TABLE owners (
        id TEXT, host TEXT, boot TEXT, pid INTEGER, started TEXT, since REAL, beat REAL,
        beat_monotonic REAL, doing TEXT
    )
    """,
    "CREATE TEMP TABLE leases (key TEXT, owner TEXT, taken REAL, detail TEXT)",
    f"CREATE TEMP TABLE earlier_verdicts ({_VERDICT_NAMES}, replaced REAL)",
    *_WITHOUT_VERSIONS,
)

_WITHOUT_REPLIES = (
    "CREATE TEMP TABLE gap_replies (judgment TEXT, part INTEGER, problem TEXT, reply TEXT)",
    """
    CREATE TEMP TABLE token_factors (
        model TEXT, format TEXT, factor REAL, deviation REAL, answers INTEGER, changed REAL
    )
    """,
    *_WITHOUT_LEASES,
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
    _WITHOUT_LEASES,
    _WITHOUT_VERSIONS,
    _WITHOUT_BATCHES,
)
"""What makes a store of version `n` read like one of today, without a change to its file."""
