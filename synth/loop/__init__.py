"""Rows as tasks, verdicts as rewards, and a model in the loop."""
