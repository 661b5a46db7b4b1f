"""A dataset as one HTML page."""
