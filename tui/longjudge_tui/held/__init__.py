"""What is held outside, on both screens."""
