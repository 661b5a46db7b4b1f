"""Sparse matrices and graphs: rows by offsets, blocks, sampled products, aggregation."""
