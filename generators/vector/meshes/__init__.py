"""Meshes and point sets: neighbours, distances, smoothing, culling, views of two cameras."""
