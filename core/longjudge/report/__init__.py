"""A recorded judgment as people read it: what it holds, its gaps, and a report of it."""
