"""The failure lab."""
