"""Values of many threads and several variants of inputs at once."""
