"""What answers questions about chunks: models, and the offline rules."""
