"""One module per file format, each behind the same small protocol."""
