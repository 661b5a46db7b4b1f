"""Tracing: rays through lists, trees, fields, grids and volumes, and what is made of a hit."""
