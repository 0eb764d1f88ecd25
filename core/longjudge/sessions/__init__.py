"""Exported session files become a Session: arrays to plan with, bodies on demand."""
