"""GPU runs of a dataset: neither Warp nor `datasets` is imported."""
