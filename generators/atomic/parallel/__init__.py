"""Atomics of parallel algorithms: sorting, graphs, sketches, images, particles, statistics."""
