"""The workbench: one session, its plan, its judgment and the evidence, on one screen."""
