"""Device functions that a kernel may need."""
