"""Two judgments of a session side by side."""
