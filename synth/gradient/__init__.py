"""Reverse mode on the program tree: the program of a kernel's backward kernel."""
