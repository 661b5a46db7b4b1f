"""Whole numbers: divided with every way of rounding, and taken apart."""
