"""Codes of data: runs, bytes of varying number, bitmaps, characters."""
