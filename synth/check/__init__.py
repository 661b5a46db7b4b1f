"""A dataset, or answers to it, checked from stored texts alone."""
