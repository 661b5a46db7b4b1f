"""Sums of training that many threads share: gradients of tables, statistics, counts, codebooks."""
