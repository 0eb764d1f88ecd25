"""Questions in a provider's queue: sent, followed, found again, cancelled, and brought home."""
