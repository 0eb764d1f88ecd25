"""Two judgments of one session beside one another: what each says about the same events."""
