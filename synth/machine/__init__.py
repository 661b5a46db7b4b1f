"""Texts of rows down to machine code: the configuration `lowered`."""
