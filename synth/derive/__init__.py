"""Datasets that are made from finished ones."""
