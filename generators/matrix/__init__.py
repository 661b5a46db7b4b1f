"""Matrices: algebra of small ones, and rows, products and windows of two-dimensional arrays."""

ABOUT = "small-matrix algebra, matrix products, row reductions, windows"
