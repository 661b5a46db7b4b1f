"""Schedules that are tried on a GPU: what measures them, what searches, and what is kept."""
