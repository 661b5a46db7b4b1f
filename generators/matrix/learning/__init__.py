"""The kernels of transformers: attention, norms, gates, positions."""
