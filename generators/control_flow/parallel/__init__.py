"""Sorting, merging, selecting and dynamic programming, as the threads of a GPU share them."""
