"""The SQLite file that keeps verdicts and judgments."""
