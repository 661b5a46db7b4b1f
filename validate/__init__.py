"""Whether a row is true: its form, its inputs, its reference, and a run of its CUDA text."""
