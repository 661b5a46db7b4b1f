"""Matrices that lie in arrays."""
