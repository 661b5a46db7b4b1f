"""Ops over the rows of a matrix: what is summed over a row, and what becomes of its elements."""
