"""Sequences decoded by dynamic programming: one step of a recurrence for all its states."""
