"""Graphs and trees as arrays: pulls along edges, walks to parents, descents."""
