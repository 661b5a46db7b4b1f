"""Signals of radar and of arrays of sensors: complex samples."""
