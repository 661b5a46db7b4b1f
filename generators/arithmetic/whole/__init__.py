"""Whole numbers: divided with every way of rounding, taken apart, hashed, checked; the calendar."""
