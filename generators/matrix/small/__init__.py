"""A small matrix for each thread."""
