"""The curve: chunk size against the number of chunks and the price."""
