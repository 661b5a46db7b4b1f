"""Device functions that a text may hold word for word, and the host run has its own of."""
