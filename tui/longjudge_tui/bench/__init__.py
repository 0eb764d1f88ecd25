"""What the workbench holds and does, without a widget."""
