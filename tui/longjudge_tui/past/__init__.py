"""The screen of past judgments."""
