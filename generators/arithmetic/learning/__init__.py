"""Arithmetic of training and serving: optimisers, narrow numbers, caches, batches."""
